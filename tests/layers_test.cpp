// The rooms of the library are layers: code may include what lies below it, never what lies above or beside
// it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "places.hpp"

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Layer of every room, from the bottom. Headers that lie in include/pursuit itself gather what the rooms
/// offer: they are a room of their own, "".
const std::map<std::string, int, std::less<>> layers{
    {"base", 0},       {"linalg", 1},    {"data", 2},       {"objective", 3},  {"atoms", 3},   {"weights", 4},
    {"correction", 4}, {"oracle", 4},    {"algorithms", 5}, {"completion", 6}, {"io", 7},      {"report", 8},
    {"baselines", 7},  {"catalogue", 8}, {"", 9},           {"apps", 10},      {"python", 10},
};

/// The only includes allowed between two rooms of one layer: from the first to the second.
const std::set<std::pair<std::string, std::string>> allowed_sideways{{"correction", "oracle"}};

struct Place {
  std::string room;
  bool is_public;
};

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream stream(path);
  for (std::string part; std::getline(stream, part, '/');) parts.push_back(part);
  return parts;
}

/// Where the file at `path` (relative to the root of the source) belongs; nothing if to no room.
std::optional<Place> place_of_file(const std::string& path) {
  const auto parts = split(path);
  if (parts.size() >= 3 && parts[0] == "include" && parts[1] == "pursuit") {
    return Place{parts.size() == 3 ? "" : parts[2], true};
  }
  if (parts.size() >= 3 && parts[0] == "src") return Place{parts[1], false};
  if (parts.size() >= 2 && (parts[0] == "apps" || parts[0] == "python")) return Place{parts[0], false};
  return std::nullopt;
}

/// Where an included file belongs; nothing if it is not ours to judge: a file beside the one that includes
/// it, or a library.
std::optional<Place> place_of_include(const std::string& target, bool quoted) {
  const auto parts = split(target);
  if (parts.size() >= 2 && parts[0] == "pursuit")  // "pursuit/x.hpp" gathers rooms
    return Place{parts.size() >= 3 ? parts[1] : "", true};
  if (quoted && parts.size() >= 2 && layers.contains(parts[0])) return Place{parts[0], false};
  return std::nullopt;
}

struct Include {
  int line;
  std::string target;
  bool quoted;
};

std::vector<Include> includes_of(const std::string& code) {
  std::vector<Include> found;
  std::istringstream stream(code);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t'; });
    constexpr std::string_view directive = "#include";
    if (!line.starts_with(directive) || line.size() <= directive.size()) continue;
    const char open = line[directive.size()];
    if (open != '"' && open != '<') continue;
    const std::size_t from = directive.size() + 1, to = line.find(open == '"' ? '"' : '>', from);
    if (to != std::string::npos) found.push_back({number, line.substr(from, to - from), open == '"'});
  }
  return found;
}

/// Everything wrong with the includes of the file at `path` (relative to the root of the source) that holds
/// `code`.
std::vector<std::string> violations(const std::string& path, const std::string& code) {
  std::vector<std::string> out;
  const auto here = place_of_file(path);
  if (!here) return out;
  if (!layers.contains(here->room)) return {path + ": the room '" + here->room + "' has no layer"};

  for (const Include& include : includes_of(code)) {
    const auto there = place_of_include(include.target, include.quoted);
    if (!there) continue;
    const auto complain = [&](const std::string& why) {
      out.push_back(path + ":" + std::to_string(include.line) + ": includes " + include.target + ": " + why);
    };
    if (!layers.contains(there->room)) {
      complain("the room '" + there->room + "' has no layer");
      continue;
    }
    if (here->is_public && !there->is_public) complain("a public header must not include a private one");
    if (here->room == there->room) continue;
    const int from = layers.at(here->room), to = layers.at(there->room);
    if (to > from) complain("'" + there->room + "' lies above '" + here->room + "'");
    if (to == from && !allowed_sideways.contains({here->room, there->room})) {
      complain("'" + there->room + "' lies beside '" + here->room + "'");
    }
  }
  return out;
}

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Layers, SourceKeepsToThem) {
  const fs::path root = PURSUIT_SOURCE_DIR;
  int files = 0;
  std::vector<std::string> all;
  for (const char* folder : {"include", "src", "apps", "python"}) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const auto extension = entry.path().extension();
      if (!entry.is_regular_file() || (extension != ".hpp" && extension != ".cpp")) continue;
      ++files;
      const auto found =
          violations(fs::relative(entry.path(), root).generic_string(), contents(entry.path()));
      all.insert(all.end(), found.begin(), found.end());
    }
  }
  EXPECT_GT(files, 10) << "the source was not found under " << root;
  std::sort(all.begin(), all.end());
  std::string report;
  for (const auto& violation : all) report += violation + "\n";
  EXPECT_EQ(report, "");
}

