// What is typed is arbitrary text, a word a line. Whatever it is, the program finds something to do, help or
// the words about a mistake among it, or InvalidArgument; nothing is done here. The small languages of single
// options are read from every word.

#include <algorithm>
#include <string>
#include <vector>

#include "apps/memory_limit.hpp"
#include "apps/session.hpp"
#include "fuzz/target.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/baselines/baselines.hpp"
#include "pursuit/baselines/covariance.hpp"
#include "pursuit/completion/confidence.hpp"
#include "pursuit/correction/regularization.hpp"
#include "pursuit/objective/loss.hpp"
#include "pursuit/weights/weight_rule.hpp"

namespace pursuit::fuzz {
namespace {

std::vector<std::string> words_of(std::string_view bytes) {
  std::vector<std::string> words{"pursuit"};
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view word = bytes.substr(0, end);
    words.emplace_back(word.substr(0, word.find('\0')));  // as argv holds it
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return words;
}

template <class Read>
void read_word(const Read& read) {
  try {
    read();
  } catch (const InvalidArgument&) {
  }
}

void read_option(const std::string& word) {
  read_word([&] { app::parse_memory_size("--max-memory", word); });
  read_word([&] { parse_weight_rule(word); });
  read_word([&] {
    const Loss loss = parse_loss(word);
    require(parse_loss(loss.spec()).spec() == loss.spec(), "a loss is read back");
  });
  read_word([&] { parse_regularization(word); });
  read_word([&] {
    const Confidence confidence = parse_confidence(word);
    require(parse_confidence(confidence.spec()).spec() == confidence.spec(), "a confidence is read back");
  });
  read_word([&] { parse_baseline(word); });
  read_word([&] { parse_deflation(word); });
}

}  // namespace

void read_arguments(std::string_view bytes) {
  constexpr std::size_t kMostWords = 64;
  const std::vector<std::string> words = words_of(bytes);
  if (words.size() > kMostWords) return;
  std::vector<const char*> arguments;
  arguments.reserve(words.size());
  for (const std::string& word : words) arguments.push_back(word.c_str());
  app::CommandLine program("pursuit", "pursuit", "0");
  app::add_commands(program.commands());
  try {
    require(bool(program.parse(int(arguments.size()), arguments.data())), "there is something to do");
  } catch (const InvalidArgument&) {
  }
  for (const std::string& word : words) read_option(word);
}

}  // namespace pursuit::fuzz
