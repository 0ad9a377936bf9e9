#include "pursuit/objective/poisson.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "objective/counts.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/objective/make_objective.hpp"

namespace pursuit {
namespace {

/// Small counts, many of them zero, from a model of rank 3; and a last row and column without any.
Matrix poisson_counts(Index rows, Index cols, std::uint64_t seed, double size = 2) {
  Random random(seed);
  const Matrix left = random.gaussian_matrix(rows, 3).cwiseAbs(),
               right = random.gaussian_matrix(cols, 3).cwiseAbs();
  Matrix y(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const double mean = 0.3 * left.row(i).dot(right.row(j));
      y(i, j) = std::floor(size * mean * -std::log(1 - random.uniform()));
    }
  if (rows > 3) y.row(rows - 1).setZero();
  if (cols > 3) y.col(cols - 1).setZero();
  return y;
}

StoredEntries table_of(const Matrix& y, bool dense = false) {
  StoredEntries table{y.rows(), y.cols(), {0}, {}, {}};
  for (Index i = 0; i < y.rows(); ++i) {
    for (Index j = 0; j < y.cols(); ++j)
      if (dense || y(i, j) != 0) {
        if (!dense) table.index.push_back(int(j));
        table.value.push_back(y(i, j));
      }
    table.start.push_back(std::int64_t(table.value.size()));
  }
  return table;
}

Expansion positive_atoms(Index rows, Index cols, Index rank, std::uint64_t seed) {
  Random random(seed);
  Expansion x(random.gaussian_matrix(rows, rank).cwiseAbs(), random.gaussian_matrix(cols, rank).cwiseAbs(),
              Vector::Constant(rank, 0.7));
  x.left().colwise().normalize();
  x.right().colwise().normalize();
  return x;
}

double half_deviance(const Matrix& y, const Matrix& x, const Matrix& weights) {
  double f = 0;
  for (Index i = 0; i < y.rows(); ++i)
    for (Index j = 0; j < y.cols(); ++j)
      if (weights(i, j) > 0)
        f +=
            weights(i, j) * ((y(i, j) > 0 ? y(i, j) * std::log(y(i, j) / x(i, j)) : 0.0) - y(i, j) + x(i, j));
  return f;
}

TEST(PoissonCountsTest, ValueIsTheDenseFormula) {
  const Matrix y = poisson_counts(13, 9, 1);
  Random random(2);
  const Matrix w = random.gaussian_matrix(13, 9).cwiseAbs();
  const Vector rows = w.col(0), cols = w.row(0), scale = w.col(1).array() + 0.1;
  const Expansion x = positive_atoms(13, 9, 4, 3);
  const Matrix mean = scale.asDiagonal() * x.dense();
  {
    PoissonCounts f({table_of(y), true, {}, rows, cols}, scale);
    f.move_to(x);
    EXPECT_NEAR(f.value() / half_deviance(y, mean, rows * cols.transpose()), 1, 1e-9);
  }
  StoredEntries all = table_of(y, true);
  std::vector<double> weights;
  for (Index i = 0; i < 13; ++i)
    for (Index j = 0; j < 9; ++j) weights.push_back(w(i, j));
  PoissonCounts f({std::move(all), true, weights, rows, cols}, scale);
  f.move_to(x);
  EXPECT_NEAR(f.value() / half_deviance(y, mean, w.cwiseProduct(rows * cols.transpose())), 1, 1e-9);
  EXPECT_GT(f.null_value(), 0);
}

TEST(PoissonCountsTest, NullValueIsThatOfTheBestConstant) {
  const Matrix y = poisson_counts(11, 8, 4);
  PoissonCounts f({table_of(y)});
  EXPECT_NEAR(f.null_value(), half_deviance(y, Matrix::Constant(11, 8, y.mean()), Matrix::Ones(11, 8)), 1e-9);
}

TEST(PoissonCountsTest, SparseDenseAndAllObservedAreOne) {
  const Matrix y = poisson_counts(17, 10, 5);
  PoissonCounts sparse({table_of(y)}), dense({table_of(y, true)}),
      observed({table_of(y, true), false, std::vector<double>(170, 1.0)});
  const Expansion start = positive_atoms(17, 10, 3, 6);
  for (PoissonCounts* f : {&sparse, &dense, &observed}) {
    f->move_to(start);
    for (int sweep = 0; sweep < 4; ++sweep)
      for (const Index mode : {0, 1}) ASSERT_TRUE(f->along(mode)->sweep({.nonnegative = true}));
  }
  EXPECT_EQ(sparse.value(), dense.value());
  EXPECT_NEAR(sparse.value(), observed.value(), 1e-9 * sparse.value());
  EXPECT_LT((sparse.iterate().dense() - observed.iterate().dense()).norm(), 1e-8 * y.norm());
}

TEST(PoissonCountsTest, ContractionsAreSlopes) {
  const Matrix y = poisson_counts(9, 12, 7);
  Random random(8);
  const Vector scale = random.gaussian_matrix(9, 1).col(0).cwiseAbs().array() + 0.2;
  PoissonCounts f({table_of(y)}, scale);
  const Expansion x = positive_atoms(9, 12, 3, 9);
  f.move_to(x);
  const Factors z = positive_atoms(9, 12, 1, 10).factors;
  for (const Index mode : {0, 1}) {
    Panel image;
    f.contract(mode, z, image);
    const double along = image.col(0).dot(z[mode].col(0));
    constexpr double kStep = 1e-5;
    double values[2];
    for (const int side : {0, 1}) {
      Expansion moved = x;
      moved.append(z, side ? kStep : -kStep);
      PoissonCounts other({table_of(y)}, scale);
      other.move_to(moved);
      values[side] = other.value();
    }
    EXPECT_NEAR(-(values[1] - values[0]) / (2 * kStep), along, 1e-5 * std::abs(along) + 1e-4);
  }
}

/// The best entry of every row by golden section.
TEST(PoissonCountsTest, ParabolasAreLowestWhereTheLossIs) {
  const Matrix y = poisson_counts(8, 15, 11);
  PoissonCounts f({table_of(y)});
  const Expansion x = positive_atoms(8, 15, 3, 12);
  f.move_to(x);
  Parabolas p;
  f.along(0)->parabolas(1, nullptr, p);
  const Matrix rest = x.dense() - x.weights[1] * x.left().col(1) * x.right().col(1).transpose();
  for (Index i = 0; i < 8; ++i) {
    const auto cost = [&](double t) {
      return half_deviance(y.row(i), rest.row(i) + t * x.right().col(1).transpose(), Matrix::Ones(1, 15));
    };
    double low = 0, high = 1000;
    for (int step = 0; step < 200; ++step) {
      const double a = low + 0.382 * (high - low), b = low + 0.618 * (high - low);
      (cost(a) < cost(b) ? high : low) = cost(a) < cost(b) ? b : a;
    }
    EXPECT_GT(p.a[i], 0);
    const double t = x.weights[1] * x.left()(i, 1);
    EXPECT_NEAR(std::max(0.0, p.b[i] / p.a[i]), 0.5 * (low + high), 1e-5 * (1 + high)) << "row " << i;
    EXPECT_NEAR(p.b[i] - p.a[i] * t, -(cost(t + 1e-6) - cost(t - 1e-6)) / 2e-6, 1e-4) << "row " << i;
  }
}

TEST(PoissonCountsTest, MovesKeepTheModelTrue) {
  const Matrix y = poisson_counts(10, 11, 13);
  PoissonCounts f({table_of(y)});
  f.move_to(positive_atoms(10, 11, 3, 14));
  const Factors other = positive_atoms(10, 11, 1, 15).factors;
  Panel image;
  f.contract(0, other, image);  // the model is there before the moves
  f.contract(1, other, image);
  f.along(0)->move(1, other[0].col(0), 0.4);
  f.along(1)->move(2, other[1].col(0), 0.0);
  f.replace(2, other, 0, 0.3);
  Vector weights = f.iterate().weights;
  weights[0] = 0.9;
  f.reweigh(weights);
  PoissonCounts fresh({table_of(y)});
  fresh.move_to(f.iterate());
  for (const Index mode : {0, 1}) {
    Panel expected;
    f.contract(mode, other, image);
    fresh.contract(mode, other, expected);
    EXPECT_LT((image - expected).norm(), 1e-9 * expected.norm());
  }
  EXPECT_NEAR(f.value(), fresh.value(), 1e-10 * fresh.value());
}

TEST(PoissonSweeps, TheLossNeverRises) {
  for (const Index rows : {1, 2, 7, 40})
    for (const Index cols : {1, 3, 33})
      for (const Index rank : {1, 2, 5, 9})
        for (const double size : {1e-9, 0.5, 3.0, 1e7, 1e12}) {
          const Matrix y = poisson_counts(rows, cols, std::uint64_t(rows * 100 + cols), 1.0) * size;
          PoissonCounts f({table_of(y)});
          f.move_to(positive_atoms(rows, cols, rank, 16));
          double before = f.value();
          for (int sweep = 0; sweep < 12; ++sweep)
            for (const Index mode : {0, 1}) {
              ASSERT_TRUE(f.along(mode)->sweep({.nonnegative = true}));
              PoissonCounts fresh({table_of(y)});
              fresh.move_to(f.iterate());
              const double after = fresh.value();
              ASSERT_TRUE(std::isfinite(after));
              const double rounding = 1e-13 * (std::abs(y.sum() * std::log(1 + size)) + y.sum());
              ASSERT_LE(after, before + rounding)
                  << rows << " x " << cols << ", rank " << rank << ", size " << size << ", sweep " << sweep;
              before = after;
              ASSERT_GE(f.iterate().factors[mode].minCoeff(), 0);
            }
        }
}

/// From far too large, far too small and uncovered entries alike.
TEST(PoissonSweeps, ConvergeFromAnyStart) {
  const Matrix y = poisson_counts(20, 15, 17);
  std::vector<double> ends;
  for (const double size : {1e-12, 1e-3, 1.0, 1e6}) {
    PoissonCounts f({table_of(y)});
    Expansion x = positive_atoms(20, 15, 1, 18);
    x.weights *= size;
    if (size == 1.0) x.left().topRows(10).setZero();
    f.move_to(x);
    for (int sweep = 0; sweep < 60; ++sweep)
      for (const Index mode : {0, 1}) f.along(mode)->sweep({.nonnegative = true});
    ends.push_back(f.value());
  }
  // Of one atom the best is known: the products of the sums of rows and columns.
  const double best = half_deviance(y, y.rowwise().sum() * y.colwise().sum() / y.sum(), Matrix::Ones(20, 15));
  for (const double end : ends) EXPECT_NEAR(end, best, 1e-7 * best);
}

/// One row alone is convex: what is reached fulfils the conditions of the minimum.
TEST(PoissonSweeps, RowsEndWhereNoCoordinateCanGain) {
  for (const KernelLevel level : {KernelLevel::baseline, KernelLevel::v3, KernelLevel::v4}) {
    if (level > kernel_level()) continue;
    for (const Index rank : {1, 3, 4, 7, 20})
      for (const Index size : {1, 5, 31, 4000}) {
        Random random(std::uint64_t(100 * rank + size));
        const Panel other = random.gaussian_matrix(size + 3, rank).cwiseAbs();
        const RowPanel rows(other, 1);
        std::vector<int> index;
        std::vector<double> count, exposed;
        for (Index e = 0; e < size; ++e) {
          index.push_back(int(e));
          count.push_back(std::floor(5 * random.uniform()));
          exposed.push_back(0.5 + random.uniform());
        }
        const Vector background =
            random.gaussian_matrix(rank, 1).col(0).cwiseAbs() * double(size) + Vector::Ones(rank);
        for (const bool listed : {false, true})
          for (const double l2 : {0.0, 0.7}) {
            RowDescent d{rows.rows(), 1e-12, 0.1, l2};
            Vector u = Vector::Ones(rank);
            RowNewton newton(level);
            const CountRow row{index.data(), count.data(), listed ? exposed.data() : nullptr, size};
            for (int step = 0; step < 200; ++step) newton.descend(row, d, background.data(), 1.5, u.data());
            Vector slope = Vector::Constant(rank, 0.1) + l2 * u;
            if (!listed) slope += 1.5 * background;
            for (Index e = 0; e < size; ++e) {
              const double x = 1e-12 + other.row(e).dot(u);
              slope += ((listed ? exposed[std::size_t(e)] : 0.0) - count[std::size_t(e)] / x) *
                       other.row(e).transpose();
            }
            for (Index k = 0; k < rank; ++k) {
              EXPECT_GE(u[k], 0);
              if (u[k] > 1e-9)
                EXPECT_NEAR(slope[k], 0, 2e-5 * double(size)) << rank << ' ' << size << ' ' << k;
              else
                EXPECT_GE(slope[k], -1e-5 * double(size)) << rank << ' ' << size << ' ' << k;
            }
          }
      }
  }
}

TEST(PoissonSweeps, WeightsOfTwoAreRowsTwice) {
  const Matrix y = poisson_counts(12, 9, 19);
  Vector weights = Vector::Ones(12);
  Matrix twice(15, 9);
  twice.topRows(12) = y;
  for (const Index i : {2, 5, 7}) {
    weights[i] = 2;
    twice.row(12 + (i - 1) / 3) = y.row(i);
  }
  PoissonCounts weighted({table_of(y), true, {}, weights}), repeated({table_of(twice)});
  const Expansion start = positive_atoms(12, 9, 3, 20);
  Expansion longer = start;
  longer.left().conservativeResize(15, 3);
  for (const Index i : {2, 5, 7}) longer.left().row(12 + (i - 1) / 3) = start.left().row(i);
  weighted.move_to(start);
  repeated.move_to(longer);
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (PoissonCounts* f : {&weighted, &repeated})
      for (const Index mode : {0, 1}) f->along(mode)->sweep({.nonnegative = true});
    ASSERT_NEAR(weighted.value(), repeated.value(), 1e-10 * repeated.value());
  }
  EXPECT_LT((weighted.iterate().dense() - repeated.iterate().dense().topRows(12)).norm(), 1e-8 * y.norm());
}

TEST(PoissonSweeps, WeightsOfZeroAreMissingEntries) {
  const Matrix y = poisson_counts(12, 9, 21);
  StoredEntries all = table_of(y, true), some{12, 9, {0}, {}, {}};
  std::vector<double> weights;
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 9; ++j) {
      weights.push_back((i + 2 * j) % 5 == 0 ? 0.0 : 1.0);
      if (weights.back() == 0) continue;
      some.index.push_back(int(j));
      some.value.push_back(y(i, j));
    }
    some.start.push_back(std::int64_t(some.value.size()));
  }
  PoissonCounts weighted({all, true, weights}), missing({some, false});
  for (PoissonCounts* f : {&weighted, &missing}) {
    f->move_to(positive_atoms(12, 9, 3, 22));
    for (int sweep = 0; sweep < 20; ++sweep)
      for (const Index mode : {0, 1}) f->along(mode)->sweep({.nonnegative = true});
  }
  EXPECT_EQ(weighted.value(), missing.value());
  EXPECT_EQ(weighted.null_value(), missing.null_value());
  EXPECT_EQ(weighted.iterate().dense(), missing.iterate().dense());
}

