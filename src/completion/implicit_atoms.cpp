#include "completion/implicit_atoms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "completion/structured_loss.hpp"
#include "objective/weak_zeros.hpp"
#include "pursuit/objective/make_objective.hpp"

namespace pursuit {

std::unique_ptr<Objective> implicit_objective(ObservedEntries seen, const ImplicitPrior& prior, int threads,
                                              RankTeam* team) {
  LossOptions squares;
  if (prior.confidence.kind != Confidence::constant) {
    ObservedEntries weights = seen;
    for (float& value : weights.value) value = float(prior.confidence.weight(value));
    squares.weights = weights_of(weights);
  }
  std::fill(seen.value.begin(), seen.value.end(), 1.0F);
  return std::make_unique<WeakZeros>(make_objective(seen, squares, threads, team), prior.zeros);
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

}  // namespace

bool moves_at_once(const ImplicitSets& sets) {
  const auto free = [](const Atoms& atoms) {
    return !atoms.varies() && atoms.of(0).traits().coordinatewise();
  };
  return free(sets.left) && free(sets.right);
}

ImplicitSigns signs_of(const ImplicitSets& sets) {
  return {!sets.left.of(0).traits().symmetric, !sets.right.of(0).traits().symmetric};
}

Expansion atoms_of(const ImplicitFactors& factors) {
  const Index rank = factors.atoms();
  Matrix left = factors.rows().matrix(rank).rightCols(rank).cast<double>(),
         right = factors.cols().matrix(rank).rightCols(rank).cast<double>();
  const Vector left_norms = left.colwise().norm(), right_norms = right.colwise().norm();
  std::vector<Index> used;
  for (Index k = 0; k < rank; ++k)
    if (left_norms[k] > 0 && right_norms[k] > 0) used.push_back(k);
  left = (left * left_norms.cwiseMax(std::numeric_limits<double>::min()).cwiseInverse().asDiagonal())(
             Eigen::all, used)
             .eval();
  right = (right * right_norms.cwiseMax(std::numeric_limits<double>::min()).cwiseInverse().asDiagonal())(
              Eigen::all, used)
              .eval();
  return {std::move(left), std::move(right), Vector(left_norms.cwiseProduct(right_norms)(used))};
}

ImplicitPair vectors_of(const Expansion& atoms) {
  const Shares shares = shares_of(atoms);
  return {scaled_vectors(atoms.left(), shares.rows), scaled_vectors(atoms.right(), shares.cols)};
}

Matrix implicit_atom_rows(const CompletionModel& model, const GroupedEntries& entries, int threads) {
  Expansion atoms = model.atoms;
  atoms.weights /= model.scale;  // with which zeros and ones are fitted at once
  const Shares shares = shares_of(atoms);
  const Index rank = atoms.rank();
  ImplicitVectors rows(entries.size(), rank);
  const ImplicitEntries seen(entries, model.implicit.confidence);
  update_implicit_rows(seen, tasks_of(seen), scaled_vectors(atoms.right(), shares.cols), model.implicit,
                       model.rows.nonnegative, threads, rows);
  Matrix result = rows.matrix(rank).rightCols(rank).cast<double>();
  result *= (model.scale * shares.cols).asDiagonal();  // times right factors as they are
  const AverageMember average = average_row(model);
  for (Index i = 0; i < entries.size(); ++i)
    if (entries.count(i) == 0) result.row(i) = average.mean.transpose();
  return result;
}

}  // namespace pursuit
