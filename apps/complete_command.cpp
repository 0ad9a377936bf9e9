#include "apps/complete_command.hpp"

#include <fmt/format.h>

#include "apps/completion.hpp"
#include "apps/rehearsal.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/catalogue/catalogue.hpp"

namespace pursuit::app {
namespace {

constexpr const char* kCompleteExamples =
    R"(What RATINGS does not hold is unknown, never zero. It may be MovieLens u.data, ratings.dat or ratings.csv, lines of
row, column and value, MatrixMarket, SciPy .npz (stored is observed) or .npy (NaN is unknown); ids may be any text.

Without options nothing needs tuning: offsets, rank, noise and all variances are estimated from the data.

Examples:
  pursuit complete ratings.dat --out model.npz
  pursuit complete ratings.csv --holdout 0.1 --effort high --json
  pursuit complete u1.base --test u1.test
  pursuit complete ratings.csv --row-features users.csv --col-features genres.csv --out model.npz
  pursuit complete new.csv --update model.npz --out newer.npz
  pursuit complete ratings.csv --time --out model.npz
  pursuit complete clicks.csv --implicit --out model.npz
  pursuit complete plays.csv --implicit --confidence log:10:1 --holdout 0.1
  pursuit complete clicks.csv --implicit --left nonneg --right nonneg --weights nonneg --out parts.npz
  pursuit complete answers.csv --loss bernoulli --holdout 0.1 --out model.npz
  pursuit complete counts.csv --left nonneg --right nonneg+sparse:0.2 --out parts.npz
  pursuit complete stars.csv --left sphere --right sphere --offsets --loss ordinal --holdout 0.1
  pursuit complete ratings.dat --preset gmpr --rank 20
  pursuit complete T.npy --modes nonneg,nonneg,nonneg --weights nonneg --holdout 0.1 --out model.npz
  pursuit complete trips.csv --modes nonneg,nonneg,nonneg --weights nonneg --out model.npz
  pursuit predict model.npz pairs.csv
  pursuit recommend model.npz --row 42 --top 10)";

}  // namespace

bool structured(const CompleteCommand& c) {
  return !c.preset.empty() || !c.left.empty() || !c.right.empty() || !c.symmetric.empty() ||
         (c.regularize != "chosen" && c.regularize != "auto");
}

bool has_times(const CompleteCommand& c) {
  const bool named =
      c.columns.size() == 4 && c.update.empty() && !c.implicit && !structured(c) && c.loss == "squares";
  return c.time || named;
}

