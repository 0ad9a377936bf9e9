#include "completion/implicit_models.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/chunks.hpp"
#include "completion/implicit_atoms.hpp"
#include "completion/structured_loss.hpp"
#include "linalg/products.hpp"

namespace pursuit {
namespace {

/// Square matrix of inner products of the factors of all members.
Matrix products_of(const ImplicitVectors& side, Index atoms) {
  return gram_of(side.matrix(atoms).rightCols(atoms).cast<double>());
}

/// Of ones where something was seen and zeros elsewhere.
double mean_squared_error(const ImplicitVectors& rows, const ImplicitVectors& cols, Index atoms, double scale,
                          const GroupedEntries& seen, int threads) {
  const Index width = rows.width;
  const double fitted = chunked_sum<double>(Chunks(seen.size()), threads, [&](Index first, Index count) {
    double sum = 0;
    for (Index i = first; i < first + count; ++i)
      for (std::int64_t e = seen.start[i]; e < seen.start[i + 1]; ++e)
        for (Index c = 1; c < width; ++c) sum += double(rows.of(i)[c]) * cols.of(seen.index[e])[c];
    return sum;
  });
  const double all = products_of(rows, atoms).cwiseProduct(products_of(cols, atoms)).sum();
  const double error = double(seen.index.size()) - 2 * scale * fitted + scale * scale * all;
  return std::max(error, 0.0) / (double(rows.size()) * double(cols.size()));
}

/// A member without entries is like the average of the others.
CompletionSide side_of(const ImplicitVectors& vectors, Index atoms, const GroupedEntries& entries) {
  CompletionSide side = plain_side(vectors.size());
  side.mean = vectors.matrix(atoms);
  side.variance = FactorMatrix::Zero(vectors.size(), 1 + atoms);
  Vector mean = Vector::Zero(1 + atoms), squares = mean;
  double count = 0;
  for (Index i = 0; i < side.size(); ++i) {
    if (entries.count(i) == 0) continue;
    const Vector own = side.mean.row(i).transpose().cast<double>();
    mean += own;
    squares += own.cwiseAbs2();
    ++count;
  }
  mean /= count;
  side.intercept = mean.cast<float>();
  side.prior_variance = (squares / count - mean.cwiseAbs2()).cwiseMax(0).cast<float>();
  for (Index i = 0; i < side.size(); ++i)
    if (entries.count(i) == 0) {
      side.mean.row(i) = side.intercept.transpose();
      side.variance.row(i) = side.prior_variance.transpose();
    }
  return side;
}

/// Without vectors and atoms.
CompletionModel empty_model(const ObservedMatrix& seen, const ImplicitPrior& prior) {
  CompletionModel model;
  model.implicit = prior;
  // What was seen is fitted to 1 and to 0 at once, by its own weight and that of zeros: the scale makes
  // it 1.
  double weight = 1;
  if (prior.confidence.kind != Confidence::constant) {
    weight = 0;
    for (const float value : seen.by_row().value) weight += prior.confidence.weight(value);
    weight /= double(seen.size());
  }
  model.scale = (weight + prior.zeros) / weight;
  model.lowest = -std::numeric_limits<double>::infinity();
  model.highest = std::numeric_limits<double>::infinity();
  return model;
}

void note_noise(const ImplicitVectors& rows, const ImplicitVectors& cols, Index atoms,
                const ObservedMatrix& seen, int threads, CompletionModel& model) {
  model.noise_variance = mean_squared_error(rows, cols, atoms, model.scale, seen.by_row(), threads) /
                         (model.scale * model.scale);
}

}  // namespace

CompletionModel implicit_model(const ImplicitFactors& factors, const ObservedMatrix& seen,
                               const ImplicitPrior& prior, int threads) {
  CompletionModel model = empty_model(seen, prior);
  model.rows = side_of(factors.rows(), factors.atoms(), seen.by_row());
  model.cols = side_of(factors.cols(), factors.atoms(), seen.by_col());
  note_noise(factors.rows(), factors.cols(), factors.atoms(), seen, threads, model);
  return model;
}

CompletionModel implicit_model(Expansion atoms, const ImplicitSets& sets, const ObservedMatrix& seen,
                               const ImplicitPrior& prior, int threads) {
  CompletionModel model = empty_model(seen, prior);
  model.rows = plain_side(seen.rows());
  model.cols = plain_side(seen.cols());
  if (atoms.rank() == 0) return model;
  const ImplicitPair vectors = vectors_of(atoms);
  note_noise(vectors.rows, vectors.cols, atoms.rank(), seen, threads, model);
  atoms.weights *= model.scale;
  model.atoms = std::move(atoms);
  note_signs(sets.weights, sets.left, sets.right, model);
  return model;
}

}  // namespace pursuit
