// The objective on observed entries against dense matrices and a mask of zeros and ones.

#include "pursuit/objective/observed.hpp"

#include "test_support.hpp"

namespace pursuit {
namespace {

/// Some entries of a matrix, one row and one column without any, and a zero that was seen.
struct Problem {
  Matrix Y, mask;
  ObservedMatrix data;

  static Problem random(Index rows, Index cols, std::uint64_t seed) {
    Matrix mask = uniform(rows, cols, seed).unaryExpr([](double x) { return x < 0.4 ? 1.0 : 0.0; });
    mask.row(2).setZero();
    mask.col(1).setZero();
    mask(0, 0) = 1;
    Matrix Y = gaussian(rows, cols, seed + 1).cast<float>().cast<double>();
    Y(0, 0) = 0;
    ObservedEntries entries{rows, cols, {}, {}, {}};
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j)
        if (mask(i, j) > 0) {
          entries.row.push_back(i);
          entries.col.push_back(j);
          entries.value.push_back(float(Y(i, j)));
        }
    return {Y, mask, ObservedMatrix(entries)};
  }

  Matrix residual(const Matrix& X) const { return (Y - X).cwiseProduct(mask); }
  double inner(const Matrix& A, const Matrix& B) const { return A.cwiseProduct(B).cwiseProduct(mask).sum(); }
};

Model random_atoms(Index n, Index m, Index r, std::uint64_t seed) {
  return {gaussian(n, r, seed), gaussian(m, r, seed + 1), Vector(gaussian(r, 1, seed + 2))};
}

Matrix atom(const Model& model, Index k) {
  return model.left.col(k) * model.right.col(k).transpose();
}

TEST(ObservedObjective, ResidualAndValueAreThoseUnderTheMask) {
  const Problem p = Problem::random(17, 13, 1);
  ObservedObjective f(p.data);
  EXPECT_EQ(f.rows(), 17);
  EXPECT_EQ(f.cols(), 13);
  EXPECT_EQ(f.size(), Index(p.mask.sum())) << "a zero that was seen counts";
  EXPECT_NEAR(f.target_norm_squared(), p.residual(Matrix::Zero(17, 13)).squaredNorm(), 1e-12);
  EXPECT_NEAR(f.value(), 0.5 * f.target_norm_squared(), 1e-12);
  for (const Index r : {4, 1, 0}) {
    const Model model = random_atoms(17, 13, r, 5);
    f.move_to(model);
    const Matrix R = p.residual(r > 0 ? model.dense() : Matrix::Zero(17, 13));
    EXPECT_LT(max_difference(Matrix(f.residual()), R), 1e-12) << r;
    EXPECT_NEAR(f.value(), 0.5 * R.squaredNorm(), 1e-11) << r;
    EXPECT_NEAR(f.target_norm_squared(), p.inner(p.Y, p.Y), 1e-12) << "moves with nothing";
  }
}

TEST(ObservedObjective, AddingAtomsIsMovingToTheirSum) {
  const Problem p = Problem::random(17, 13, 2);
  const Model model = random_atoms(17, 13, 4, 6);
  ObservedObjective moved(p.data), added(p.data);
  moved.move_to(model);
  for (Index k = 0; k < model.rank(); ++k) added.add(model.left.col(k), model.right.col(k), model.weights[k]);
  EXPECT_LT(max_difference(Matrix(added.residual()), Matrix(moved.residual())), 1e-12);
  for (Index k = 0; k < model.rank(); ++k)
    added.add(model.left.col(k), model.right.col(k), -model.weights[k]);
  EXPECT_LT(max_difference(Matrix(added.residual()), p.residual(Matrix::Zero(17, 13))), 1e-12);
}

TEST(ObservedObjective, ProductsAreThoseUnderTheMask) {
  const Problem p = Problem::random(12, 15, 3);
  ObservedObjective f(p.data);
  const Model model = random_atoms(12, 15, 3, 7);
  f.move_to(random_atoms(12, 15, 2, 8));
  const Vector u = gaussian(12, 1, 9), v = gaussian(15, 1, 10);
  const Matrix z = u * v.transpose(), gram = f.gram(model);
  const Vector products = f.inner_products(model, u, v), targets = f.target_products(model);
  EXPECT_NEAR(f.norm_squared(u, v), p.inner(z, z), 1e-11);
  EXPECT_NEAR(f.product(u, v), p.inner(Matrix(f.residual()), z), 1e-11);
  for (Index k = 0; k < 3; ++k) {
    EXPECT_NEAR(products[k], p.inner(z, atom(model, k)), 1e-11);
    EXPECT_NEAR(targets[k], p.inner(p.Y, atom(model, k)), 1e-11) << "with the data, wherever X is";
    for (Index l = 0; l < 3; ++l) EXPECT_NEAR(gram(k, l), p.inner(atom(model, k), atom(model, l)), 1e-11);
  }
}

TEST(ObservedObjective, ParabolasSayHowAFactorChangesTheValue) {
  const Problem p = Problem::random(12, 15, 4);
  ObservedObjective f(p.data);
  f.move_to(random_atoms(12, 15, 2, 11));
  const double before = f.value();
  const Vector x = gaussian(12, 1, 12), y = gaussian(15, 1, 13);
  const auto along_x = f.left_parabolas(y, y.cwiseAbs2());
  const auto along_y = f.right_parabolas(x, x.cwiseAbs2());
  f.add(x, y, 1);
  const auto change = [](const ObservedObjective::Parabolas& parabolas, const Vector& at) {
    return 0.5 * parabolas.a.dot(at.cwiseAbs2()) - parabolas.b.dot(at);
  };
  EXPECT_NEAR(f.value() - before, change(along_x, x), 1e-10);
  EXPECT_NEAR(f.value() - before, change(along_y, y), 1e-10);
}

TEST(ObservedObjective, ParabolasTakeTheSquaresThatTheyAreGiven) {
  const Problem p = Problem::random(12, 15, 5);
  const ObservedObjective f(p.data);
  const Vector v = gaussian(15, 1, 14), v_squares = v.cwiseAbs2() + uniform(15, 1, 15);
  const Vector u = gaussian(12, 1, 16), u_squares = u.cwiseAbs2() + uniform(12, 1, 17);
  const auto left = f.left_parabolas(v, v_squares), right = f.right_parabolas(u, u_squares);
  const Matrix R = Matrix(f.residual());
  EXPECT_LT(max_difference(left.a, p.mask * v_squares), 1e-12);
  EXPECT_LT(max_difference(left.b, R * v), 1e-12);
  EXPECT_LT(max_difference(right.a, p.mask.transpose() * u_squares), 1e-12);
  EXPECT_LT(max_difference(right.b, R.transpose() * u), 1e-12);
}

TEST(ObservedObjective, CountsTheEntriesOfRowsAndColumns) {
  const Problem p = Problem::random(12, 15, 6);
  const ObservedObjective f(p.data);
  EXPECT_EQ(f.row_counts(), Vector(p.mask.rowwise().sum()));
  EXPECT_EQ(f.col_counts(), Vector(p.mask.colwise().sum().transpose()));
  EXPECT_EQ(f.row_counts()[2], 0);
}

TEST(ObservedObjective, RefusesMoreEntriesThanItsStartsCanCount) {
  constexpr Index kMost = std::numeric_limits<int>::max();
  EXPECT_NO_THROW(require_indexable(kMost));
  EXPECT_THAT(message_of<InvalidInput>([&] { require_indexable(kMost + 1); }),
              testing::HasSubstr("2147483648"));
}

}  // namespace
}  // namespace pursuit
