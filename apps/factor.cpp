#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>

#include "apps/checkpoint_options.hpp"
#include "apps/complete_tensor.hpp"
#include "apps/console.hpp"
#include "apps/factor_tensor.hpp"
#include "apps/input.hpp"
#include "apps/known_atoms.hpp"
#include "apps/loss_options.hpp"
#include "apps/named_sets.hpp"
#include "apps/output.hpp"
#include "apps/ranks.hpp"
#include "apps/rehearsal.hpp"
#include "apps/session.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/io/model_file.hpp"
#include "pursuit/io/tensor_file.hpp"

namespace pursuit::app {
namespace {

struct FactorCommand {
  CommonOptions common;
  TextInput text;
  FactorOptions options;
  KnownAtoms known;
  LossInput loss;
  std::string input, left = "sphere", right = "sphere", symmetric, weights = "free", out, plot;
  TensorInput tensor;
  CheckpointInput checkpoint;
  bool covariance = false;
};

constexpr const char* kFactorExamples = R"(Atom sets (SPEC):
  sphere            any direction                    nonneg            no negative entry
  sparse:40         at most 40 non-zeros             sparse:0.1        at most a tenth of the entries
  nonneg+sparse:40  both                             sparse:300,200    300 for the first atom, 200 for the others
  group:FILE:3      3 groups of entries              nonneg+unimodal   a peak
  ... 'pursuit atoms' lists all of them, 'pursuit atoms SPEC' explains one.

An entry that a sparse file does not store is an observed zero.

Examples:
  SVD         pursuit factor A.npy --rank 20
  sparse SVD  pursuit factor A.npy --rank 10 --left sparse:100 --right sparse:40
  NMF         pursuit factor A.npy --rank 20 --left nonneg --right nonneg --weights nonneg
  sparse NMF  pursuit factor A.npy --rank 20 --left nonneg --right nonneg+sparse:0.1 --weights nonneg
  PCA         pursuit factor data.csv --covariance --symmetric sphere --rank 5
  sparse PCA  pursuit factor data.csv --covariance --symmetric sparse:30 --rank 5
  similarity  pursuit factor S.mtx --symmetric nonneg --weights nonneg --rank 8 --out clusters.npz
  tensor      pursuit factor T.npy --rank 5 --modes nonneg,nonneg,nonneg+smooth:0.1 --weights nonneg
  table       pursuit factor trips.csv --rank 4 --modes nonneg,nonneg,nonneg --weights nonneg
  its counts  pursuit factor T.tns --rank 5 --modes nonneg,nonneg,nonneg --weights nonneg --loss poisson
  known part  pursuit factor spectra.npy --rank 4 --right nonneg --left nonneg --weights nonneg --fix-right known.csv
  shares      pursuit factor mixtures.csv --rank 4 --left nonneg --right nonneg --closure --out shares.npz
  counts      pursuit factor counts.mtx --rank 10 --loss poisson-log --offsets --row-scale sum
  yes and no  pursuit factor clicks.npz --rank 5 --loss bernoulli --offsets
  outliers    pursuit factor A.npy --rank 5 --loss huber:1.5 --row-weights trust.csv
  go on       pursuit factor A.npy --rank 30 --right sparse:40 --start model.npz --out more.npz
  kept state  pursuit factor A.npy --rank 300 --right sparse:40 --out m.npz --checkpoint m.state --checkpoint-every 90s)";

/// Those of both sides, where they do not wait for names.
struct FactorSets {
  std::optional<Atoms> left, right;
};
FactorSets sets_before_data(const FactorCommand& command) {
  if (command.symmetric.empty()) return {set_before_data(command.left), set_before_data(command.right)};
  const auto both = set_before_data(command.symmetric);
  return {both, both};
}

void take_sets(const FactorCommand& command, const FactorSets& sets, const MatrixData& input,
               FactorOptions& options) {
  const bool symmetric = !command.symmetric.empty();
  options.right = set_for(sets.right, symmetric ? command.symmetric : command.right, input.column_names);
  options.left = symmetric ? options.right : set_for(sets.left, command.left, input.row_names);
}

/// Everything that can be refused before the input is read.
FactorOptions options_of(const FactorCommand& command) {
  if (command.covariance && command.symmetric.empty())
    throw InvalidArgument("--covariance needs --symmetric SPEC: atoms of a covariance are u u^T");
  if (command.covariance && command.loss.loss != "squares")
    throw InvalidArgument(fmt::format("--loss {}: a covariance goes with squares only", command.loss.loss));
  FactorOptions options = command.options;
  options.threads = command.common.threads;
  options.weights = parse_weight_rule(command.weights);
  options.starts = command.tensor.options.starts;
  take_loss(command.loss, options);
  return options;
}

FactorResult compute(const FactorCommand& command, FactorOptions& options, DataMatrixPtr data) {
  options.observer = observe("factor", command.common);
  if (options.loss.kind == Loss::squares) tell_of_negative_entries(options, *data);
  const Index left_size = command.covariance ? data->cols() : data->rows();
  read_known_atoms(command.known, left_size, data->cols(), options);
  read_loss_files(command.loss, *data, options);
  if (command.symmetric.empty()) return factor(data, options);
  if (command.covariance) {
    if (data->rows() < 2)
      throw InvalidInput("a covariance needs at least two rows (samples); the input has one");
    data = gram_matrix(centered(data), 1.0 / double(data->rows() - 1));
  }
  return factor_symmetric(data, options);
}

/// What is said about matrices alone is refused, not passed over.
TensorCommand of_tensor(const FactorCommand& command) {
  const LossInput& loss = command.loss;
  for (const auto& [option, given] : std::initializer_list<std::pair<const char*, bool>>{
           {"--left", command.left != "sphere"},
           {"--right", command.right != "sphere"},
           {"--symmetric", !command.symmetric.empty()},
           {"--covariance", command.covariance},
           {"--transpose", command.text.transpose},
           {"--fix", !command.known.fix.empty()},
           {"--fix-left", !command.known.fix_left.empty()},
           {"--fix-right", !command.known.fix_right.empty()},
           {"--closure", command.options.closure},
           {"--loss", loss.loss != "squares"},
           {"--offsets", loss.offsets},
           {"--svd-tolerance", command.options.svd_tolerance != FactorOptions().svd_tolerance},
           {"--row-scale", !loss.row_scale.empty()},
           {"weights of entries",
            !loss.entry_weights.empty() || !loss.row_weights.empty() || !loss.col_weights.empty()}})
    if (given)
      throw InvalidArgument(fmt::format(
          "{}: for matrices; an array of more modes has a set for each of them, --modes", option));
  return {command.common,      command.options, command.tensor, command.input,
          command.known.start, command.weights, command.out,    command.plot};
}

/// A loss, weights of entries or offsets of an array.
FactorTensorLossCommand of_tensor_loss(const FactorCommand& command) {
  FactorCommand plain = command;
  plain.loss.loss = "squares";
  plain.loss.offsets = false;
  plain.loss.entry_weights.clear();
  of_tensor(plain);  // refuses the rest
  if (command.tensor.given_of_squares())
    throw InvalidArgument("--fix-mode, --starts and --ridge: go with plain squares over full arrays only");
  FactorTensorLossCommand result{command.common,
                                 command.options,
                                 command.input,
                                 command.tensor.modes,
                                 command.tensor.symmetric_modes,
                                 command.known.start,
                                 command.weights,
                                 command.loss.loss,
                                 command.loss.entry_weights,
                                 command.out,
                                 command.plot};
  result.options.offsets = command.loss.offsets;
  return result;
}

int factor_by(const FactorCommand& command) {
  const bool looked_at =
      command.loss.loss != "squares" || command.loss.offsets || !command.loss.entry_weights.empty();
  const bool is_array = !command.tensor.modes.empty() || is_tensor_file(command.input);
  tell_if_alone(is_array, "factor of an array of more modes does");
  if (is_array)
    return looked_at ? run_factor_tensor_loss(of_tensor_loss(command)) : run_tensor(of_tensor(command));
  if (command.tensor.given())
    throw InvalidArgument(
        "--symmetric-modes, --fix-mode and --ridge: for arrays of three and more modes; see --symmetric and "
        "--fix");
  FactorOptions options = options_of(command);
  const FactorSets sets = sets_before_data(command);
  std::vector<std::string> inputs = command.loss.files();
  inputs.insert(inputs.end(), {command.input, command.known.fix_left, command.known.fix_right});
  prepare_outputs({command.out, command.plot}, inputs);

  // Losses and weights look at entries, which whoever owns some rows has not.
  const bool by_products = !looked_at && command.loss.row_weights.empty() &&
                           command.loss.col_weights.empty() && command.loss.row_scale.empty();
  tell_if_alone(!by_products, "factor with a loss, offsets, weights of entries or a row scale does");
  MatrixData input = by_products ? read_shared_data(command.input, command.text, command.common.threads)
                                 : read_input_data(command.input, command.text, command.common.threads);
  take_sets(command, sets, input, options);
  const FactorResult result = compute(command, options, input.matrix);
  if (command.common.dry_run)
    return tell_forecast(command.common, {.shape = {result.model.left().rows(), result.model.right().rows()},
                                          .entries = input.stored,
                                          .rank = options.rank,
                                          .writes = !command.out.empty()});
  if (command.covariance) input.row_names = input.column_names;
  const bool plain = options.loss.kind == Loss::squares;
  if (!command.out.empty()) {
    ModelFile file{result.model,
                   result.trace,
                   input.row_names,
                   input.column_names,
                   {{"command", command_line()},
                    {"left", command.symmetric.empty() ? command.left : command.symmetric},
                    {"right", command.symmetric.empty() ? command.right : command.symmetric},
                    {"weights", command.weights},
                    {"seed", fmt::format("{}", command.options.seed)},
                    {"stop", name(result.stop)},
                    {"relative_error", fmt::format("{}", result.relative_error)}}};
    if (options.closure) file.metadata["closure"] = "true";
    if (!plain) file.metadata["deviance_explained"] = fmt::format("{}", result.deviance_explained());
    file.loss = options.loss;
    file.own_terms = result.own_terms;
    file.row_scale = options.row_scale;
    save_model(command.out, file);
  }
  if (!command.plot.empty()) write_error_plot(command.plot, result.trace, plain);
  // Inexact oracles may miss better atoms: whoever reads the error should know.
  const double factor = std::min(options.left.traits().oracle_factor, options.right.traits().oracle_factor);
  if (command.common.json) {
    Json object = describe(result);
    describe_loss(result, options.loss, object);
    object.set("oracle_factor", factor);
    object.set("input", describe_input(input));
    describe_ranks(input.matrix->threads(), object);
    print_json(object);
  } else {
    print_summary(result, command.out, plain);
    if (factor < 1)
      say("The oracle of these sets is inexact: it reaches at least {:.3g} of the best.\n", factor);
  }
  return result.stop == Stop::interrupted ? interrupted : success;
}

int run(FactorCommand command) {
  command.options.checkpoints =
      checkpoints_of(command.checkpoint, {command.out, command.plot}, {command.input});
  const int status = factor_by(command);
  if (status == interrupted) tell_how_to_resume(command.checkpoint);
  return status;
}

}  // namespace

