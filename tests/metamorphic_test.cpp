// What must happen to a result when something is done to the data that does not touch their structure: rows
// and columns in another order, the transpose, another unit, the other sign, rows of zeros, every row twice.
// The data are planted, with one best answer each, so that what is found does not depend on where a search
// starts.

#include <fmt/format.h>

#include <functional>
#include <numeric>

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/algorithms/factor_tensor.hpp"
#include "pursuit/algorithms/omp.hpp"
#include "pursuit/algorithms/pca.hpp"
#include "pursuit/completion/complete.hpp"
#include "pursuit/completion/implicit.hpp"
#include "pursuit/completion/structured.hpp"
#include "pursuit/objective/tensor.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using Order = std::vector<Index>;

Order shuffled(Index count, std::uint64_t seed) {
  Order order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index(0));
  Random random(seed);
  for (Index k = count - 1; k > 0; --k)
    std::swap(order[std::size_t(k)], order[std::size_t(random.uniform() * double(k + 1))]);
  return order;
}

/// The data changed, and what the change does to a matrix of fitted values.
struct Change {
  std::string what;
  std::function<Matrix(const Matrix&)> of_data, of_fit;
};

std::vector<Change> changes(Index rows, Index cols) {
  const Order p = shuffled(rows, 1), q = shuffled(cols, 2);
  const auto both = [](const std::string& what, const std::function<Matrix(const Matrix&)>& of) {
    return Change{what, of, of};
  };
  return {both("rows in another order", [=](const Matrix& Y) { return Matrix(Y(p, Eigen::all)); }),
          both("columns in another order", [=](const Matrix& Y) { return Matrix(Y(Eigen::all, q)); }),
          both("transposed", [](const Matrix& Y) { return Matrix(Y.transpose()); }),
          both("times two to the 40", [](const Matrix& Y) { return Matrix(0x1p40 * Y); }),
          both("times two to the -30", [](const Matrix& Y) { return Matrix(0x1p-30 * Y); }),
          both("with rows of zeros",
               [](const Matrix& Y) {
                 Matrix more = Matrix::Zero(Y.rows() + 3, Y.cols());
                 more.middleRows(1, Y.rows()) = Y;
                 return more;
               }),
          both("every row twice", [](const Matrix& Y) {
            Matrix twice(2 * Y.rows(), Y.cols());
            twice << Y, Y;
            return twice;
          })};
}

Matrix fitted(const Expansion& model) {
  return model.left() * model.weights.asDiagonal() * model.right().transpose();
}

/// Three parts on rows and columns of their own, of different sizes, and a little noise.
Matrix planted_blocks(std::uint64_t seed, bool nonnegative) {
  const Index sizes[] = {6, 8, 10}, widths[] = {5, 7, 9};
  Matrix Y = 0.01 * (nonnegative ? uniform(24, 21, seed + 9) : gaussian(24, 21, seed + 9));
  for (Index k = 0, i = 0, j = 0; k < 3; i += sizes[k], j += widths[k], ++k)
    Y.block(i, j, sizes[k], widths[k]) +=
        (3.0 + 2.0 * double(k)) * (0.5 + uniform(sizes[k], 1, seed + std::uint64_t(k)).array()).matrix() *
        (0.5 + uniform(1, widths[k], seed + 4 + std::uint64_t(k)).array()).matrix();
  return Y;
}

void expect_equivariant(const Matrix& Y, const FactorOptions& options, const FactorOptions& of_transpose,
                        double tolerance) {
  const FactorResult plain = factor(Y, options);
  const Matrix fit = fitted(plain.model);
  for (const Change& change : changes(Y.rows(), Y.cols())) {
    SCOPED_TRACE(change.what);
    const FactorResult changed =
        factor(change.of_data(Y), change.what == "transposed" ? of_transpose : options);
    EXPECT_NEAR(changed.relative_error, plain.relative_error, tolerance);
    const Matrix expected = change.of_fit(fit);
    EXPECT_LT((fitted(changed.model) - expected).norm(), 10 * tolerance * expected.norm());
  }
}

TEST(Metamorphic, SvdFollowsItsData) {
  expect_equivariant(gaussian(30, 18, 3), {.rank = 4, .threads = 1}, {.rank = 4, .threads = 1}, 1e-9);
}

TEST(Metamorphic, SvdFollowsTheSign) {
  const Matrix Y = gaussian(20, 30, 4);
  const FactorResult plain = factor(Y, {.rank = 5}), other = factor(Matrix(-Y), {.rank = 5});
  EXPECT_LT((fitted(plain.model) + fitted(other.model)).norm(), 1e-9);
}

