// Weak zeros against sums over every entry of a dense matrix.

#include "objective/weak_zeros.hpp"

#include "pursuit/objective/make_objective.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

constexpr double kZeros = 0.3;

/// Ones in some places, each with a weight, one row and one column without any.
struct SeenOnes {
  Matrix weights;  // 0 where nothing was seen
  ObservedEntries entries;

  SeenOnes(Index rows, Index cols, bool weighted) : entries{rows, cols, {}, {}, {}} {
    weights = uniform(rows, cols, 3).unaryExpr([](double x) { return x < 0.4 ? 1.0 : 0.0; });
    if (weighted) weights = weights.cwiseProduct((uniform(rows, cols, 4).array() + 0.5).matrix());
    weights = weights.cast<float>().cast<double>();
    weights.row(rows - 1).setZero();
    weights.col(0).setZero();
    weights(0, cols - 1) = 1;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j)
        if (weights(i, j) > 0) {
          entries.row.push_back(i);
          entries.col.push_back(j);
          entries.value.push_back(1);
        }
  }

  std::unique_ptr<Objective> objective(bool weighted, int threads = 1) const {
    LossOptions squares;
    if (weighted) squares.weights.entries = data_matrix(weights);
    return std::make_unique<WeakZeros>(make_objective(entries, squares, threads), kZeros);
  }
  double value(const Matrix& X) const {
    return 0.5 * weights.cwiseProduct((1 - X.array()).square().matrix()).sum() +
           0.5 * kZeros * X.squaredNorm();
  }
  Matrix residual(const Matrix& X) const {
    return weights.cwiseProduct((1 - X.array()).matrix()) - kZeros * X;
  }
  double inner(const Matrix& A, const Matrix& B) const {
    return A.cwiseProduct(B).cwiseProduct((weights.array() + kZeros).matrix()).sum();
  }
};

Expansion random_sum(Index n, Index m, Index r, std::uint64_t seed) {
  return {gaussian(n, r, seed), gaussian(m, r, seed + 1), Vector(gaussian(r, 1, seed + 2))};
}

TEST(WeakZeros, AreThoseOfEveryEntryThoughNoneIsFormed) {
  for (const bool weighted : {false, true})
    for (const auto& [n, m, r] : {std::tuple(17, 13, 4), {2, 3, 1}, {9, 31, 7}}) {
      const SeenOnes seen(n, m, weighted);
      const auto f = seen.objective(weighted);
      EXPECT_NEAR(f->value(), seen.value(Matrix::Zero(n, m)), 1e-10);
      EXPECT_NEAR(f->null_value(), f->value(), 1e-10);
      const Expansion x = random_sum(n, m, r, 5);
      f->move_to(x);
      const Matrix X = x.dense(), R = seen.residual(X);
      EXPECT_NEAR(f->value(), seen.value(X), 1e-9 * seen.value(X));
      Panel rows, cols;
      const Expansion z = random_sum(n, m, 2, 11);
      f->contract(0, z.factors, rows);
      f->contract(1, z.factors, cols);
      EXPECT_LT(max_difference(rows, Matrix(R * z.right())), 1e-10);
      EXPECT_LT(max_difference(cols, Matrix(R.transpose() * z.left())), 1e-10);
      const auto [gram, linear] = f->weight_quadratic();
      for (Index k = 0; k < r; ++k) {
        const Matrix own = x.left().col(k) * x.right().col(k).transpose();
        for (Index l = 0; l < r; ++l)
          EXPECT_NEAR(gram(k, l), seen.inner(own, x.left().col(l) * x.right().col(l).transpose()), 1e-9);
        EXPECT_NEAR(linear[k], R.cwiseProduct(own).sum() + seen.inner(X, own), 1e-9);
      }
    }
}

TEST(WeakZeros, ParabolasOfAnAtomAreFAlongItsFactors) {
  for (const bool weighted : {false, true}) {
    const SeenOnes seen(11, 8, weighted);
    const auto f = seen.objective(weighted);
    f->move_to(random_sum(11, 8, 3, 21));
    for (const Index mode : {0, 1}) {
      const auto system = f->along(mode);
      for (const Index k : {2, 0}) {
        Parabolas p;
        system->parabolas(k, nullptr, p);
        ASSERT_FALSE(p.is_uniform());
        const auto along = [&](const Vector& own) {  // f with this in the place of weight * factor
          Expansion moved = f->iterate();
          moved.factors[mode].col(k) = own;
          moved.weights[k] = 1;
          return seen.value(moved.dense());
        };
        const Vector own = gaussian(f->axis(mode).size(), 1, 30 + std::uint64_t(k));
        const double expected = 0.5 * p.a.dot(own.cwiseAbs2()) - p.b.dot(own);
        EXPECT_NEAR(along(own) - along(Vector::Zero(own.size())), expected, 1e-9 * (1 + std::abs(expected)));
        system->move(k, own, 0.5);
        EXPECT_NEAR(f->value(), seen.value(f->iterate().dense()), 1e-9 * f->value());
      }
      // With squares of factors in their place, curvatures are sums of these over all entries.
      Factors ones = f->iterate().factors.atom(0);
      for (const Index m : {0, 1}) ones[m].setOnes();
      Parabolas counts;
      system->parabolas(0, &ones, counts);
      const Matrix all = (seen.weights.array() + kZeros).matrix();
      const Vector sums = mode == 0 ? Vector(all.rowwise().sum()) : Vector(all.colwise().sum().transpose());
      EXPECT_LT(max_difference(counts.a, sums), 1e-9);
    }
  }
}

}  // namespace
}  // namespace pursuit
