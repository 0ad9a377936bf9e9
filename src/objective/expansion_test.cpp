#include "pursuit/objective/expansion.hpp"

#include "test_support.hpp"

namespace pursuit {
namespace {

TEST(Model, IsTheSumOfItsAtoms) {
  Model model;
  EXPECT_EQ(model.rank(), 0);
  const Matrix U = gaussian(4, 3, 1), V = gaussian(5, 3, 2);
  Matrix sum = Matrix::Zero(4, 5);
  for (Index i = 0; i < 3; ++i) {
    model.append(U.col(i), V.col(i), double(i) - 1.5);
    sum += (double(i) - 1.5) * U.col(i) * V.col(i).transpose();
  }
  EXPECT_EQ(model.rank(), 3);
  EXPECT_EQ(model.left, U);
  EXPECT_EQ(model.right, V);
  EXPECT_LT(max_difference(model.dense(), sum), 1e-14);
  EXPECT_LT(max_difference(model.scaled_left() * V.transpose(), sum), 1e-14);
}

TEST(Model, KeepsTheAtomsItIsTold) {
  Model model{gaussian(4, 3, 1), gaussian(5, 3, 2), Vector::LinSpaced(3, 1, 3)};
  const Model before = model;
  model.keep({0, 2});
  EXPECT_EQ(model.rank(), 2);
  EXPECT_EQ(model.left.col(1), before.left.col(2));
  EXPECT_EQ(model.right.col(0), before.right.col(0));
  EXPECT_EQ(model.weights, (Vector(2) << 1, 3).finished());
  model.keep({});
  EXPECT_EQ(model.rank(), 0);
  EXPECT_EQ(model.left.rows(), 4);
  EXPECT_EQ(model.right.rows(), 5);
}

}  // namespace
}  // namespace pursuit