void check(const CompleteCommand& c) {
  const auto refuse = [](const std::string& what) { throw InvalidArgument(what); };
  if (!c.test.empty() && c.holdout > 0) refuse("--test and --holdout: choose one");
  if (!c.entry_weights.empty() && !c.weight_column.empty())
    refuse("--entry-weights and --weight-column: choose one");
  if (!c.weight_column.empty() && !c.update.empty())
    refuse(
        "--weight-column: the entries of the model that is updated have none; give all of them with "
        "--entry-weights");
  if (!(c.holdout >= 0 && c.holdout < 1))
    refuse(fmt::format("--holdout {}: must be at least 0 and below 1", c.holdout));
  if (!c.implicit && !c.confidence.empty())
    refuse("--confidence: how much entries of implicit feedback count; it goes with --implicit");
  if (c.implicit && (!c.preset.empty() || !c.symmetric.empty() || c.regularize != "chosen" ||
                     c.loss != "squares" || !c.entry_weights.empty() || !c.weight_column.empty()))
    refuse(
        "--implicit: what was not seen counts as a weak zero of squares, and how weak is chosen with the "
        "ridge; it goes with --left and --right, but not with --symmetric, presets, --regularize, --loss, "
        "--entry-weights or --weight-column (--confidence gives weights)");
  if (c.implicit && structured(c) && (c.offsets || c.no_offsets || !c.corrections.empty()))
    refuse(
        "--implicit: its atoms have no offsets beside them and their own number of corrections; leave out "
        "--offsets, --no-offsets and --corrections");
  if (c.implicit && (c.effort == "high" || c.samples >= 0 || c.no_pattern || c.clip != "auto"))
    refuse(
        "--implicit: its model has no draws, no pattern beside the entries and no range; leave out --effort "
        "high, "
        "--samples, --no-pattern and --clip");
  if (c.time && (c.implicit || structured(c) || c.loss != "squares"))
    refuse(
        "--time: offsets drift in the self-tuned model of squares; it does not go with --implicit, --loss, "
        "atom sets, presets or --regularize");
  if (c.time && !c.update.empty())
    refuse("--time: a model that is updated keeps the drift it has; times are for a new one");
  if (!c.confidence.empty() && !c.update.empty())
    refuse("--confidence: a model that is updated keeps the one it was made with");
  if (!c.preset.empty() && !(c.left.empty() && c.right.empty() && c.symmetric.empty()))
    refuse("--preset has its own atom sets: leave out --left, --right and --symmetric");
  if (!c.symmetric.empty() && !(c.left.empty() && c.right.empty()))
    refuse("--symmetric SPEC stands for both sides: leave out --left and --right");
  if (c.offsets && c.no_offsets) refuse("--offsets and --no-offsets: choose one");
  if (!structured(c)) {
    if (c.offsets || c.no_offsets)
      refuse(
          fmt::format("{}: the self-tuned model has offsets anyway; the option is for atom sets and presets",
                      c.offsets ? "--offsets" : "--no-offsets"));
    if (!c.corrections.empty())
      refuse("--corrections is for atom sets and presets (--left, --right, --preset)");
    return;
  }
  if (c.effort == "high" || c.samples >= 0)
    refuse(
        "--effort high and --samples average the self-tuned model; they do not go with atom sets, presets or "
        "--regularize");
  if (!c.row_features.empty() || !c.col_features.empty())
    refuse(
        "--row-features and --col-features inform the self-tuned model; they do not go with atom sets, "
        "presets or --regularize");
  if (!c.update.empty())
    refuse("--update continues a self-tuned model; it does not go with atom sets, presets or --regularize");
}

