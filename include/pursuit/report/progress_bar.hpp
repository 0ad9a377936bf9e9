#pragma once
// A one-line progress bar with the time left, on stderr, and only where a person is watching.

#include <chrono>
#include <cstdio>
#include <string>

namespace pursuit {

class ProgressBar {
 public:
  /// Draws on `stream` only if it is a terminal (and TERM is not "dumb"); otherwise every call does nothing.
  explicit ProgressBar(std::string title, std::FILE* stream = stderr);
  ~ProgressBar();  // erases the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `fraction` of the work done in [0, 1], and a short note such as "atom 12/50, error 0.1234".
  /// Redraws at most ten times a second.
  void update(double fraction, const std::string& note);

  /// The line as it would be drawn `width` characters wide after `seconds` of work: pure, for tests.
  static std::string line(const std::string& title, double fraction, double seconds, const std::string& note,
                          int width);

 private:
  std::string title_;
  std::FILE* stream_;
  bool active_;
  std::chrono::steady_clock::time_point start_, last_drawn_;
};

}  // namespace pursuit
