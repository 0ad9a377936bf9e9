// Whatever the bytes, a checkpoint is refused with InvalidInput or the run that goes on from it ends, with
// finite numbers: its state is not trusted. What the checkpoint is of (data, options, version), which the run
// refuses first, is made to fit where it does not, so that the states behind it are reached.

#include "pursuit/base/checkpoints.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/target.hpp"
#include "io/npy.hpp"
#include "io/npz_entries.hpp"
#include "pursuit/algorithms/factor.hpp"
#include "pursuit/algorithms/factor_tensor.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/completion/complete.hpp"
#include "pursuit/completion/structured.hpp"
#include "pursuit/io/checkpoint_file.hpp"

namespace pursuit::fuzz {
namespace {

/// A small run that may go on from a checkpoint.
using Job = std::function<void(const CheckpointsPtr&)>;

constexpr const char* kJob = "job";  // which run a seed is of

Matrix parts(std::uint64_t seed) {
  constexpr Index kRows = 11, kCols = 8;
  Random random(seed);
  return (random.gaussian_matrix(kRows, 2) * random.gaussian_matrix(2, kCols)).cwiseAbs();
}

ObservedEntries grades() {
  constexpr int kRows = 14, kCols = 9;
  Random random(2);
  ObservedEntries entries{kRows, kCols, {}, {}, {}};
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kCols; ++j) {
      if (random.uniform() < 0.4) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(float(1 + std::floor(5 * random.uniform())));
    }
  }
  return entries;
}

void require_finite(const FactorResult& result) {
  require(result.model.weights.allFinite(), "weights are finite");
  for (Index p = 0; p < result.model.factors.panels(); ++p)
    require(result.model.factors.panel(p).allFinite(), "factors are finite");
}

void require_finite(const CompletionResult& result) {
  constexpr int kSome = 4;
  for (int i = -1; i < kSome; ++i) {
    for (int j = -1; j < kSome; ++j) {
      const Prediction prediction = predict(result.model, {i, j});
      require(std::isfinite(prediction.value) && prediction.deviation >= 0, "predictions are finite");
    }
  }
}

Job factoring(FactorOptions options, const Matrix& data) {
  return [options, data](const CheckpointsPtr& checkpoints) {
    FactorOptions kept = options;
    kept.threads = 1;
    kept.checkpoints = checkpoints;
    require_finite(factor(data, kept));
  };
}

void factor_array(const CheckpointsPtr& checkpoints) {
  const Matrix values = parts(3);
  const TensorPtr target = dense_tensor(data_matrix(values, 1), {values.rows(), 2, values.cols() / 2});
  require_finite(factor_tensor(target, {{nonneg(), nonneg(), nonneg()}, {0, 1, 2}},
                               {.rank = 2,
                                .weights = WeightRule::nonneg,
                                .start = Start::leading,
                                .polish = 4,
                                .threads = 1,
                                .checkpoints = checkpoints},
                               {.starts = 2}));
}

Job completing(CompletionOptions options) {
  return [options](const CheckpointsPtr& checkpoints) {
    CompletionOptions kept = options;
    kept.checkpoints = checkpoints;
    require_finite(complete(grades(), kept));
  };
}

Job completing(StructuredOptions options) {
  return [options](const CheckpointsPtr& checkpoints) {
    StructuredOptions kept = options;
    kept.checkpoints = checkpoints;
    require_finite(complete_structured(grades(), kept));
  };
}