TEST(Metamorphic, NonnegativePartsFollowTheirData) {
  const FactorOptions nmf{.rank = 3,
                          .left = nonneg(),
                          .right = nonneg(),
                          .weights = WeightRule::nonneg,
                          .polish_tolerance = 1e-12,
                          .threads = 1};
  expect_equivariant(planted_blocks(5, true), nmf, nmf, 1e-6);
}

TEST(Metamorphic, SparsePartsFollowTheirData) {
  const FactorOptions sides{
      .rank = 3, .left = sparse(10), .right = sparse(9), .polish_tolerance = 1e-12, .threads = 1};
  FactorOptions transposed = sides;
  std::swap(transposed.left, transposed.right);
  const Matrix Y = planted_blocks(6, false);
  const FactorResult plain = factor(Y, sides);
  for (const Change& change : changes(Y.rows(), Y.cols())) {
    if (change.what == "every row twice") continue;  // twice the rows do not fit into the bound
    SCOPED_TRACE(change.what);
    const FactorResult changed = factor(change.of_data(Y), change.what == "transposed" ? transposed : sides);
    EXPECT_NEAR(changed.relative_error, plain.relative_error, 1e-6);
  }
  EXPECT_NEAR(factor(Matrix(-Y), sides).relative_error, plain.relative_error, 1e-9);
}

TEST(Metamorphic, SymmetricAtomsFollowTheirData) {
  const Matrix half = planted_blocks(7, true), S = half * half.transpose();
  const Order p = shuffled(S.rows(), 8);
  const FactorOptions options{
      .rank = 3, .left = nonneg(), .weights = WeightRule::nonneg, .polish_tolerance = 1e-12, .threads = 1};
  const FactorResult plain = factor_symmetric(S, options);
  const FactorResult ordered = factor_symmetric(Matrix(S(p, p)), options);
  EXPECT_NEAR(ordered.relative_error, plain.relative_error, 1e-6);
  EXPECT_LT((fitted(ordered.model) - Matrix(fitted(plain.model)(p, p))).norm(), 1e-4 * S.norm());
  EXPECT_NEAR(factor_symmetric(Matrix(0x1p20 * S), options).relative_error, plain.relative_error, 1e-12);
}

TEST(Metamorphic, CountsFollowTheirData) {
  Matrix Y = (10 * planted_blocks(8, true)).array().round();
  const FactorOptions options{.rank = 3,
                              .left = nonneg(),
                              .right = nonneg(),
                              .weights = WeightRule::nonneg,
                              .loss = parse_loss("poisson"),
                              .polish_tolerance = 1e-12,
                              .threads = 1};
  const FactorResult plain = factor(Y, options);
  const Order p = shuffled(Y.rows(), 9), q = shuffled(Y.cols(), 10);
  EXPECT_NEAR(factor(Matrix(Y(p, q)), options).deviance_explained(), plain.deviance_explained(), 1e-5);
  EXPECT_NEAR(factor(Matrix(Y.transpose()), options).deviance_explained(), plain.deviance_explained(), 1e-5);
}

/// Two atoms of an array of 4 x 5 x 6, entry by entry.
struct PlantedArray {
  Matrix a = gaussian(4, 2, 40), b = gaussian(5, 2, 41), c = gaussian(6, 2, 42);
  double operator()(Index i, Index j, Index k) const {
    return a(i, 0) * b(j, 0) * c(k, 0) + a(i, 1) * b(j, 1) * c(k, 1);
  }
};

TEST(Metamorphic, ArraysFollowTheirData) {
  const PlantedArray Y;
  const auto error_of = [](const std::vector<Index>& shape,
                           const std::function<double(Index, Index, Index)>& entry) {
    const Index split = balanced_split(shape), rows = split == 1 ? shape[0] : shape[0] * shape[1];
    Matrix unfolded(rows, shape[0] * shape[1] * shape[2] / rows);
    for (Index i = 0, place = 0; i < shape[0]; ++i)
      for (Index j = 0; j < shape[1]; ++j)
        for (Index k = 0; k < shape[2]; ++k, ++place)
          unfolded(place / unfolded.cols(), place % unfolded.cols()) = entry(i, j, k);
    return factor_tensor(dense_tensor(data_matrix(unfolded, 1), shape),
                         AtomSets({sphere(), sphere(), sphere()}, {0, 1, 2}),
                         {.rank = 2, .polish = 5000, .polish_tolerance = 1e-14, .threads = 1}, {})
        .relative_error;
  };
  const Order p = shuffled(4, 12);
  EXPECT_LT(error_of({4, 5, 6}, Y), 1e-5);
  EXPECT_LT(error_of({4, 5, 6}, [&](Index i, Index j, Index k) { return -Y(i, j, k); }), 1e-5)
      << "the other sign";
  EXPECT_LT(error_of({4, 5, 6}, [&](Index i, Index j, Index k) { return 0x1p30 * Y(i, j, k); }), 1e-5)
      << "another unit";
  EXPECT_LT(error_of({4, 5, 6}, [&](Index i, Index j, Index k) { return Y(p[std::size_t(i)], j, k); }), 1e-5)
      << "another order";
  EXPECT_LT(error_of({5, 6, 4}, [&](Index j, Index k, Index i) { return Y(i, j, k); }), 1e-5)
      << "turned modes";
  EXPECT_LT(error_of({5, 5, 6}, [&](Index i, Index j, Index k) { return i < 4 ? Y(i, j, k) : 0.0; }), 1e-5)
      << "with a slice of zeros";
}