TEST(PoissonSweeps, SameBitsForAnyNumberOfThreads) {
  const Matrix y = poisson_counts(700, 300, 23, 0.5);
  std::vector<Expansion> ends;
  std::vector<double> values;
  Panel image;
  std::vector<Panel> images;
  for (const int threads : {1, 2, 3, 16}) {
    PoissonCounts f({table_of(y)}, Vector(0), threads);
    f.move_to(positive_atoms(700, 300, 5, 24));
    for (int sweep = 0; sweep < 2; ++sweep)
      for (const Index mode : {0, 1}) f.along(mode)->sweep({.nonnegative = true});
    ends.push_back(f.iterate());
    values.push_back(f.value() + f.weight_quadratic().gram.sum());
    f.contract(1, positive_atoms(700, 300, 2, 25).factors, image);
    images.push_back(image);
  }
  for (std::size_t i = 1; i < ends.size(); ++i) {
    EXPECT_EQ(ends[i].left(), ends[0].left());
    EXPECT_EQ(ends[i].right(), ends[0].right());
    EXPECT_EQ(ends[i].weights, ends[0].weights);
    EXPECT_EQ(values[i], values[0]);
    EXPECT_EQ(images[i], images[0]);
  }
}

TEST(PoissonCountsTest, GramIsTheSumOverTheCounts) {
  const Matrix y = poisson_counts(9, 7, 28);
  PoissonCounts f({table_of(y)});
  const Expansion x = positive_atoms(9, 7, 5, 29);
  f.move_to(x);
  const Matrix model = x.dense();
  Matrix expected = Matrix::Zero(5, 5);
  for (Index i = 0; i < 9; ++i)
    for (Index j = 0; j < 7; ++j) {
      const Vector z = x.left().row(i).transpose().cwiseProduct(x.right().row(j).transpose());
      expected += y(i, j) / (model(i, j) * std::max(model(i, j), y(i, j))) * z * z.transpose();
    }
  const Factors copy = x.factors;
  EXPECT_LT((f.gram(x.factors, x.factors) - expected).norm(), 1e-8 * expected.norm());
  EXPECT_LT((f.gram(x.factors, copy) - expected).norm(), 1e-8 * expected.norm());
}

