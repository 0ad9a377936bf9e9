// Scripts by which shells complete our commands and options: made from the commands themselves, so that they
// are always those of this program.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "apps/console.hpp"
#include "apps/session.hpp"

namespace pursuit::app {
namespace {

constexpr const char* kCompletionsExamples = R"(Examples:
  source <(pursuit completions bash)                                        in this shell
  pursuit completions bash > ~/.local/share/bash-completion/completions/pursuit
  pursuit completions zsh > ~/.zfunc/_pursuit                               with ~/.zfunc in fpath
  pursuit completions fish > ~/.config/fish/completions/pursuit.fish)";

/// What may follow a command: its own commands and options, and words that have their place.
std::vector<std::string> words_after(const CommandWords& command, const std::vector<CommandWords>& all) {
  std::vector<std::string> words;
  const std::string prefix = command.name.empty() ? "" : command.name + " ";
  for (const auto& other : all)
    if (other.name.size() > prefix.size() && other.name.starts_with(prefix) &&
        other.name.find(' ', prefix.size()) == std::string::npos)
      words.push_back(other.name.substr(prefix.size()));
  for (const auto& option : command.options) {
    const auto& typed = option.names.empty() ? option.choices : option.names;
    words.insert(words.end(), typed.begin(), typed.end());
  }
  return words;
}

std::string for_bash(const std::vector<CommandWords>& all) {
  std::string paths, choices, words;
  for (const auto& command : all) {
    if (!command.name.empty())
      paths += fmt::format("      \"{}\") path=\"{}\" ;;\n", command.name, command.name);
    words +=
        fmt::format("    \"{}\") words=\"{}\" ;;\n", command.name, fmt::join(words_after(command, all), " "));
    for (const auto& option : command.options)
      for (const auto& name : option.names)
        if (!option.choices.empty())
          choices += fmt::format("    \"{} {}\") words=\"{}\" ;;\n", command.name, name,
                                 fmt::join(option.choices, " "));
  }
  return fmt::format(R"(_pursuit() {{
  local path="" words="" word current="${{COMP_WORDS[COMP_CWORD]}}"
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "${{path:+$path }}$word" in
{}    esac
  done
  case "$path ${{COMP_WORDS[COMP_CWORD-1]}}" in
{}  esac
  if [[ -n "$words" ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case "$path" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ "$current" != -* ]]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}}
complete -o filenames -F _pursuit pursuit
)",
                     paths, choices, words);
}

/// Text inside single quotes, for all three shells; `also` gets a backslash.
std::string quoted(const std::string& text, const std::string& also = "") {
  std::string result;
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else if (also.find(c) != std::string::npos)
      result += fmt::format("\\{}", c);
    else
      result += c;
  }
  return result;
}

std::string for_zsh(const std::vector<CommandWords>& all) {
  std::string cases;
  for (const auto& command : all) {
    cases += fmt::format("    '{}')\n      commands=(", command.name);
    for (const auto& other : all)
      for (const auto& word : words_after(command, all))
        if (other.name == (command.name.empty() ? word : command.name + " " + word))
          cases += fmt::format("\n        '{}:{}'", word, quoted(other.description, ":"));
    cases += ")\n      options=(";
    for (const auto& option : command.options)
      for (const auto& name : option.names) {
        const std::string value = !option.takes_value ? ""
                                  : option.choices.empty()
                                      ? ":value:_files"
                                      : fmt::format(":value:({})", fmt::join(option.choices, " "));
        cases += fmt::format("\n        '*{}[{}]{}'", name, quoted(option.description, "[]:"), value);
      }
    cases += ") ;;\n";
  }
  return fmt::format(R"(#compdef pursuit
_pursuit() {{
  local path_of_commands="" word
  local -a commands options known=({})
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    if (( ${{known[(Ie)${{path_of_commands:+$path_of_commands }}$word]}} )); then
      path_of_commands="${{path_of_commands:+$path_of_commands }}$word"
    fi
  done
  case "$path_of_commands" in
{}  esac
  if (( ${{#commands}} )) && [[ "${{words[CURRENT]}}" != -* ]]; then _describe command commands; return; fi
  _arguments -S "${{options[@]}}" '*:file:_files'
}}
if [[ "$funcstack[1]" == _pursuit ]]; then _pursuit "$@"; else compdef _pursuit pursuit; fi
)",
                     [&] {
                       std::string known;
                       for (const auto& command : all)
                         if (!command.name.empty()) known += fmt::format("'{}' ", command.name);
                       return known;
                     }(),
                     cases);
}

std::string for_fish(const std::vector<CommandWords>& all) {
  std::string lines;
  for (const auto& command : all) {
    const auto last = command.name.find(' ');
    const std::string word = last == std::string::npos ? command.name : command.name.substr(last + 1);
    const std::string within = last == std::string::npos ? "" : command.name.substr(0, last);
    if (!word.empty())
      lines += fmt::format("complete -c pursuit -n '{}' -f -a {} -d '{}'\n",
                           within.empty() ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + within,
                           word, quoted(command.description));
    for (const auto& option : command.options) {
      std::string names;
      for (const auto& name : option.names)
        names += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                        : fmt::format(" -s {}", name.substr(1));
      if (names.empty()) continue;
      const std::string value = !option.takes_value ? ""
                                : option.choices.empty()
                                    ? " -r"
                                    : fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
      lines += fmt::format("complete -c pursuit -n '{}'{}{} -d '{}'\n",
                           word.empty() ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + word,
                           names, value, quoted(option.description));
    }
  }
  return lines;
}

}  // namespace

void add_completions(Command& program) {
  Command sub =
      program.add_command("completions", "Print the script by which a shell completes commands and options");
  auto shell = std::make_shared<std::string>();
  sub.footer(kCompletionsExamples);
  sub.add_option("SHELL", *shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  sub.runs([shell, program] {
    const auto all = program.words();
    write_to_stdout(*shell == "bash" ? for_bash(all) : *shell == "zsh" ? for_zsh(all) : for_fish(all));
    return int(success);
  });
}

}  // namespace pursuit::app
