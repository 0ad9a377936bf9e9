#include "pursuit/linalg/linear_operator.hpp"

namespace pursuit {

void LinearOperator::apply_gram(const Matrix& V, Matrix& out) const {
  Matrix middle;
  apply(V, middle);
  apply_transposed(middle, out);
}

}  // namespace pursuit
