#include "completion/implicit_atoms.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "completion/structured_loss.hpp"
#include "objective/weak_zeros.hpp"
#include "pursuit/objective/make_objective.hpp"
#include "pursuit/weights/nonnegative_least_squares.hpp"

namespace pursuit {

std::unique_ptr<Objective> implicit_objective(ObservedEntries seen, const ImplicitPrior& prior, int threads) {
  LossOptions squares;
  if (prior.confidence.kind != Confidence::constant) {
    ObservedEntries weights = seen;
    for (float& value : weights.value) value = float(prior.confidence.weight(value));
    squares.weights = weights_of(weights);
  }
  std::fill(seen.value.begin(), seen.value.end(), 1.0F);
  return std::make_unique<WeakZeros>(make_objective(seen, squares, threads), prior.zeros);
}

namespace {

/// What the left factors of atoms are multiplied with, and the right ones.
struct Shares {
  Vector rows, cols;
};
Shares shares_of(const Expansion& atoms) {
  const double lopsided = std::pow(double(atoms.left().rows()) / double(atoms.right().rows()), 0.25);
  const Vector root = atoms.weights.cwiseAbs().cwiseSqrt();
  return {lopsided * root.cwiseProduct(atoms.weights.cwiseSign()), root / lopsided};
}

ImplicitVectors scaled_vectors(const Matrix& factors, const Vector& shares) {
  FactorMatrix mean = FactorMatrix::Zero(factors.rows(), 1 + factors.cols());
  mean.rightCols(factors.cols()) = (factors * shares.asDiagonal()).cast<float>();
  return ImplicitVectors(mean);
}

/// The best row that is not negative, by its normal equations.
Vector nonnegative_row(const Matrix& cols, const Matrix& everywhere, const ImplicitPrior& prior,
                       const int* index, const float* value, Index count) {
  Matrix gram = prior.zeros * everywhere;
  Vector sums = Vector::Zero(cols.cols());
  double seen = 0;
  for (Index e = 0; e < count; ++e) {
    const double weight = prior.confidence.weight(value[e]);
    const Vector col = cols.row(index[e]).transpose();
    gram += weight * col * col.transpose();
    sums += weight * col;
    seen += weight;
  }
  gram.diagonal().array() += prior.ridge * (seen + prior.zeros * double(cols.rows()));
  return nonnegative_least_squares(gram, sums.transpose()).row(0).transpose();
}

}  // namespace

ImplicitPair vectors_of(const Expansion& atoms) {
  const Shares shares = shares_of(atoms);
  return {scaled_vectors(atoms.left(), shares.rows), scaled_vectors(atoms.right(), shares.cols)};
}

Matrix implicit_atom_rows(const CompletionModel& model, const GroupedEntries& entries, int threads) {
  Expansion atoms = model.atoms;
  atoms.weights /= model.scale;  // with which zeros and ones are fitted at once
  const Shares shares = shares_of(atoms);
  const Index rank = atoms.rank();
  Matrix result(entries.size(), rank);
  if ((atoms.left().array() >= 0).all() && (atoms.weights.array() >= 0).all()) {
    const Matrix cols = atoms.right() * shares.cols.asDiagonal();
    const Matrix everywhere = cols.transpose() * cols;
    parallel_for(entries.size(), threads, [&](Index i) {
      const auto first = std::size_t(entries.start[std::size_t(i)]);
      result.row(i) = nonnegative_row(cols, everywhere, model.implicit, entries.index.data() + first,
                                      entries.value.data() + first, entries.count(i))
                          .transpose();
    });
  } else {
    ImplicitVectors rows(entries.size(), rank);
    const ImplicitEntries seen(entries, model.implicit.confidence);
    update_implicit_rows(seen, tasks_of(seen), scaled_vectors(atoms.right(), shares.cols), model.implicit,
                         threads, rows);
    result = rows.matrix(rank).rightCols(rank).cast<double>();
  }
  result *= (model.scale * shares.cols).asDiagonal();  // times right factors as they are
  const AverageMember average = average_row(model);
  for (Index i = 0; i < entries.size(); ++i)
    if (entries.count(i) == 0) result.row(i) = average.mean.transpose();
  return result;
}

}  // namespace pursuit
