#include "apps/console.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

namespace pursuit::app {
namespace {

bool silent = false;
int stdout_error = 0;  // of the first write that failed

void note_stdout_error() {
  if (stdout_error == 0) stdout_error = errno;
}

void fill(int descriptor, const char* path, int flags) {
  if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) return;
  // The lowest free descriptor is given: this one, as those below are open by now.
  [[maybe_unused]] const int opened = ::open(path, flags);
}

}  // namespace

void secure_standard_streams() {
  fill(STDIN_FILENO, "/dev/null", O_RDONLY);
  fill(STDOUT_FILENO, "/", O_RDONLY | O_DIRECTORY);  // cannot be written to, not even as /dev/stdout
  fill(STDERR_FILENO, "/dev/null", O_WRONLY);
  std::signal(SIGPIPE, SIG_IGN);
}

void be_silent() {
  silent = true;
}

void write_to_stdout(std::string_view text) {
  if (silent) return;
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size()) note_stdout_error();
}

void write_to_stderr(std::string_view text) {
  if (silent) return;
  [[maybe_unused]] const std::size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
}

bool finish_stdout() {
  if (std::fflush(stdout) != 0) note_stdout_error();
  if (stdout_error != 0 && stdout_error != EPIPE)  // whoever closes a pipe has read what he wanted
    tell("pursuit: cannot write to standard output: {}\n", std::generic_category().message(stdout_error));
  return stdout_error == 0;
}

}  // namespace pursuit::app
