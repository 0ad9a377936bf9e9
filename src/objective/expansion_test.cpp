#include "pursuit/objective/expansion.hpp"

#include "test_support.hpp"

namespace pursuit {
namespace {

TEST(Expansion, IsTheSumOfItsAtoms) {
  Expansion model;
  EXPECT_EQ(model.rank(), 0);
  const Matrix U = gaussian(4, 3, 1), V = gaussian(5, 3, 2);
  Matrix sum = Matrix::Zero(4, 5);
  for (Index i = 0; i < 3; ++i) {
    model.append(Factors(U.col(i), V.col(i)), double(i) - 1.5);
    sum += (double(i) - 1.5) * U.col(i) * V.col(i).transpose();
  }
  EXPECT_EQ(model.rank(), 3);
  EXPECT_EQ(model.left(), U);
  EXPECT_EQ(model.right(), V);
  EXPECT_LT(max_difference(model.dense(), sum), 1e-14);
  EXPECT_LT(max_difference(model.scaled_left() * V.transpose(), sum), 1e-14);
}

TEST(Expansion, KeepsTheAtomsItIsTold) {
  Expansion model{gaussian(4, 3, 1), gaussian(5, 3, 2), Vector::LinSpaced(3, 1, 3)};
  const Expansion before = model;
  model.keep({0, 2});
  EXPECT_EQ(model.rank(), 2);
  EXPECT_EQ(model.left().col(1), before.left().col(2));
  EXPECT_EQ(model.right().col(0), before.right().col(0));
  EXPECT_EQ(model.weights, (Vector(2) << 1, 3).finished());
  model.keep({});
  EXPECT_EQ(model.rank(), 0);
  EXPECT_EQ(model.left().rows(), 4);
  EXPECT_EQ(model.right().rows(), 5);
}

TEST(Expansion, SymmetricAtomsHaveOnePanelForBothModes) {
  Expansion model(gaussian(4, 2, 1), Matrix(), Vector::Ones(2), /*symmetric=*/true);
  EXPECT_TRUE(model.symmetric());
  EXPECT_EQ(&model.left(), &model.right());
  model.append(Factors::symmetric(Vector::Unit(4, 0)), 2);
  EXPECT_EQ(model.right().col(2), Vector::Unit(4, 0));
  EXPECT_EQ(model.factors.modes(), 2);
  model.factors.replace(0, Factors::symmetric(Vector::Unit(4, 3)));
  EXPECT_EQ(model.left()(3, 0), 1);
  EXPECT_LT(max_difference(model.dense(), Matrix(model.dense().transpose())), 1e-15);
}

}  // namespace
}  // namespace pursuit
