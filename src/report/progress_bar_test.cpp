#include "pursuit/report/progress_bar.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

#include "report/text.hpp"

namespace pursuit {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string kErase = "\r\x1b[K";

TEST(ProgressBarLine, ShowsTitleBarPercentageTimeLeftAndNote) {
  EXPECT_EQ(ProgressBar::line("factor", 0.5, 10, "atom 5/10", 80),
            "factor [##########----------]  50%  10s left  atom 5/10");
}

TEST(ProgressBarLine, NeverWiderThanAsked) {
  const std::string long_text(300, 'x');
  for (int width = 0; width <= 250; ++width) {
    for (const double fraction : {0.0, 1e-9, 0.001, 0.5, 0.999, 1.0}) {
      for (const double seconds : {0.0, 1.0, 3600.0, 1e7}) {
        for (const auto& text :
             {std::string(), std::string("factor"), long_text, std::string("длинный заголовок")}) {
          const std::string line = ProgressBar::line(text, fraction, seconds, text, width);
          ASSERT_LE(report::length(line), static_cast<std::size_t>(width)) << line;
        }
      }
    }
  }
}

TEST(ProgressBarLine, UsesTheWidthForALongNote) {
  const std::string note(300, 'n');
  for (int width = 60; width <= 200; ++width) {
    EXPECT_EQ(ProgressBar::line("factor", 0.25, 3, note, width).size(), static_cast<std::size_t>(width));
  }
}

TEST(ProgressBarLine, NarrowTerminalKeepsWhatMatters) {
  EXPECT_EQ(ProgressBar::line("factor", 0.25, 20, "atom 5/10", 20), " 25%  1m00s left");
  EXPECT_EQ(ProgressBar::line("factor", 0.25, 20, "atom 5/10", 10), " 25%");
  EXPECT_EQ(ProgressBar::line("factor", 0.25, 20, "atom 5/10", 2), " 2");
  EXPECT_EQ(ProgressBar::line("factor", 0.25, 20, "atom 5/10", 0), "");
  EXPECT_EQ(ProgressBar::line("factor", 0.25, 20, "atom 5/10", -3), "");
  EXPECT_THAT(ProgressBar::line("factor", 0.25, 20, "", 40), HasSubstr("[##--------]"));
}

TEST(ProgressBarLine, TimeLeftIsProportional) {
  EXPECT_THAT(ProgressBar::line("", 0.25, 20, "", 80), HasSubstr(" 1m00s left"));
  EXPECT_THAT(ProgressBar::line("", 0.5, 5025, "", 80), HasSubstr(" 1h23m left"));
  EXPECT_THAT(ProgressBar::line("", 0.5, 100000, "", 80), HasSubstr(" 1d03h left"));
  EXPECT_THAT(ProgressBar::line("", 1e-12, 10, "", 80), HasSubstr(" >99d left"));
  EXPECT_THAT(ProgressBar::line("", 1.0, 10, "", 80), HasSubstr(" 0s left"));
  EXPECT_THAT(ProgressBar::line("", 0.0, 10, "", 80), Not(HasSubstr("left"))) << "nothing to tell it from";
}

TEST(ProgressBarLine, FractionOutOfRangeIsClamped) {
  EXPECT_THAT(ProgressBar::line("", -1, 1, "", 80), HasSubstr("  0%"));
  EXPECT_THAT(ProgressBar::line("", 7, 1, "", 80), HasSubstr("100%"));
  EXPECT_THAT(ProgressBar::line("", std::nan(""), 1, "", 80), HasSubstr("  0%"));
  EXPECT_THAT(ProgressBar::line("", std::numeric_limits<double>::infinity(), 1, "", 80), HasSubstr("100%"));
  EXPECT_THAT(ProgressBar::line("", 0.999, 1, "", 80), HasSubstr(" 99%"));
}

TEST(ProgressBarLine, HostileTextCannotMoveTheCursor) {
  const std::string line = ProgressBar::line("a\r\nb", 0.5, 1, "caf\xE9 \x1b[2J", 100);
  EXPECT_THAT(line, StartsWith("a  b ["));
  EXPECT_THAT(line, EndsWith("caf?  [2J"));
}

/// Both ends of a pseudo-terminal `columns` wide; not open() where the system has none to give.
class Terminal {
 public:
  explicit Terminal(unsigned short columns) : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0) return;
    const char* name = ptsname(master_);
    if (name == nullptr) return;
    stream_ = std::fopen(name, "w");
    winsize size{};
    size.ws_row = 24;
    size.ws_col = columns;
    ioctl(master_, TIOCSWINSZ, &size);
  }
  ~Terminal() {
    if (stream_ != nullptr) std::fclose(stream_);
    if (master_ >= 0) close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool open() const { return stream_ != nullptr; }
  std::FILE* stream() { return stream_; }
  std::string shown() {
    fcntl(master_, F_SETFL, O_NONBLOCK);
    std::string text(4096, '\0');
    const ssize_t count = read(master_, text.data(), text.size());
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }

 private:
  int master_;
  std::FILE* stream_ = nullptr;
};

