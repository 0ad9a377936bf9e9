#pragma once
// Commands and their options, read by CLI11, of which the commands need not know.

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pursuit::app {

/// One option of a command.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option& required();
  Option& show_default();  // in the help: the value that its variable has by now
  Option& one_of(const std::vector<std::string>& words);
  Option& between(int lowest, int highest);
  Option& not_negative();
  Option& separated_by(char separator);
  Option& repeated();  // given again it is one more value
  Option& pairs();     // of values, one after the other, as often as it is given
  Option& excludes(const Option& other);

 private:
  CLI::Option* option_;
};

/// What is to be done; returns the exit status.
using Action = std::function<int()>;

/// What can be typed, for whoever helps with typing.
struct OptionWords {
  std::vector<std::string> names;  // "--rank", "-r"; none for what has its place
  std::string description;
  bool takes_value = false;
  std::vector<std::string> choices;  // of values, where they are few
};
struct CommandWords {
  std::string name, description;  // the name with those of the commands it belongs to: "generate ratings"
  std::vector<OptionWords> options;
};

/// A command, or a command of a command.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  Command add_command(const std::string& name, const std::string& description);
  void require_one_command();
  void footer(const std::string& text);

  /// Value: std::string, bool (a flag), numbers, and vectors or optionals of some; the variable outlives
  /// parsing.
  template <class Value>
  Option add_option(const std::string& names, Value& value, const std::string& description);
  Option add_flag(const std::string& names, bool& value, const std::string& description);

  /// What the command does where it was given; returns the exit status. Last, for it adds the options that
  /// all commands have.
  void runs(const Action& action);

  /// This command and all below it, itself first.
  std::vector<CommandWords> words() const;

 private:
  CLI::App* app_;
};

/// The program with all its commands.
class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& name, const std::string& version);
  ~CommandLine();

  Command& commands() { return top_; }

  /// What is to be done after all: the command that was given, or telling what CLI11 itself has to say, help
  /// or a mistake. Nothing is done yet. Once only: options keep what they were given.
  Action parse(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
  Command top_;
};

}  // namespace pursuit::app
