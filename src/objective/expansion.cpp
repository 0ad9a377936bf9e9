#include "pursuit/objective/expansion.hpp"

namespace pursuit {

void Model::append(ConstVectorRef u, ConstVectorRef v, double weight) {
  const Index r = rank();
  left.conservativeResize(u.size(), r + 1);
  right.conservativeResize(v.size(), r + 1);
  weights.conservativeResize(r + 1);
  left.col(r) = u;
  right.col(r) = v;
  weights[r] = weight;
}

void Model::keep(const std::vector<Index>& atoms) {
  left = Matrix(left(Eigen::all, atoms));
  right = Matrix(right(Eigen::all, atoms));
  weights = Vector(weights(atoms));
}

}  // namespace pursuit