const std::vector<Job>& jobs() {
  static const Matrix counts = parts(1).array().floor();
  static const std::vector<Job> all{
      factoring({.rank = 3, .left = nonneg(), .right = nonneg(), .weights = WeightRule::nonneg, .polish = 4},
                parts(1)),
      factoring({.rank = 3, .left = sparse(5), .right = nonneg() + sparse(3), .polish = 2}, parts(1)),
      factoring({.rank = 2,
                 .left = nonneg(),
                 .right = nonneg(),
                 .weights = WeightRule::nonneg,
                 .loss = parse_loss("poisson"),
                 .polish = 3},
                counts),
      factoring({.rank = 2, .left = sparse(5), .loss = parse_loss("huber:1"), .offsets = true, .polish = 3},
                parts(1)),
      factor_array,
      completing(CompletionOptions{.max_rank = 2}),
      completing(CompletionOptions{.max_rank = 2, .validation = 0, .samples = 3, .stored_samples = 2}),
      completing(StructuredOptions{.left = nonneg(), .right = sphere(), .max_rank = 2, .corrections = {1}}),
      completing(
          StructuredOptions{.loss = parse_loss("huber:1"), .offsets = true, .max_rank = 2, .polish = 3}),
  };
  return all;
}

/// What the run of a job says of itself.
const Snapshot& own_run(std::size_t job) {
  static std::map<std::size_t, Snapshot> known;
  if (!known.contains(job)) {
    Snapshot& own = known[job];
    jobs()[job](std::make_shared<Checkpoints>(Checkpoints::Rhythm{.steps = 1}, [&](const Snapshot& snapshot) {
      if (own.empty())
        for (const auto& [name, array] : snapshot)
          if (name.starts_with("run.") && name != "run.seconds") own[name] = array;
    }));
  }
  return known.at(job);
}

std::size_t job_of(const Snapshot& snapshot) {
  const auto found = snapshot.find(kJob);
  if (found == snapshot.end()) return 0;
  const auto* number = std::get_if<std::vector<std::int64_t>>(&found->second.values);
  return number && number->size() == 1 ? std::uint64_t(number->front()) % jobs().size() : 0;
}

void go_on_from(const Snapshot& snapshot, std::size_t job) {
  const auto checkpoints =
      std::make_shared<Checkpoints>(Checkpoints::Rhythm{.steps = 1}, [](const Snapshot&) {});
  checkpoints->resume(snapshot, "state");
  try {
    jobs()[job](checkpoints);
  } catch (const InvalidInput&) {
  }
}

std::string as_archive(const Snapshot& snapshot) {
  std::map<std::string, io::NpyBytes> arrays;
  for (const auto& [name, array] : snapshot) arrays.emplace(name, io::npy_bytes(array));
  std::string bytes;
  io::pack_npz(
      arrays, [&](std::string_view piece) { bytes += piece; }, 1);
  return bytes;
}

}  // namespace

void read_checkpoints(std::string_view bytes) {
  const MemoryFile file(bytes);
  Snapshot snapshot;
  try {
    snapshot = read_checkpoint(file.path());
  } catch (const InvalidInput&) {
    return;
  }
  const std::size_t job = job_of(snapshot);
  const Snapshot& own = own_run(job);
  bool fits = true;
  for (const auto& [name, array] : own) {
    const auto found = snapshot.find(name);
    fits = fits && found != snapshot.end() && found->second.values == array.values;
  }
  go_on_from(snapshot, job);
  if (fits) return;
  for (const auto& [name, array] : own) snapshot[name] = array;
  go_on_from(snapshot, job);
}

std::vector<std::string> checkpoint_seeds() {
  std::vector<std::string> seeds;
  for (std::size_t job = 0; job < jobs().size(); ++job) {
    std::vector<Snapshot> all;
    jobs()[job](std::make_shared<Checkpoints>(Checkpoints::Rhythm{.steps = 1}, [&](const Snapshot& snapshot) {
      all.push_back(snapshot);
      all.back()[kJob] = {{}, std::vector<std::int64_t>{std::int64_t(job)}};
    }));
    require(!all.empty(), "a run keeps its state");
    for (const std::size_t step : {std::size_t(0), all.size() / 2, all.size() - 1})
      seeds.push_back(as_archive(all[step]));
  }
  return seeds;
}

}  // namespace pursuit::fuzz