TEST(Metamorphic, ComponentsFollowTheirData) {
  const Matrix Y = planted_blocks(12, false) + gaussian(24, 21, 13) * 0.05;
  for (const Atoms& atoms : {sphere(), sparse(9)}) {
    SCOPED_TRACE(atoms.spec());
    const PcaOptions options{.components = 2, .atoms = atoms};
    const PcaResult plain = pca(data_matrix(Y, 1), options);
    const auto expect_span = [&](const Matrix& changed, const Matrix& loadings, const char* what) {
      const PcaResult result = pca(data_matrix(changed, 1), options);
      EXPECT_NEAR(result.explained_span, plain.explained_span, 1e-8) << what;
      // Of one sign or the other.
      for (Index k = 0; k < loadings.cols(); ++k)
        EXPECT_NEAR(std::abs(result.loadings.col(k).dot(loadings.col(k))), 1, 1e-6) << what << ", " << k;
    };
    const Order p = shuffled(Y.rows(), 14), q = shuffled(Y.cols(), 15);
    Matrix twice(2 * Y.rows(), Y.cols());
    twice << Y, Y;
    expect_span(Y(p, Eigen::all), plain.loadings, "samples in another order");
    expect_span(Y(Eigen::all, q), plain.loadings(q, Eigen::all), "variables in another order");
    expect_span(-Y, plain.loadings, "the other sign");
    expect_span(0x1p50 * Y, plain.loadings, "another unit");
    expect_span(Y.rowwise() + gaussian(1, Y.cols(), 16).row(0), plain.loadings, "other means");
    expect_span(twice, plain.loadings, "every sample twice");
  }
}

TEST(Metamorphic, CodesFollowTheirDictionary) {
  const Matrix D = gaussian(20, 40, 17), Y = gaussian(20, 6, 18);
  const Matrix codes = omp(D, Y, {.atoms = 5, .threads = 1}).codes;
  const auto codes_of = [](const Matrix& dictionary, const Matrix& signals) {
    return Matrix(omp(dictionary, signals, {.atoms = 5, .threads = 1}).codes);
  };
  const Order p = shuffled(20, 19), q = shuffled(40, 20), s = shuffled(6, 21);
  EXPECT_LT(max_difference(codes_of(D(Eigen::all, q), Y), Matrix(codes(q, Eigen::all))), 1e-9)
      << "atoms in another order";
  EXPECT_LT(max_difference(codes_of(D, Y(Eigen::all, s)), Matrix(codes(Eigen::all, s))), 1e-12)
      << "signals in another order";
  EXPECT_LT(max_difference(codes_of(D(p, Eigen::all), Y(p, Eigen::all)), codes), 1e-9)
      << "entries in another order";
  EXPECT_LT(max_difference(codes_of(D, -Y), Matrix(-codes)), 1e-12) << "the other sign";
  EXPECT_LT(max_difference(codes_of(D, 0x1p20 * Y), Matrix(0x1p20 * codes)), 1e-3)
      << "another unit of signals";
  EXPECT_LT(max_difference(codes_of(0x1p20 * D, Y), Matrix(0x1p-20 * codes)), 1e-12)
      << "another unit of atoms";
  Matrix longer = Matrix::Zero(23, 40), further = Matrix::Zero(23, 6);
  longer.topRows(20) = D, further.topRows(20) = Y;
  EXPECT_LT(max_difference(codes_of(longer, further), codes), 1e-9) << "with entries of zeros";
}

/// Ratings of rank one beside offsets, of which some are seen.
struct SeenRatings {
  Matrix truth;
  ObservedEntries entries;

  explicit SeenRatings(std::uint64_t seed) : truth(40, 30) {
    const Matrix a = gaussian(40, 1, seed), b = gaussian(30, 1, seed + 1), u = gaussian(40, 1, seed + 2),
                 v = gaussian(30, 1, seed + 3);
    truth = (u * v.transpose()).array() + 3;
    truth.colwise() += a.col(0);
    truth.rowwise() += b.col(0).transpose();
    Random random(seed + 4);
    entries.rows = 40, entries.cols = 30;
    for (int i = 0; i < 40; ++i)
      for (int j = 0; j < 30; ++j)
        if (random.uniform() < 0.6) add(i, j);
  }
  void add(int i, int j) {
    entries.row.push_back(i);
    entries.col.push_back(j);
    entries.value.push_back(float(truth(i, j)));
  }
};

