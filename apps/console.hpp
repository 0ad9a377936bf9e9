#pragma once
// Standard output and standard error. What happens to them never decides over the work: a full disk, a closed
// terminal or a reader that went away lose words, not results, and show in the exit status at the end.

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace pursuit::app {

/// Once, before anything is opened: streams that are closed are filled, so that no output file takes their
/// place, and a reader that goes away ends nothing.
void secure_standard_streams();

/// From now on nothing is written: another process says it.
void be_silent();

void write_to_stdout(std::string_view text);
void write_to_stderr(std::string_view text);

/// Results, on standard output.
template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  write_to_stdout(fmt::format(format, std::forward<Values>(values)...));
}

/// Words for people, on standard error.
template <class... Values>
void tell(fmt::format_string<Values...> format, Values&&... values) {
  write_to_stderr(fmt::format(format, std::forward<Values>(values)...));
}

/// Whether all of standard output has arrived; tells the reason where it has not. Once, at the end.
bool finish_stdout();

}  // namespace pursuit::app