/// Sets TERM while it lives.
class TermVariable {
 public:
  explicit TermVariable(const char* value) {
    if (const char* old = std::getenv("TERM")) old_ = old;
    setenv("TERM", value, 1);
  }
  ~TermVariable() {
    if (old_.empty()) {
      unsetenv("TERM");
    } else {
      setenv("TERM", old_.c_str(), 1);
    }
  }
  TermVariable(const TermVariable&) = delete;
  TermVariable& operator=(const TermVariable&) = delete;

 private:
  std::string old_;
};

TEST(ProgressBar, DrawsOnATerminalAndErasesItself) {
  const TermVariable term("xterm");
  Terminal terminal(50);
  if (!terminal.open()) GTEST_SKIP() << "no pseudo-terminal here";
  {
    ProgressBar bar("factor", terminal.stream());
    bar.update(0.5, std::string(100, 'n'));
    const std::string shown = terminal.shown();
    EXPECT_THAT(shown, StartsWith(kErase + "factor ["));
    EXPECT_THAT(shown, Not(HasSubstr("\n")));
    EXPECT_EQ(shown.size(), kErase.size() + 49) << "one column stays free";
  }
  EXPECT_EQ(terminal.shown(), kErase);
}

TEST(ProgressBar, RedrawsAtMostTenTimesASecond) {
  const TermVariable term("xterm");
  Terminal terminal(80);
  if (!terminal.open()) GTEST_SKIP() << "no pseudo-terminal here";
  const auto start = std::chrono::steady_clock::now();
  ProgressBar bar("factor", terminal.stream());
  int draws = 0;
  for (int i = 0; i < 250; ++i) {
    bar.update(0.5, "note");
    if (!terminal.shown().empty()) ++draws;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GE(draws, 2);
  EXPECT_LE(draws, 1 + static_cast<int>(10 * seconds));
}

TEST(ProgressBar, SilentOnADumbTerminal) {
  const TermVariable term("dumb");
  Terminal terminal(80);
  if (!terminal.open()) GTEST_SKIP() << "no pseudo-terminal here";
  { ProgressBar("factor", terminal.stream()).update(0.5, "note"); }
  EXPECT_THAT(terminal.shown(), IsEmpty());
}

TEST(ProgressBar, SilentOnAFile) {
  const TermVariable term("xterm");
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  { ProgressBar("factor", file).update(0.5, "note"); }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

TEST(ProgressBar, NothingToEraseIfNothingWasDrawn) {
  const TermVariable term("xterm");
  Terminal terminal(80);
  if (!terminal.open()) GTEST_SKIP() << "no pseudo-terminal here";
  { const ProgressBar bar("factor", terminal.stream()); }
  EXPECT_THAT(terminal.shown(), IsEmpty());
}

}  // namespace
}  // namespace pursuit