/// The root mean square of what predictions of all entries miss, of the deviation of the truth.
double missed(const CompletionModel& model, const Matrix& truth) {
  double sum = 0;
  for (int i = 0; i < truth.rows(); ++i)
    for (int j = 0; j < truth.cols(); ++j)
      sum += std::pow(predict(model, Position{i, j}).value - truth(i, j), 2);
  return std::sqrt(sum / (truth.array() - truth.mean()).square().sum());
}

/// The same data otherwise: the entries and what they are entries of.
std::vector<std::pair<std::string, SeenRatings>> other_ratings(const SeenRatings& seen) {
  std::vector<std::pair<std::string, SeenRatings>> all;
  const auto add = [&](const std::string& what, const auto& change) {
    all.emplace_back(what, seen);
    change(all.back().second);
  };
  const Order p = shuffled(40, 31), q = shuffled(30, 32);
  add("as they are", [](SeenRatings&) {});
  add("members in another order", [&](SeenRatings& r) {
    for (std::size_t e = 0; e < r.entries.row.size(); ++e) {
      r.entries.row[e] = int(p[std::size_t(r.entries.row[e])]);
      r.entries.col[e] = int(q[std::size_t(r.entries.col[e])]);
    }
    Matrix moved(40, 30);
    for (Index i = 0; i < 40; ++i)
      for (Index j = 0; j < 30; ++j) moved(p[std::size_t(i)], q[std::size_t(j)]) = r.truth(i, j);
    r.truth = moved;
  });
  add("transposed", [](SeenRatings& r) {
    std::swap(r.entries.rows, r.entries.cols);
    std::swap(r.entries.row, r.entries.col);
    r.truth = Matrix(r.truth.transpose());
  });
  const auto map = [](SeenRatings& r, double a, double b) {
    r.truth = (a * r.truth).array() + b;
    for (float& value : r.entries.value) value = float(a * value + b);
  };
  add("of the other sign", [&](SeenRatings& r) { map(r, -1, 0); });
  add("times two to the 30", [&](SeenRatings& r) { map(r, 0x1p30, 0); });
  add("times two to the -60", [&](SeenRatings& r) { map(r, 0x1p-60, 0); });
  add("and seven", [&](SeenRatings& r) { map(r, 1, 7); });
  return all;
}

TEST(Metamorphic, CompletionFollowsItsData) {
  for (const auto& [what, ratings] : other_ratings(SeenRatings(22))) {
    CompletionOptions options;
    options.range = Range{-1e300, 1e300};
    EXPECT_LT(missed(complete(ratings.entries, options).model, ratings.truth), 0.05) << what;
  }
}

TEST(Metamorphic, CompletionByAtomSetsFollowsItsData) {
  for (const auto& [what, ratings] : other_ratings(SeenRatings(23))) {
    StructuredOptions options;
    options.max_rank = 5;
    options.offsets = true;
    options.regularization = parse_regularization("auto");
    options.range = Range{-1e300, 1e300};
    EXPECT_LT(missed(complete_structured(ratings.entries, options).model, ratings.truth), 0.1) << what;
  }
}

TEST(Metamorphic, ClicksInAnotherOrderGiveTheSameLists) {
  // Two kinds of rows, which click on columns of their kind.
  ObservedEntries clicks;
  clicks.rows = 40, clicks.cols = 30;
  Random random(24);
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 30; ++j)
      if (i % 2 == j % 2 && random.uniform() < 0.6) {
        clicks.row.push_back(i), clicks.col.push_back(j);
        clicks.value.push_back(1);
      }
  ObservedEntries moved = clicks;
  const Order q = shuffled(30, 25);
  for (int& j : moved.col) j = int(q[std::size_t(j)]);
  ImplicitOptions options;
  options.max_rank = 3;
  const CompletionModel plain = complete_implicit(clicks, options).model,
                        other = complete_implicit(moved, options).model;
  for (int i = 0; i < 40; ++i) {
    double best = -1e300, best_of_moved = -1e300;
    int at = 0, at_of_moved = 0;
    for (int j = 0; j < 30; ++j) {
      if (const double value = predict(plain, Position{i, j}).value; value > best) best = value, at = j;
      const double value = predict(other, Position{i, int(q[std::size_t(j)])}).value;
      if (value > best_of_moved) best_of_moved = value, at_of_moved = j;
    }
    EXPECT_EQ(at % 2, i % 2) << i;
    EXPECT_EQ(at_of_moved % 2, i % 2) << i;
  }
}

}  // namespace
}  // namespace pursuit
