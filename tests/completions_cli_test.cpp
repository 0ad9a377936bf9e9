// Completion in shells: what a shell offers after the script was read.

#include "cli_support.hpp"

namespace pursuit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

class Completions : public ProgramTest {
 protected:
  /// What bash offers for the last word.
  std::vector<std::string> offered(const std::string& words) {
    write("script", run("completions bash").out);
    write("try.sh", "source ./script\nCOMP_WORDS=(pursuit " + words +
                        ")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_pursuit\n"
                        "printf '%s\\n' \"${COMPREPLY[@]}\" > offered\n");
    EXPECT_EQ(std::system(("cd '" + path("") + "' && bash try.sh").c_str()), 0);
    std::istringstream file(read("offered"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(Completions, BashOffersCommandsOptionsAndChoices) {
  EXPECT_THAT(offered("fac"), ElementsAre("factor"));
  EXPECT_THAT(offered("factor --polish-t"), ElementsAre("--polish-tolerance"));
  EXPECT_THAT(offered("pca data.npy --effort ''"), ElementsAre("low", "normal", "high"));
  EXPECT_THAT(offered("generate ratings --ro"), ElementsAre("--rows"));
  EXPECT_THAT(offered("generate ''"), IsSupersetOf({"ratings", "script"}));  // files of the folder too
  EXPECT_THAT(offered("completions z"), ElementsAre("zsh"));
}

TEST_F(Completions, ScriptsAreSoundForEachShellThatIsHere) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    write("script", run("completions " + shell).out);
    EXPECT_THAT(read("script"), HasSubstr("polish"));
    const bool is_here = std::system(("command -v " + shell + " > /dev/null").c_str()) == 0;
    const std::string check = is_here ? shell + " -n '" + path("script") + "'" : "true";
    EXPECT_EQ(std::system(check.c_str()), 0) << shell;
  }
}

TEST_F(Completions, OtherShellsAreRefused) {
  const auto result = run("completions csh");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("csh"));
}

}  // namespace
}  // namespace pursuit