TEST(LayersChecker, AcceptsWhatPointsDown) {
  EXPECT_THAT(violations("src/oracle/x.cpp",
                         "#include \"pursuit/oracle/x.hpp\"\n"
                         "#include <vector>\n"
                         "#include \"linalg/blas.hpp\"\n"
                         "#include \"pursuit/atoms/y.hpp\"\n"),
              IsEmpty());
  EXPECT_THAT(violations("apps/main.cpp", "#include \"pursuit/io/x.hpp\"\n#include \"commands.hpp\"\n"),
              IsEmpty());
  EXPECT_THAT(violations("python/src/x.cpp", "#include \"pursuit/io/x.hpp\"\n#include \"arrays.hpp\"\n"),
              IsEmpty());
  EXPECT_THAT(violations("include/pursuit/all.hpp", "#include \"pursuit/report/svg.hpp\"\n"), IsEmpty());
  EXPECT_THAT(violations("src/correction/x.cpp", "#include \"pursuit/oracle/x.hpp\"\n"), IsEmpty());
  EXPECT_THAT(violations("src/io/x_test.cpp", "#include \"support/temporary_folder.hpp\"\n"), IsEmpty());
}

TEST(LayersChecker, FindsWhatPointsUp) {
  EXPECT_THAT(violations("src/linalg/x.cpp", "// a comment\n#include \"pursuit/atoms/y.hpp\"\n"),
              ElementsAre("src/linalg/x.cpp:2: includes pursuit/atoms/y.hpp: 'atoms' lies above 'linalg'"));
  EXPECT_THAT(violations("src/atoms/x.cpp", "#include \"oracle/private.hpp\"\n"),
              ElementsAre(HasSubstr("lies above")));
  EXPECT_THAT(violations("include/pursuit/algorithms/x.hpp", "  #  include  <pursuit/io/y.hpp>\n"),
              ElementsAre(HasSubstr("'io' lies above 'algorithms'")))
      << "spaces and angle brackets change nothing";
  EXPECT_THAT(violations("src/report/x.cpp", "#include \"pursuit/everything.hpp\"\n"),
              ElementsAre(HasSubstr("lies above 'report'")));
}

TEST(LayersChecker, FindsWhatPointsSideways) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"objective", "atoms"},
                                                                                 {"atoms", "objective"},
                                                                                 {"oracle", "correction"},
                                                                                 {"weights", "oracle"},
                                                                                 {"correction", "weights"},
                                                                                 {"io", "baselines"},
                                                                                 {"catalogue", "report"}}) {
    EXPECT_THAT(violations("src/" + from + "/x.cpp", "#include \"pursuit/" + to + "/y.hpp\"\n"),
                ElementsAre(HasSubstr("'" + to + "' lies beside '" + from + "'")));
  }
}

TEST(LayersChecker, FindsPrivateHeadersInPublicOnes) {
  EXPECT_THAT(violations("include/pursuit/io/x.hpp", "#include \"io/y.hpp\"\n"),
              ElementsAre(HasSubstr("a public header must not include a private one")));
}

TEST(LayersChecker, FindsRoomsWithoutALayer) {
  EXPECT_THAT(violations("src/attic/x.cpp", ""), ElementsAre(HasSubstr("'attic' has no layer")));
  EXPECT_THAT(violations("src/io/x.cpp", "#include \"pursuit/attic/y.hpp\"\n"),
              ElementsAre(HasSubstr("'attic' has no layer")));
}

}  // namespace
