#include "apps/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <sstream>
#include <utility>

#include "apps/console.hpp"
#include "apps/memory_limit.hpp"
#include "apps/session.hpp"

namespace pursuit::app {
namespace {

Action chosen_action;  // by the command that was given

/// CLI11 keeps the words that a value may be in the description of its type: "TEXT:{a,b}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto begin = type.find('{'), end = type.find('}', begin);
  if (end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

/// Descriptions are broken into lines for the help.
std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

OptionWords words_of(const CLI::Option& option) {
  OptionWords words{
      {}, on_one_line(option.get_description()), option.get_items_expected_max() > 0, choices_of(option)};
  for (const auto& name : option.get_lnames()) words.names.push_back("--" + name);
  for (const auto& name : option.get_snames()) words.names.push_back("-" + name);
  return words;
}

void collect_words(const CLI::App& app, const std::string& path, std::vector<CommandWords>& all) {
  all.push_back({path, on_one_line(app.get_description()), {}});
  for (const CLI::Option* option : app.get_options()) all.back().options.push_back(words_of(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    collect_words(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), all);
}

/// How many letters have to be changed, added or left out.
std::size_t letters_apart(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// What somebody may have meant who wrote this.
std::string guess(const std::string& word, const std::vector<std::string>& known) {
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return letters_apart(word, a) < letters_apart(word, b);
  });
  const bool near = nearest != known.end() && 3 * letters_apart(word, *nearest) <= word.size();
  return near ? fmt::format("; did you mean {}?", *nearest) : ".";
}

/// The first word that means nothing, told with what may have been meant; empty where all do.
std::string strange_word(const CLI::App& program, int argc, const char* const* argv) {
  const CLI::App* command = &program;
  std::string name = program.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  const std::vector<std::string> extras = program.remaining(true);
  const auto* const first = std::find_if(argv + 1, argv + argc, [&](const char* word) {
    return std::find(extras.begin(), extras.end(), word) != extras.end();
  });
  if (first == argv + argc) return {};
  const std::string word = *first;
  std::vector<std::string> known;
  if (word.starts_with("-")) {
    for (const CLI::Option* option : command->get_options())
      for (const std::string& each : words_of(*option).names) known.push_back(each);
    return fmt::format("pursuit: {} has no option {}{} `{} --help` lists all", name, word, guess(word, known),
                       name);
  }
  for (const CLI::App* each : command->get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(each->get_name());
  if (known.empty())
    return fmt::format("pursuit: {}: '{}' is one argument too many. `{} --help` says which there are", name,
                       word, name);
  return fmt::format("pursuit: {} has no command {}{} `{} --help` lists all", name, word, guess(word, known),
                     name);
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return *this;
}

Option& Option::between(int lowest, int highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}

Option& Option::not_negative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

Option& Option::separated_by(char separator) {
  option_->delimiter(separator);
  return *this;
}

Option& Option::repeated() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::pairs() {
  option_->type_size(2)->allow_extra_args(false);
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Command Command::add_command(const std::string& name, const std::string& description) {
  return Command(*app_->add_subcommand(name, description));
}

void Command::require_one_command() {
  app_->require_subcommand(1);
}

void Command::footer(const std::string& text) {
  app_->footer(text);
}

template <class Value>
Option Command::add_option(const std::string& names, Value& value, const std::string& description) {
  return Option(*app_->add_option(names, value, description));
}

Option Command::add_flag(const std::string& names, bool& value, const std::string& description) {
  return Option(*app_->add_flag(names, value, description));
}

template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, double&, const std::string&);
template Option Command::add_option(const std::string&, int&, const std::string&);
template Option Command::add_option(const std::string&, std::int64_t&, const std::string&);
template Option Command::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<int>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::int64_t>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);

void Command::runs(const Action& action) {
  const auto limit = std::make_shared<std::string>();
  app_->add_option("--max-memory", *limit,
                   "Use at most so much memory, such as 500M or 8G; what needs more is refused");
  app_->callback([action, limit] {
    const std::uint64_t bytes = limit->empty() ? 0 : parse_memory_size("--max-memory", *limit);
    chosen_action = [action, bytes] {
      if (bytes > 0) watch_memory(bytes);
      return action();
    };
  });
}

std::vector<CommandWords> Command::words() const {
  std::vector<CommandWords> all;
  collect_words(*app_, "", all);
  return all;
}

CommandLine::CommandLine(const std::string& description, const std::string& name, const std::string& version)
    : app_(std::make_unique<CLI::App>(description, name)), top_(*app_) {
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
}

CommandLine::~CommandLine() = default;

Action CommandLine::parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const int status = app_->exit(error, out, err);
    const std::string strange = status == 0 ? "" : strange_word(*app_, argc, argv);
    const std::string why = strange.empty() ? "pursuit: " + err.str() : strange + "\n";
    return [status, said = out.str(), told = status == 0 ? err.str() : why] {
      write_to_stdout(said);
      write_to_stderr(told);
      return status == 0 ? success : bad_usage;
    };
  }
  return std::exchange(chosen_action, {});
}

}  // namespace pursuit::app
