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

Expansion random_atoms(Index n, Index m, Index r, std::uint64_t seed) {
  return {gaussian(n, r, seed), gaussian(m, r, seed + 1), Vector(gaussian(r, 1, seed + 2))};
}

Matrix atom(const Expansion& model, Index k) {
  return model.left().col(k) * model.right().col(k).transpose();
}

/// The residual on the mask, both ways.
Matrix residual_of(const ObservedSquares& f) {
  const Index n = f.axis(0).size(), m = f.axis(1).size();
  Panel rows, cols;
  f.contract(0, Factors(Panel(n, m), Matrix::Identity(m, m)), rows);
  f.contract(1, Factors(Matrix::Identity(n, n), Panel(m, n)), cols);
  EXPECT_LT(max_difference(rows, Matrix(cols.transpose())), 1e-12) << "rows and columns say the same";
  return rows;
}

TEST(ObservedSquares, ResidualAndValueAreThoseUnderTheMask) {
  const Problem p = Problem::random(17, 13, 1);
  ObservedSquares f(p.data, false, 1);
  EXPECT_EQ(f.axis(0).size(), 17);
  EXPECT_EQ(f.axis(1).size(), 13);
  EXPECT_EQ(f.size(), Index(p.mask.sum())) << "a zero that was seen counts";
  EXPECT_NEAR(f.null_value(), 0.5 * p.residual(Matrix::Zero(17, 13)).squaredNorm(), 1e-12);
  EXPECT_EQ(f.value(), f.null_value());
  for (const Index r : {4, 1, 0}) {
    const Expansion model = random_atoms(17, 13, r, 5);
    f.move_to(model);
    const Matrix R = p.residual(r > 0 ? model.dense() : Matrix::Zero(17, 13));
    EXPECT_LT(max_difference(residual_of(f), R), 1e-12) << r;
    EXPECT_NEAR(f.value(), 0.5 * R.squaredNorm(), 1e-11) << r;
    EXPECT_NEAR(f.null_value(), 0.5 * p.inner(p.Y, p.Y), 1e-12) << "moves with nothing";
  }
}

TEST(ObservedSquares, ChangesOneAtATimeAreMovingToTheirSum) {
  const Problem p = Problem::random(17, 13, 2);
  const Expansion model = random_atoms(17, 13, 4, 6);
  ObservedSquares moved(p.data, false, 1), added(p.data, false, 1);
  moved.move_to(model);
  for (Index k = 0; k < model.rank(); ++k) {
    added.append(model.factors.atom(k), 0);
    added.reweigh(model.weights.head(k + 1));
  }
  EXPECT_LT(max_difference(residual_of(added), residual_of(moved)), 1e-12);
  EXPECT_NEAR(added.value(), moved.value(), 1e-11);
  const Factors other(gaussian(17, 1, 30), gaussian(13, 1, 31));
  Vector weights = model.weights;
  weights[2] = 0;
  added.reweigh(weights);
  added.replace(2, other, 0, -0.5);
  Expansion expected = model;
  expected.factors.replace(2, other);
  expected.weights[2] = -0.5;
  EXPECT_LT(max_difference(residual_of(added), p.residual(expected.dense())), 1e-12);
  added.reweigh(weights);
  added.keep({0, 1, 3});
  EXPECT_LT(max_difference(residual_of(added), p.residual(added.iterate().dense())), 1e-12);
}

TEST(ObservedSquares, ProductsAreThoseUnderTheMask) {
  const Problem p = Problem::random(12, 15, 3);
  ObservedSquares f(p.data, false, 1);
  const Expansion model = random_atoms(12, 15, 3, 7);
  f.move_to(model);
  const Factors z(gaussian(12, 2, 9), gaussian(15, 2, 10));
  const Matrix products = f.gram(model.factors, z);
  const auto [gram, targets] = f.weight_quadratic();
  for (Index k = 0; k < 3; ++k) {
    for (Index l = 0; l < 2; ++l)
      EXPECT_NEAR(products(k, l), p.inner(z[0].col(l) * z[1].col(l).transpose(), atom(model, k)), 1e-11);
    EXPECT_NEAR(targets[k], p.inner(p.Y, atom(model, k)), 1e-11) << "with the data, wherever x is";
    for (Index l = 0; l < 3; ++l) EXPECT_NEAR(gram(k, l), p.inner(atom(model, k), atom(model, l)), 1e-11);
  }
}

