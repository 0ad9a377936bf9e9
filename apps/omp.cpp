#include "pursuit/algorithms/omp.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "apps/console.hpp"
#include "apps/input.hpp"
#include "apps/output.hpp"
#include "apps/session.hpp"
#include "pursuit/algorithms/coherence.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit::app {
namespace {

struct OmpCommand {
  CommonOptions common;
  TextInput text;
  OmpOptions options;
  std::string dictionary, signals, weights = "free", out;
  bool certificate = false;
};

constexpr const char* kOmpExamples =
    R"(Columns of DICTIONARY are atoms, columns of SIGNALS are signals of the same length.

Examples:
  pursuit omp D.npy Y.npy --atoms 10 --out codes.npz        Y ~ D * codes, SciPy sparse
  pursuit omp D.npy Y.npy --atoms 50 --weights newest       matching pursuit
  pursuit omp D.npy y.npy --atoms 20 --certificate          convergence of the first signal against theory)";

Json describe(const RateCertificate& certificate) {
  Json steps = Json::array();
  for (const auto& step : certificate.steps)
    steps.push_back({{"decay", step.decay},
                     {"guaranteed", step.guaranteed},
                     {"coherence_bound", step.coherence_bound ? Json(*step.coherence_bound) : Json()}});
  return {{"holds", certificate.holds}, {"distance_to_span", certificate.distance_to_span}, {"steps", steps}};
}

void print_certificate(const RateCertificate& certificate) {
  say("\nconvergence of the first signal: decay of ||r - r*||^2 per step, measured against the guarantees\n");
  say("{:>6} {:>12} {:>12} {:>12}\n", "step", "measured", "theorem 1", "coherence");
  int number = 0;
  for (const auto& step : certificate.steps)
    say("{:>6} {:>12.6f} {:>12.6f} {:>12}\n", ++number, step.decay, step.guaranteed,
        step.coherence_bound ? fmt::format("{:.6f}", *step.coherence_bound) : "-");
  say("{}\n", certificate.holds ? "every step is within its guarantee" : "a guarantee was BROKEN");
}

/// What the codes make of the columns of the dictionary.
Matrix sums_of(const Matrix& dictionary, const OmpResult& result, int threads) {
  const auto& codes = result.codes;
  const SparseView<double, int> view{codes.outerIndexPtr(), codes.innerIndexPtr(), codes.valuePtr(),
                                     codes.rows(),          codes.cols(),          true};
  Matrix transposed;
  data_matrix(view, threads)->apply_transposed(dictionary.transpose(), transposed);
  return transposed.transpose();
}

int run(OmpCommand& command) {
  command.options.weights = parse_weight_rule(command.weights);
  command.options.threads = command.common.threads;
  if (!command.out.empty()) require_matrix_extension(command.out);
  prepare_outputs({command.out}, {command.dictionary, command.signals});
  const Matrix dictionary =
      dense(read_input(command.dictionary, command.text, command.common.threads).matrix);
  const Matrix signals = dense(read_input(command.signals, command.text, command.common.threads).matrix);
  const Timer timer;
  const OmpResult result = omp(dictionary, signals, command.options);
  const double seconds = timer.seconds();
  if (!command.out.empty()) write_matrix(command.out, {SparseMatrix(result.codes), {}, {}});

  std::map<Stop, Index> stops;
  for (const Stop stop : result.stops) ++stops[stop];
  Json stop_counts = Json::object();
  for (const auto& [stop, count] : stops) stop_counts.set(name(stop), count);
  const double total = signals.norm();
  const double error =
      total > 0 ? (signals - sums_of(dictionary, result, command.common.threads)).norm() / total : 0.0;
  Json object = {{"relative_error", error},
                 {"rank", command.options.atoms},
                 {"signals", signals.cols()},
                 {"nonzeros", result.codes.nonZeros()},
                 {"mean_relative_error", result.relative_errors.mean()},
                 {"max_relative_error", result.relative_errors.maxCoeff()},
                 {"seconds", seconds},
                 {"stop", stop_counts},
                 {"peak_memory_bytes", peak_memory_bytes()}};
  std::optional<RateCertificate> certificate;
  if (command.certificate) certificate = certify_omp(dictionary, signals.col(0), command.options.atoms);
  if (certificate) object.set("certificate", describe(*certificate));
  if (command.common.json) {
    print_json(object);
    return success;
  }
  say("{} signals, {} non-zeros, relative error {:.6f} (mean {:.6f}, largest {:.6f}), {:.3f} ms per signal\n",
      signals.cols(), result.codes.nonZeros(), error, result.relative_errors.mean(),
      result.relative_errors.maxCoeff(), 1e3 * seconds / double(signals.cols()));
  for (const auto& [stop, count] : stops)
    say("  {} stopped by {}: {}\n", count, name(stop), explanation(stop));
  if (certificate) print_certificate(*certificate);
  return success;
}

}  // namespace

void add_omp(Command& program) {
  auto command = std::make_shared<OmpCommand>();
  Command sub = program.add_command("omp", "Sparse codes of signals over a dictionary");
  sub.footer(kOmpExamples);
  sub.add_option("DICTIONARY", command->dictionary, "Matrix whose columns are atoms").required();
  sub.add_option("SIGNALS", command->signals, "Matrix whose columns are signals").required();
  sub.add_option("-k,--atoms", command->options.atoms, "Atoms per signal, at most").show_default();
  sub.add_option("--weights", command->weights,
                 "free (OMP), newest (MP), nonneg, convex[:RADIUS] (Frank-Wolfe), economic")
      .show_default();
  sub.add_option("--target-error", command->options.target_error, "A signal stops at this relative error");
  sub.add_option("-o,--out", command->out, "Write the codes here (.npz, .mtx: sparse)");
  sub.add_flag("--certificate", command->certificate,
               "Hold the convergence of the first signal against the theory");
  add_text_options(sub, command->text);
  add_common_options(sub, command->common);
  sub.runs([command] { return run(*command); });
}

}  // namespace pursuit::app
