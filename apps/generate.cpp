// Made-up data to try and to measure with.

#include <fmt/format.h>

#include <memory>

#include "apps/console.hpp"
#include "apps/output.hpp"
#include "apps/session.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/data/generate_ratings.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit::app {
namespace {

constexpr const char* kGenerateExamples =
    R"(Half stars from 0.5 to 5 with a few very active rows and popular columns, as in MovieLens.

Examples:
  pursuit generate ratings --rows 71567 --cols 10681 --entries 10000054 --seed 1 --out ratings.dat
  pursuit generate ratings --rows 500 --cols 300 --entries 10000 --noise 0.5 --out small.csv)";

int run_ratings(const RatingsShape& shape, const std::string& out, bool json) {
  require_ratings_extension(out);
  prepare_outputs({out});
  const Timer timer;
  const ObservedEntries entries = generate_ratings(shape);
  write_ratings(out, entries);
  if (json) {
    print_json({{"output", out},
                {"rows", entries.rows},
                {"columns", entries.cols},
                {"entries", entries.size()},
                {"seconds", timer.seconds()},
                {"peak_memory_bytes", peak_memory_bytes()}});
    return success;
  }
  say("{}: {} ratings, {} rows x {} columns, {:.3g}% observed\n", out, entries.size(), entries.rows,
      entries.cols, 100 * double(entries.size()) / double(entries.rows) / double(entries.cols));
  return success;
}

}  // namespace

void add_generate(Command& program) {
  Command sub = program.add_command("generate", "Write made-up data, to try and to measure with");
  sub.require_one_command();
  sub.footer("Example:\n  pursuit generate ratings --rows 500 --cols 300 --entries 10000 --out small.csv");
  Command ratings = sub.add_command("ratings", "Observed entries of a matrix, for completion");
  auto shape = std::make_shared<RatingsShape>();
  auto out = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  ratings.footer(kGenerateExamples);
  ratings.add_option("--rows", shape->rows, "Number of rows (users)").required();
  ratings.add_option("--cols", shape->cols, "Number of columns (items)").required();
  ratings.add_option("--entries", shape->entries, "Number of ratings").required();
  ratings.add_option("--seed", shape->seed, "The same seed gives the same file").show_default();
  ratings.add_option("--rank", shape->rank, "Rank of the tastes behind the ratings").show_default();
  ratings.add_option("--noise", shape->noise, "Standard deviation of the noise").show_default();
  ratings.add_option("-o,--out", *out, "File to write: .dat (row::col::value::0) or .csv").required();
  add_json_option(ratings, *json);
  ratings.runs([shape, out, json] { return run_ratings(*shape, *out, *json); });
}

}  // namespace pursuit::app
