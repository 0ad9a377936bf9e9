#include "completion/tensor_models.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/pursue_atoms.hpp"
#include "base/parallel.hpp"
#include "completion/states.hpp"
#include "completion/tensor_posteriors.hpp"
#include "objective/listed_tensor.hpp"

namespace pursuit {
namespace {

constexpr int kModels = 4;
constexpr int kSweepsOfAll = 5;         // with all entries, once the number of atoms is known
constexpr int kAtomsWithoutBetter = 5;  // before no more are tried
constexpr double kWorthwhile = 1e-3;    // of the error of a model: what atoms that are shrunk to nothing gain

std::vector<CompletionStage> mean_path(const std::vector<std::vector<CompletionStage>>& paths) {
  std::vector<CompletionStage> mean;
  for (std::size_t rank = 0;; ++rank) {
    CompletionStage sum{};
    double count = 0;
    sum.validation = 0;
    for (const auto& path : paths) {
      if (path.size() <= rank) continue;
      const CompletionStage& own = path[rank];
      sum = {own.rank, own.sweeps, sum.noise + own.noise, sum.validation + own.validation, own.seconds};
      ++count;
    }
    if (count == 0) return mean;
    sum.noise /= count;
    sum.validation /= count;
    mean.push_back(sum);
  }
}

/// Atom by atom, for as long as these entries are predicted better.
TensorPosteriors grown_model(const TensorEntries& data, const ObservedTensor& held, std::uint64_t seed,
                             const TensorCompletionOptions& o, Run& run,
                             std::vector<CompletionStage>& stages) {
  const int threads = resolve_threads(o.threads), sweeps = std::max(1, o.corrections);
  TensorPosteriors model(data), best = model;
  double least = std::numeric_limits<double>::infinity(), reached = least;
  const double size = data.unit * std::sqrt(data.mean_square);
  Stop stop = Stop::no_gain;
  for (int since = 0; since < kAtomsWithoutBetter;) {
    if (model.rank() == o.max_rank) {
      stop = Stop::rank_reached;
      break;
    }
    model.add_atom(Random(seed).stream(std::uint64_t(model.rank())));
    for (int sweep = 0; sweep < sweeps; ++sweep) model.sweep(data, threads);
    const double error = accuracy({model.atoms(), o.loss, {}}, held).rmse;
    stages.push_back({model.rank(), sweeps, model.noise(), error, run.seconds()});
    ++since;
    if (error < least) {
      least = error;
      best = model;
    }
    if (error < (1 - kWorthwhile) * reached) {
      reached = error;
      since = 0;
    }
    if (!run.go_on({.phase = Moment::Phase::growing,
                    .rank = model.rank(),
                    .target_rank = o.max_rank,
                    .sweep = int(model.rank()),
                    .max_sweeps = int(o.max_rank),
                    .relative_error = size > 0 ? model.noise() / size : 0.0,
                    .validation = error}))
      break;
  }
  run.finish(stop);
  return best;
}

}  // namespace

MeanOfModels mean_of_models(const ObservedTensor& data, const TensorCompletionOptions& o, Run& run) {
  const int threads = resolve_threads(o.threads);
  const TensorEntries all(data);
  std::vector<Expansion> models;
  std::vector<std::vector<CompletionStage>> paths;
  const Kept kept(run.checkpoints(), "models", [&](StateArchive& archive) {
    Index made = Index(models.size());
    archive("made", made, 0, kModels);
    models.resize(std::size_t(made), no_atoms(data.entries.shape));
    paths.resize(std::size_t(made));
    for (Index number = 0; number < made; ++number) {
      StateArchive own = archive.in("model", number);
      visit(own, "atoms", models[std::size_t(number)]);
      visit(own, "path", paths[std::size_t(number)]);
    }
  });
  if (run.checkpoints()) run.checkpoints()->hold_states();
  while (Index(models.size()) < kModels && !run.stopped()) {
    const std::uint64_t seed = o.seed + models.size();
    ObservedTensor rest = data;
    const ObservedTensor held = hold_back(rest, o.validation, kMostEntriesHeldBack, seed);
    std::vector<CompletionStage> path;
    TensorPosteriors model = grown_model(TensorEntries(rest), held, seed, o, run, path);
    for (int sweep = 0; sweep < kSweepsOfAll && !run.stopped(); ++sweep) model.sweep(all, threads);
    models.push_back(model.atoms());
    paths.push_back(std::move(path));
    if (!run.stopped() && run.checkpoints())
      run.checkpoints()->step(run.seconds(), Index(models.size()) == kModels);
  }
  MeanOfModels mean{.atoms = no_atoms(data.entries.shape),
                    .path = mean_path(paths),
                    .weight = all.weight,
                    .squares = all.weight * all.mean_square * all.unit * all.unit};
  for (const auto& path : paths)
    for (const CompletionStage& stage : path) mean.sweeps += stage.sweeps;
  for (const Expansion& model : models)
    for (Index k = 0; k < model.rank(); ++k)
      mean.atoms.append(model.factors.atom(k), model.weights[k] / double(models.size()));
  return mean;
}

}  // namespace pursuit
