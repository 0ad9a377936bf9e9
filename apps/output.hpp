#pragma once
// What commands write and print.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/io/atomic_file.hpp"

namespace pursuit::app {

/// Refuses outputs that cannot be written, that are one file under two names, or that are an input of the
/// run; before long work. Empty paths are skipped.
void prepare_outputs(const std::vector<std::string>& paths, const std::vector<std::string>& inputs = {});

/// Text in a file that appears whole or not at all, or on standard output where there is no path.
class TextOutput {
 public:
  explicit TextOutput(const std::string& path) {
    if (!path.empty()) file_.emplace(path);
  }
  bool is_file() const { return file_.has_value(); }
  void write(std::string_view text);
  /// As pursuit::write_lines() does.
  void write_lines(Index count, Index cells, int threads,
                   const std::function<void(std::string&, Index)>& append);
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::optional<AtomicFile> file_;
};

/// Text of a file as a terminal may show it: control characters, which may be commands to it, as \x1b and the
/// like.
std::string printable(const std::string& text);

/// Error by rank, as a picture; of losses other than squares the share of the deviance that is explained.
void write_error_plot(const std::string& path, const Trace& trace, bool squares = true);

/// The same and how it ended, for people.
void print_summary(const FactorResult& result, const std::string& out, bool squares = true);
void print_path(const Trace& trace, bool squares = true);

inline double explained(const Step& step) {
  return 1 - step.relative_error * step.relative_error;
}

}  // namespace pursuit::app
