#include "pursuit/algorithms/degeneracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/decompositions.hpp"

namespace pursuit {

Degeneracy degeneracy_of(const Expansion& model) {
  Degeneracy result;
  const Index rank = model.rank();
  Matrix cosines = Matrix::Ones(rank, rank);
  Vector sizes = model.weights;  // signed
  for (Index mode = 0; mode < model.factors.modes(); ++mode) {
    const Panel unit = model.factors[mode].colwise().normalized();
    cosines = cosines.cwiseProduct(unit.transpose() * unit);
    sizes = sizes.cwiseProduct(model.factors[mode].colwise().norm().transpose());
  }
  std::vector<Index> there;
  for (Index k = 0; k < rank; ++k)
    if (sizes[k] != 0) there.push_back(k);
  if (there.size() < 2) return result;
  double alike = -1, cancelling = 0;
  Degeneracy worst_alike, worst_cancelling;
  for (const Index i : there)
    for (const Index j : there) {
      if (j <= i) continue;
      const double congruence = cosines(i, j) * (sizes[i] < 0 ? -1.0 : 1.0) * (sizes[j] < 0 ? -1.0 : 1.0);
      if (std::abs(congruence) > alike) {
        alike = std::abs(congruence);
        worst_alike = {.congruence = congruence, .first = i, .second = j};
      }
      if (congruence < cancelling) {
        cancelling = congruence;
        worst_cancelling = {.congruence = congruence, .first = i, .second = j};
      }
    }
  constexpr double kNoticeable = -0.7;
  result = cancelling < kNoticeable ? worst_cancelling : worst_alike;
  const Matrix gram = cosines(there, there);
  const Vector values = symmetric_eigen(gram).values;
  const double least = values.minCoeff();
  result.condition =
      least > 0 ? std::sqrt(values.maxCoeff() / least) : std::numeric_limits<double>::infinity();
  const Vector own = sizes(there);
  const double together = own.dot(gram * own);
  result.swelling = together > 0 ? own.norm() / std::sqrt(together) : std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace pursuit
