#include "apps/loss_options.hpp"

#include <fmt/format.h>

#include "apps/console.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit::app {
namespace {

/// A column or a row of numbers.
Vector read_numbers(const std::string& path, Index size, const char* what) {
  const Matrix numbers = std::visit([](const auto& matrix) { return Matrix(matrix.template cast<double>()); },
                                    read_matrix(path).matrix);
  if (numbers.size() != size || (numbers.rows() != 1 && numbers.cols() != 1))
    throw InvalidInput(fmt::format("{}: is {} x {}; one number for each of the {} {}s is expected", path,
                                   numbers.rows(), numbers.cols(), size, what));
  return numbers.reshaped();
}

/// Sums of rows, relative to their mean.
Vector sums_of_rows(const DataMatrix& data) {
  Matrix sums;
  data.apply(Matrix::Ones(data.cols(), 1), sums);
  for (Index i = 0; i < sums.rows(); ++i)
    if (!(sums(i, 0) > 0))
      throw InvalidInput(fmt::format(
          "--row-scale sum: the sum of row {} is {}; leave such rows out, or give scales in a file", i + 1,
          sums(i, 0)));
  return sums / sums.mean();
}

}  // namespace

std::vector<std::string> LossInput::files() const {
  std::vector<std::string> result{entry_weights, row_weights, col_weights};
  if (row_scale != "sum") result.push_back(row_scale);
  return result;
}

void add_loss_options(Command& command, LossInput& input) {
  command
      .add_option("--loss", input.loss,
                  "What an entry costs. squares, huber:DELTA, absolute, quantile:TAU: any numbers;\n"
                  "bernoulli: 0 and 1; poisson, poisson-log, negative-binomial:SIZE|auto: counts;\n"
                  "gamma: positive numbers of constant relative error; ordinal: grades")
      .show_default();
  command.add_option("--entry-weights", input.entry_weights,
                     "How much every entry counts: a matrix file; what has weight 0 is unknown");
  command.add_option("--row-weights", input.row_weights, "How much every row counts: a file of numbers");
  command.add_option("--col-weights", input.col_weights, "How much every column counts");
  command.add_flag("--offsets", input.offsets,
                   "Fit a number for every row and every column beside the atoms");
  command.add_option("--row-scale", input.row_scale,
                     "Of counts: the mean of a row is its scale times the model's. A file of numbers, or\n"
                     "sum: the sums of the rows over their mean");
}

void take_loss(const LossInput& input, FactorOptions& options) {
  options.loss = parse_loss(input.loss);
  options.offsets = input.offsets;
}

void read_loss_files(const LossInput& input, const DataMatrix& data, FactorOptions& options) {
  if (!input.entry_weights.empty())
    options.entry_weights.entries = read_data(input.entry_weights, {.threads = options.threads}).matrix;
  if (!input.row_weights.empty())
    options.entry_weights.rows = read_numbers(input.row_weights, data.rows(), "row");
  if (!input.col_weights.empty())
    options.entry_weights.cols = read_numbers(input.col_weights, data.cols(), "column");
  if (input.row_scale == "sum")
    options.row_scale = sums_of_rows(data);
  else if (!input.row_scale.empty())
    options.row_scale = read_numbers(input.row_scale, data.rows(), "row");
}

void describe_loss(const FactorResult& result, const Loss& loss, Json& object) {
  object.set("loss", loss.spec());
  object.set("objective", result.objective);
  object.set("deviance", result.deviance());
  object.set("deviance_explained", result.deviance_explained());
  if (loss.kind == Loss::negative_binomial) object.set("size", result.own_terms.size);
  if (result.own_terms.thresholds.size() > 0)
    object.set("thresholds",
               std::vector<double>(result.own_terms.thresholds.begin(), result.own_terms.thresholds.end()));
}

void tell_of_negative_entries(const FactorOptions& options, const DataMatrix& data) {
  const auto is_nonnegative = [](const Atoms& atoms) {
    const auto& simple = atoms.traits().simple;
    return simple && simple->nonnegative;
  };
  if (options.weights.allows_negative() || !is_nonnegative(options.left) || !is_nonnegative(options.right))
    return;
  const auto part = data.negative_part();
  if (part && part->count > 0)
    tell(
        "pursuit: warning: {} entries are negative, down to {:.4g} ({:.2g} % of the sum of squares): atoms "
        "and weights "
        "without negative parts leave them unexplained; `--right nonneg` alone (semi-NMF) reaches them\n",
        part->count, part->lowest, 100 * part->squares / data.squared_norm());
}

}  // namespace pursuit::app