/// 800 GB, were it dense.
TEST(PoissonSweeps, AHugeSparseMatrixIsNeverDense) {
  constexpr Index kRows = 1000000, kCols = 100000;
  StoredEntries table{kRows, kCols, {0}, {}, {}};
  for (Index i = 0; i < kRows; ++i) {
    if (i % 2 == 0) {
      table.index.push_back(int(i * 37 % kCols));
      table.value.push_back(double(1 + i % 3));
    }
    table.start.push_back(std::int64_t(table.value.size()));
  }
  PoissonCounts f({std::move(table)}, Vector(0), 2);
  f.move_to(positive_atoms(kRows, kCols, 2, 30));
  double before = f.value();
  for (const Index mode : {0, 1}) {
    f.along(mode)->sweep({.nonnegative = true});
    EXPECT_LT(f.value(), before);
    before = f.value();
  }
}

TEST(PoissonCountsTest, NoCountsAtAllAreModelledByNothing) {
  PoissonCounts f({table_of(Matrix::Zero(4, 3))});
  EXPECT_EQ(f.null_value(), 0);
  f.move_to(positive_atoms(4, 3, 2, 26));
  EXPECT_GT(f.value(), 0);
  f.along(0)->sweep({.nonnegative = true});
  EXPECT_EQ(f.value(), 0);
}

TEST(PoissonCountsTest, ANegativeEntryIsNamed) {
  Matrix y = poisson_counts(4, 3, 27);
  y(2, 1) = -1.5;
  try {
    make_objective(data_matrix(y), {.loss = Loss::poisson});
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("entry (3, 2) of the matrix is -1.5"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("squares"), std::string::npos);
  }
}

}  // namespace
}  // namespace pursuit
