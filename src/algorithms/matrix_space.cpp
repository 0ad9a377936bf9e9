#include "algorithms/matrix_space.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace pursuit {

MatrixSpace::MatrixSpace(const FrobeniusObjective& f, AtomSets sets, WeightRule weights, OracleOptions oracle,
                         CorrectionOptions correction, Model start)
    : f_(f),
      sets_(std::move(sets)),
      weights_(weights),
      oracle_(oracle),
      correction_(std::move(correction)),
      iterate_{std::move(start), {}, 0} {
  oracle_.sign = correction_.sign = weights.allows_negative() ? Sign::free : Sign::nonnegative;
  correction_.fixed_weights = weights.kind == WeightRule::convex;
  oracle_.free_scale = !correction_.fixed_weights;
  Model& model = iterate_.model;
  model.symmetric = sets_.symmetric;
  if (model.rank() == 0) {
    model.left.resize(f.rows(), 0);
    model.right.resize(f.cols(), 0);
  } else {
    Matrix image;
    f.data().apply(model.right, image);
    iterate_.target_products = model.left.cwiseProduct(image).colwise().sum().transpose();
    // Rules that never look back at older weights need good ones to start from.
    const bool looks_back = weights.kind != WeightRule::newest && weights.kind != WeightRule::economic;
    WeightSystem fitted(looks_back ? weights : WeightRule(WeightRule::free), f.target_norm_squared());
    fitted.reset(f.gram(model), iterate_.target_products, model.weights);
    fitted.solve();
    set_weights(fitted.weights());
    drop_weightless();
  }
}

Found<RankOneAtom> MatrixSpace::find_atom() {
  const auto residual = f_.residual(iterate_.model);
  ++oracle_.seed;  // fresh random starts for every atom
  const AtomSet &left = sets_.left.of(model().rank()), &right = sets_.right.of(model().rank());
  RankOneAtom atom = sets_.symmetric ? find_symmetric(*residual, left, oracle_)
                                     : find_rank_one(*residual, left, right, oracle_);
  Found<RankOneAtom> found{
      {}, atom.value, atom.u.squaredNorm() * atom.v.squaredNorm(), atom.spread, atom.iterations};
  found.atom = std::move(atom);
  return found;
}

void MatrixSpace::append(const RankOneAtom& atom) {
  const double with_model = inner_products(atom).dot(iterate_.model.weights);
  const Index r = iterate_.model.rank();
  iterate_.target_products.conservativeResize(r + 1);
  iterate_.target_products[r] = atom.value + with_model;
  iterate_.model.append(atom.u, atom.v, 0);
}

WeightSystem MatrixSpace::weight_system() const {
  WeightSystem system(weights_, target_norm_squared());
  if (model().rank() > 0) system.reset(f_.gram(model()), iterate_.target_products, model().weights);
  return system;
}

void MatrixSpace::drop_weightless() {
  const Index fixed = std::max(correction_.fixed_left, correction_.fixed_right);
  const std::vector<Index> staying =
      sets_.staying(model().rank(), [&](Index i) { return i < fixed || model().weights[i] != 0; });
  if (Index(staying.size()) == model().rank()) return;
  iterate_.model.keep(staying);
  iterate_.target_products = Vector(iterate_.target_products(staying));
}

int MatrixSpace::correct(int sweeps, double tolerance, const std::function<bool(int, double)>& watch,
                         WeightSystem& system) {
  CorrectionOptions options = correction_;
  options.sweeps = sweeps;
  options.tolerance = tolerance;
  options.keep_going = watch;
  options.oracle = oracle_;
  iterate_.objective = system.objective();
  const CorrectionOutcome outcome = sets_.symmetric
                                        ? correct_by_oracle(f_, sets_.left, options, iterate_)
                                        : correct_by_sweeps(f_, sets_.left, sets_.right, options, iterate_);
  drop_weightless();
  system.reset(f_.gram(model()), iterate_.target_products, model().weights);
  system.solve();
  set_weights(system.weights());
  return outcome.sweeps;
}

}  // namespace pursuit