void add_factor(Command& program) {
  auto command = std::make_shared<FactorCommand>();
  Command sub = program.add_command("factor", "Approximate a matrix by structured rank-one atoms");
  sub.footer(kFactorExamples);
  sub.add_option(
         "INPUT", command->input,
         "Matrix: MatrixMarket (.gz), .npy, .npz (dense or SciPy sparse), CSV, TSV; array of more modes: "
         ".npy, .npz (dense, or coords, data and shape), .tns (.gz); with --modes, CSV of ids and a value")
      .required();
  sub.add_option("-r,--rank", command->options.rank, "Number of atoms").show_default();
  sub.add_option("--left", command->left, "Atom set of the left factors, SPEC below").show_default();
  sub.add_option("--right", command->right, "Atom set of the right factors").show_default();
  sub.add_option("--symmetric", command->symmetric, "Atom set of u in atoms u u^T, for a symmetric matrix");
  add_tensor_options(sub, command->tensor);
  sub.add_flag(
      "--covariance", command->covariance,
      "With --symmetric: rows of INPUT are samples, factor the covariance of its columns (never formed)");
  sub.add_option("--weights", command->weights,
                 "free: refit all (OMP); newest (MP); nonneg; convex[:RADIUS] (Frank-Wolfe); economic")
      .show_default();
  add_loss_options(sub, command->loss);
  add_known_atoms(sub, command->known);
  sub.add_flag(
      "--closure", command->options.closure,
      "Scores of every row are shares, not negative and of sum one: left factors, with the sizes of\n"
      "parts as weights (--fix-right keeps its sizes); --left is nonneg then, squares alone");
  add_pursuit_options(sub, command->options);
  sub.add_option(
         "--svd-tolerance", command->options.svd_tolerance,
         "Of sphere and sphere, which is the truncated SVD: |A^T u - s v| over s for every pair, 1e-14 to "
         "0.1; values are right to the square of it")
      .show_default();
  add_checkpoint_options(sub, command->checkpoint);
  sub.add_option("-o,--out", command->out,
                 "Write the model here (.npz: left, right, weights, trace, metadata)");
  sub.add_option("--plot", command->plot, "Write a picture of the error by rank here (.svg)");
  add_text_options(sub, command->text);
  add_transpose_option(sub, command->text);
  add_dry_run_option(sub, command->common);
  add_common_options(sub, command->common);
  sub.runs([command] { return run(*command); });
}

}  // namespace pursuit::app