void add_options(Command& command, CompleteCommand& c) {
  command.footer(kCompleteExamples);
  command
      .add_option("RATINGS", c.input,
                  "Observed entries: row, column, value; of several files a folder or 'part-*.csv'")
      .required();
  command.add_option("--test", c.test, "Entries to judge by, in a file of their own");
  command.add_option("--holdout", c.holdout, "Or judge by this random share of RATINGS");
  command
      .add_option(
          "--loss", c.loss,
          "What the numbers are: squares (any), or bernoulli (0 and 1; predictions are probabilities);\n"
          "with atom sets any loss of `pursuit factor --help`")
      .show_default();
  command.add_option(
      "--entry-weights", c.entry_weights,
      "How often each entry counts: the entries of RATINGS with weights in the place of values");
  command.add_option("--weight-column", c.weight_column,
                     "Or a column of RATINGS, by its name in the header or its number from 1");
  command.add_flag(
      "--implicit", c.implicit,
      "RATINGS are clicks, purchases, plays: what is not there counts as a weak no, and how weak is\n"
      "chosen by entries held back, like all else. What is predicted is an order, best first. Lines of row "
      "and\n"
      "column alone will do, and may come again");
  command.add_flag(
      "--time", c.time,
      "Offsets of rows and columns may drift: the times of RATINGS are in the column called time or the\n"
      "like, in the fourth without a header, or in the fourth of --columns, which has the same effect.\n"
      "The last entries are held back to see whether it pays; where it does not, nothing drifts");
  command.add_option("--confidence", c.confidence,
                     "With --implicit: an entry counts 1 + A VALUE (linear:A) or 1 + A log(1 + VALUE / B)\n"
                     "(log:A:B); by default once, whatever its value");
  command
      .add_option(
          "--effort", c.effort,
          "default, or high: average over draws from the posterior, about a minute for a\nmillion entries")
      .one_of({"default", "normal", "high"})
      .show_default();
  command
      .add_option("--samples", c.samples,
                  "Number of draws to average over (high: 200 to 800, by the number of entries)")
      .between(0, kMostSamples);
  command
      .add_option(
          "-r,--rank", c.rank,
          "At most so many atoms beside the offsets (31; with atom sets 20, sparse ones up to 80, presets\n"
          "30; with --implicit 63, nonneg 127, other sets 31); of an array\n"
          "exactly so many, where it is not to be chosen")
      .not_negative();
  command
      .add_option("--validation", c.validation,
                  "Share of the entries that decides about rank and corrections")
      .show_default();
  command.add_flag("--no-pattern", c.no_pattern, "Do not learn from which entries were observed");
  command.add_option("--row-features", c.row_features,
                     "What is known about rows: a table with a header and ids in its first column, or lines "
                     "of\nid, feature, value (with the header id,feature,value or none)");
  command.add_option("--col-features", c.col_features, "The same about columns");
  command.add_option("--clip", c.clip, "Range of predictions: LOW:HIGH, auto (as observed) or none")
      .show_default();
  add_duplicates_option(command, c.duplicates);
  command.add_option(
      "--update", c.update,
      "Continue this model with RATINGS as new entries, rows and columns; features and effort are\n"
      "those of the model");
  add_columns_option(command, c.columns);
  command.add_option("--preset", c.preset, "A column of the paper's table: or1mp, gmpr, gmpr-sparse")
      .one_of({"or1mp", "gmpr", "gmpr-sparse"});
  command.add_option(
      "--modes", c.modes,
      "Of an array of three and more modes (.npy with NaN for what is unknown, .npz, .tns, CSV of ids\n"
      "and a value): its atom sets, one for each mode, separated by commas");
  command.add_option("--symmetric-modes", c.symmetric_modes,
                     "With --modes: modes that share their factors, such as 0,1");
  command.add_option("--left", c.left, "Atom set of the left factors (see `pursuit factor --help`)");
  command.add_option("--right", c.right, "Atom set of the right factors");
  command.add_option("--symmetric", c.symmetric,
                     "Atom set of u in atoms u u^T; rows and columns are the same ids");
  command
      .add_option("--weights", c.weights, "With atom sets: free, newest, nonneg, convex[:RADIUS], economic")
      .show_default();
  command
      .add_option(
          "--regularize", c.regularize,
          "With atom sets: auto (self-tuned; with a loss or weights the best of several LAMBDA), none,\n"
          "LAMBDA, LAMBDA:count (times the entries of a row), or chosen: auto with offsets or without, a\n"
          "ridge that counts entries, or offsets and a plain one, whichever predicts entries held back\n"
          "best; with --offsets, --no-offsets, --corrections, a loss or weights it is auto")
      .show_default();
  command.add_flag("--offsets", c.offsets, "With atom sets: mean, row and column offsets first");
  command.add_flag("--no-offsets", c.no_offsets, "With atom sets: none, whatever would predict better");
  command
      .add_option(
          "--corrections", c.corrections,
          "With atom sets: sweeps after every atom; of several numbers the best (3; with\n--regularize "
          "none until they settle)")
      .separated_by(',');
  command
      .add_option("--tolerance", c.tolerance,
                  "With --regularize none: sweeps settle when one lowers the squared error by no more than "
                  "this\nshare")
      .show_default();
  command.add_option("--max-sweeps", c.max_sweeps, "At most so many sweeps to settle in")
      .between(1, 1'000'000)
      .show_default();
  command.add_option("--seed", c.seed, "Seed of everything random").show_default();
  command.add_option("--time-limit", c.time_limit, "Stop after so many seconds and keep the result so far");
  add_checkpoint_options(command, c.checkpoint);
  command.add_option("-o,--out", c.out, "Write the model here (.npz)");
  command.add_flag(
      "--no-store-entries", c.no_store_entries,
      "Leave the entries out of the model file: smaller, and nobody's ratings are passed on;\nsuch a "
      "model cannot be updated and knows nothing of what was seen");
  command.add_option("--plot", c.plot, "Write a picture of the validation error by rank here (.svg)");
  add_dry_run_option(command, c.common);
  add_common_options(command, c.common);
}

}  // namespace pursuit::app
