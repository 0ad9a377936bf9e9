#include "pursuit/report/progress_bar.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "report/text.hpp"

namespace pursuit {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";
constexpr std::chrono::milliseconds kRedrawInterval{100};

bool watched(std::FILE* stream) {
  const char* term = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe)
  return stream != nullptr && isatty(fileno(stream)) == 1 &&
         (term == nullptr || std::string_view(term) != "dumb");
}

int columns_of(std::FILE* stream) {
  winsize size{};
  return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void write(std::FILE* stream, std::string_view text) {
  // A terminal that went away is no reason to stop the work.
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

/// "12s", "1m05s", "2h03m", "4d05h": never more than six characters.
std::string duration(double seconds) {
  if (!(seconds < 100 * 86400.0)) return ">99d";
  const auto s = static_cast<long>(std::ceil(seconds));
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  return fmt::format("{}d{:02}h", s / 86400, s / 3600 % 24);
}

}  // namespace

ProgressBar::ProgressBar(std::string title, std::FILE* stream)
    : title_(std::move(title)),
      stream_(stream),
      active_(watched(stream)),
      start_(std::chrono::steady_clock::now()) {}

ProgressBar::~ProgressBar() {
  const bool drawn = last_drawn_ != std::chrono::steady_clock::time_point();
  if (active_ && drawn) write(stream_, kEraseLine);
}

void ProgressBar::update(double fraction, const std::string& note) {
  if (!active_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_drawn_ < kRedrawInterval) return;
  last_drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  // One column stays free: some terminals wrap as soon as the last one is written.
  write(stream_, std::string(kEraseLine) + line(title_, fraction, seconds, note, columns_of(stream_) - 1));
}

std::string ProgressBar::line(const std::string& title, double fraction, double seconds,
                              const std::string& note, int width) {
  using report::clipped, report::length, report::printable;
  // The bar itself is plain ASCII, so that it needs nothing from the terminal. From the most to the least
  // important, what there is room for: percentage, time left, bar, title, note.
  auto room = static_cast<std::size_t>(std::max(width, 0));
  const double done = std::isnan(fraction) ? 0.0 : std::clamp(fraction, 0.0, 1.0);

  // Rounded down: 100% is shown when the work is done, not before.
  std::string figures = fmt::format("{:3}%", static_cast<int>(done * 100));
  if (figures.size() > room) return clipped(figures, room);
  if (done > 0 && seconds >= 0) {
    const std::string left = fmt::format("  {} left", duration(seconds * (1 - done) / done));
    if (figures.size() + left.size() <= room) figures += left;
  }
  room -= figures.size();

  std::string bar;
  const std::size_t cells = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(width, 0)) / 4, 10, 30);
  if (room >= cells + 3) {
    const auto filled = static_cast<std::size_t>(done * static_cast<double>(cells));
    bar = fmt::format("[{}{}] ", std::string(filled, '#'), std::string(cells - filled, '-'));
    room -= bar.size();
  }

  std::string head = printable(title);
  constexpr std::size_t kFewest = 8;  // fewer characters than that, of a longer text, say nothing
  if (!head.empty() && room > std::min(length(head), kFewest)) {
    head = clipped(head, room - 1) + " ";
    room -= length(head);
  } else {
    head.clear();
  }

  std::string tail = printable(note);
  if (!tail.empty() && room >= std::min(length(tail), kFewest) + 2) {
    tail = fmt::format("  {}", clipped(tail, room - 2));
  } else {
    tail.clear();
  }
  return head + bar + figures + tail;
}

}  // namespace pursuit
