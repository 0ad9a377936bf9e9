#include <iostream>
#include <pursuit/pursuit/factor.hpp>

int main() {
  const Eigen::MatrixXd Y = Eigen::MatrixXd::Random(30, 20).cwiseAbs();
  const auto result = pursuit::factor(Y, {.rank = 3, .left = pursuit::nonneg(), .right = pursuit::sparse(5)});
  std::cout << "rank " << result.model.left.cols() << ", relative error " << result.relative_error << '\n';
  return result.model.left.cols() == 3 && result.relative_error < 1 ? 0 : 1;
}