TEST(ObservedSquares, ParabolasSayHowAFactorChangesTheValue) {
  const Problem p = Problem::random(12, 15, 4);
  for (const Index mode : {0, 1}) {
    ObservedSquares f(p.data, false, 1);
    f.move_to(random_atoms(12, 15, 3, 11));
    for (const Index k : {1, 2, 0}) {  // what is pending from one move is there for the next
      const Vector x = gaussian(f.axis(mode).size(), 1, 12 + std::uint64_t(k)),
                   was = f.iterate().weights[k] * f.iterate().factors[mode].col(k);
      const double before = f.value();
      const auto system = f.along(mode);
      Parabolas parabolas;
      system->parabolas(k, nullptr, parabolas);
      const auto value = [&](const Vector& at) {
        return 0.5 * parabolas.a.dot(at.cwiseAbs2()) - parabolas.b.dot(at);
      };
      system->move(k, x / x.norm(), x.norm());
      EXPECT_NEAR(f.value() - before, value(x) - value(was), 1e-10);
      EXPECT_LT(max_difference(residual_of(f), p.residual(f.iterate().dense())), 1e-12);
    }
  }
}

TEST(ObservedSquares, ParabolasTakeTheSquaresThatTheyAreGiven) {
  const Problem p = Problem::random(12, 15, 5);
  ObservedSquares f(p.data, false, 1);
  f.move_to(random_atoms(12, 15, 1, 14));
  const Factors squares(uniform(12, 1, 15), uniform(15, 1, 16));
  Parabolas left, right, plain;
  f.along(0)->parabolas(0, &squares, left);
  f.along(1)->parabolas(0, &squares, right);
  f.along(0)->parabolas(0, nullptr, plain);
  EXPECT_LT(max_difference(left.a, p.mask * squares[1]), 1e-12);
  EXPECT_LT(max_difference(right.a, p.mask.transpose() * squares[0]), 1e-12);
  EXPECT_LT(max_difference(plain.a, p.mask * f.iterate().right().cwiseAbs2()), 1e-12);
  EXPECT_EQ(left.b, plain.b);
}

TEST(ObservedSquares, TheSameBitsForAnyNumberOfThreads) {
  ObservedEntries entries{600, 400, {}, {}, {}};
  Random random(3);
  for (int i = 0; i < 600; ++i)
    for (int j = 0; j < 400; ++j)
      if (random.uniform() < 0.5) {
        entries.row.push_back(i);
        entries.col.push_back(j);
        entries.value.push_back(float(random.gaussian()));
      }
  const ObservedMatrix data(std::move(entries));
  ASSERT_GT(data.size(), 100000) << "enough for threads";
  std::vector<double> values;
  std::vector<Matrix> grams, images;
  for (const int threads : {1, 2, 5}) {
    ObservedSquares f(data, false, threads);
    f.move_to(random_atoms(600, 400, 5, 8));
    Parabolas parabolas;
    const auto system = f.along(1);
    system->parabolas(2, nullptr, parabolas);
    system->move(2, parabolas.b / parabolas.b.norm(), 0.1);
    f.along(0)->parabolas(3, nullptr, parabolas);
    values.push_back(f.value());
    grams.push_back(f.weight_quadratic().gram);
    images.emplace_back(parabolas.b);
  }
  for (const std::size_t other : {1U, 2U}) {
    EXPECT_EQ(values[0], values[other]);
    EXPECT_TRUE(same_bits(grams[0], grams[other]));
    EXPECT_TRUE(same_bits(images[0], images[other]));
  }
}

}  // namespace
}  // namespace pursuit
