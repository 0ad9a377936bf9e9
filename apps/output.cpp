#include "apps/output.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "apps/console.hpp"
#include "apps/session.hpp"
#include "pursuit/algorithms/path.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/io/write_lines.hpp"
#include "pursuit/report/svg.hpp"

namespace pursuit::app {

void prepare_outputs(const std::vector<std::string>& paths, const std::vector<std::string>& inputs) {
  std::map<std::filesystem::path, std::string> taken;  // by whom: words for a message
  for (const auto& input : inputs)
    if (!input.empty()) taken.emplace(destination_of(input), "an input of this run, which would be replaced");
  for (const auto& path : paths) {
    if (path.empty()) continue;
    require_writable(path);
    const std::filesystem::path place = destination_of(path);
    std::error_code unknown;
    if (std::filesystem::exists(place, unknown) && !std::filesystem::is_regular_file(place, unknown))
      continue;  // a device or a pipe takes all that comes
    const auto [other, is_new] = taken.emplace(place, "the name of another output; give each its own");
    if (!is_new) throw InvalidArgument(fmt::format("cannot write '{}': it is {}", path, other->second));
  }
}

void TextOutput::write(std::string_view text) {
  if (file_)
    file_->write(text);
  else
    write_to_stdout(text);
}

void TextOutput::write_lines(Index count, Index cells, int threads,
                             const std::function<void(std::string&, Index)>& append) {
  pursuit::write_lines(count, cells, threads, append, [&](std::string_view text) { write(text); });
}

std::string printable(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {  // the control characters U+0080 to U+009F
      result += fmt::format("\\x{:02x}", next);
      ++i;
    } else if (byte < 0x20 || byte == 0x7F) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += text[i];
    }
  }
  return result;
}

void write_error_plot(const std::string& path, const Trace& trace, bool squares) {
  const Trace steps = path_by_rank(trace);
  const std::string what = squares ? "relative error" : "deviance explained";
  Series series{what, Vector(Index(steps.size())), Vector(Index(steps.size()))};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    series.x[Index(i)] = double(steps[i].rank);
    series.y[Index(i)] = squares ? steps[i].relative_error : explained(steps[i]);
  }
  write_file_atomically(
      path,
      svg_line_plot({series}, {squares ? "Error by rank" : "Deviance explained by rank", "rank", what}));
}

void print_path(const Trace& trace, bool squares) {
  const Trace steps = path_by_rank(trace);
  say("{:>6} {:>14} {:>12} {:>8} {:>10} {:>8} {:>9}\n", "rank", squares ? "relative error" : "explained",
      "gain", "sweeps", "last sweep", "spread", "seconds");
  const std::size_t shown = 20;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps.size() > shown && i == shown / 2) {
      say("{:>6}\n", "...");
      i = steps.size() - shown / 2;
    }
    const Step& step = steps[i];
    say("{:>6} {:>14.6f} {:>12.4g} {:>8} {:>10} {:>8.3f} {:>9.3f}\n", step.rank,
        squares ? step.relative_error : explained(step), step.gain, step.sweeps,
        step.sweeps > 0 ? fmt::format("{:.2g} %", 100 * step.last_sweep) : "", step.spread, step.seconds);
  }
}

/// Errors of ranks on the way are compared all the time; most are not what a fit of that rank would have.
void warn_of_unsettled_ranks(const Trace& trace) {
  constexpr double kSettled = 0.01;
  const Trace steps = path_by_rank(trace);
  double most = 0;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) most = std::max(most, steps[i].last_sweep);
  if (most > kSettled)
    say("ranks on the way are unsettled (last sweep up to {:.0f} %): compare fits of their own\n",
        100 * most);
}

void print_summary(const FactorResult& result, const std::string& out, bool squares) {
  print_path(result.trace, squares);
  if (squares)
    say("\nrelative error {:.6f}", result.relative_error);
  else
    say("\n{:.4f} of the deviance explained, {:.6g} left,", result.deviance_explained(), result.deviance());
  say(" with {} atoms in {:.3f} s: {}\n", result.model.rank(), result.seconds, explanation(result.stop));
  warn_of_unsettled_ranks(result.trace);
  if (!out.empty()) say("model written to {}\n", out);
}

}  // namespace pursuit::app
