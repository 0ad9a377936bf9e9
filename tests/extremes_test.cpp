// Matrices at the ends of what numbers can hold, and of shapes that leave little to find: a result that keeps
// all promises, or one refusal.

#include <fmt/format.h>

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/algorithms/omp.hpp"
#include "pursuit/algorithms/pca.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/completion/complete.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

struct Extreme {
  std::string what;
  Matrix matrix;
};

std::vector<Extreme> extremes() {
  const Matrix plain = uniform(14, 11, 1);
  std::vector<Extreme> all;
  for (const double size :
       {1e-320, 1e-308, 1e-300, 1e-200, 1e-160, 1e-100, 1e100, 1e153, 1e160, 1e200, 1e300})
    all.push_back({fmt::format("of size {:g}", size), size * plain});
  Matrix mixed = plain;
  for (Index k = 0; k < mixed.size(); ++k) mixed.data()[k] *= std::pow(10.0, double(k % 61) * 10 - 300);
  all.push_back({"of all sizes from 1e-300 to 1e300", mixed});
  Matrix huge = plain;
  huge(3, 4) = 1e300;
  all.push_back({"with one huge entry", huge});
  Matrix tiny = plain;
  tiny(3, 4) = 1e-310;
  all.push_back({"with one tiny entry", tiny});
  all.push_back(
      {"Hilbert's", Matrix::NullaryExpr(14, 11, [](Index i, Index j) { return 1.0 / double(i + j + 1); })});
  all.push_back({"of rank 1", uniform(14, 1, 2) * uniform(1, 11, 3)});
  all.push_back({"of rank 2", uniform(14, 2, 4) * uniform(2, 11, 5)});
  all.push_back({"all equal", Matrix::Constant(14, 11, 3)});
  all.push_back({"all equal, negative", Matrix::Constant(14, 11, -3)});
  all.push_back({"all zero", Matrix::Zero(14, 11)});
  all.push_back({"all minus zero", -Matrix::Zero(14, 11)});
  all.push_back({"of one row", uniform(1, 11, 6)});
  all.push_back({"of one column", uniform(14, 1, 7)});
  all.push_back({"of one entry", Matrix::Constant(1, 1, -2)});
  all.push_back({"diagonal", Matrix::Identity(14, 11)});
  Matrix one = Matrix::Zero(14, 11);
  one(13, 10) = 1e-300;
  all.push_back({"of one entry that is not zero", one});
  return all;
}

/// No answer is promised where data cannot be taken; one is, where they can.
template <class Action>
void expect_answer_or_refusal(const Action& action) {
  try {
    action();
  } catch (const InvalidInput& refusal) {
    EXPECT_NE(std::string(refusal.what()), "");
  }
}

TEST(Extremes, FactorizationsKeepTheirPromises) {
  const std::vector<std::pair<std::string, FactorOptions>> ways{
      {"spheres", {.rank = 3}},
      {"spheres by the pursuit", {.rank = 3, .use_exact_path = false}},
      {"nonneg", {.rank = 3, .left = nonneg(), .right = nonneg(), .weights = WeightRule::nonneg}},
      {"leading",
       {.rank = 3,
        .left = nonneg(),
        .right = nonneg(),
        .weights = WeightRule::nonneg,
        .start = Start::leading}},
      {"sparse", {.rank = 3, .left = sparse_fraction(0.2), .right = sparse_fraction(0.3)}},
      {"sparse and nonneg", {.rank = 2, .right = nonneg() + sparse_fraction(0.3), .corrections = 0}},
      {"monotone", {.rank = 2, .left = monotone()}},
      {"frank-wolfe", {.rank = 2, .weights = parse_weight_rule("convex:10")}},
      {"newest", {.rank = 3, .weights = WeightRule::newest, .corrections = 0, .use_exact_path = false}}};
  for (const auto& [what, Y] : extremes())
    for (const auto& [how, given] : ways) {
      SCOPED_TRACE(what + ", " + how);
      expect_answer_or_refusal([&, &Y = Y, &given = given] {
        FactorOptions options = given;
        options.rank = std::min({given.rank, Y.rows(), Y.cols()});
        const FactorResult result = factor(Y, options);
        const Expansion& model = result.model;
        EXPECT_TRUE(model.left().allFinite() && model.right().allFinite() && model.weights.allFinite());
        EXPECT_GE(result.relative_error, 0);
        EXPECT_LE(result.relative_error, 1 + 1e-9);
        EXPECT_LE(model.rank(), options.rank);
        for (Index k = 0; k < model.rank(); ++k) {
          EXPECT_TRUE(options.left.of(k).contains(model.left().col(k)));
          EXPECT_TRUE(options.right.of(k).contains(model.right().col(k)));
        }
        const double unit = Y.cwiseAbs().maxCoeff();
        if (unit == 0 || unit < 1e-307) return;
        const Matrix rest =
            Y / unit - model.left() * (model.weights / unit).asDiagonal() * model.right().transpose();
        EXPECT_NEAR(rest.norm(), result.relative_error * (Y / unit).norm(), 1e-6 * (Y / unit).norm());
      });
    }
}

TEST(Extremes, ComponentsKeepTheirPromises) {
  for (const auto& [what, Y] : extremes()) {
    if (Y.rows() < 3) continue;  // one sample has no variance
    for (const Atoms& atoms : {sphere(), sparse_fraction(0.2), nonneg()}) {
      SCOPED_TRACE(what + ", " + atoms.spec());
      expect_answer_or_refusal([&, &Y = Y] {
        const PcaResult result = pca(
            data_matrix(Y, 1),
            {.components = std::min<Index>(2, Y.cols()), .atoms = atoms, .effort = PcaOptions::Effort::low});
        EXPECT_TRUE(result.loadings.allFinite() && result.scores.allFinite());
        EXPECT_GE(result.explained_span, -1e-9);
        EXPECT_LE(result.explained_span, 1 + 1e-9);
        for (Index k = 0; k < result.loadings.cols(); ++k)
          EXPECT_TRUE(atoms.of(k).contains(result.loadings.col(k)));
      });
    }
  }
}

TEST(Extremes, CodesKeepTheirPromises) {
  for (const auto& [what, D] : extremes())
    for (const auto& [other, whole] : extremes()) {
      if (whole.rows() != D.rows()) continue;
      SCOPED_TRACE("atoms " + what + ", signals " + other);
      expect_answer_or_refusal([&, &D = D, &whole = whole] {
        const OmpResult result =
            omp(D, whole.leftCols(1), {.atoms = std::min<Index>(3, D.cols()), .threads = 1});
        const Matrix codes = result.codes;
        EXPECT_FALSE(codes.hasNaN());
        EXPECT_LE((codes.array() != 0).count(), 3);
        EXPECT_GE(result.relative_errors[0], 0);
        EXPECT_LE(result.relative_errors[0], 1 + 1e-9);
      });
    }
}

TEST(Extremes, CompletionsPredictFiniteNumbers) {
  for (const auto& [what, Y] : extremes()) {
    SCOPED_TRACE(what);
    ObservedEntries entries;
    entries.rows = Y.rows(), entries.cols = Y.cols();
    for (int i = 0; i < Y.rows(); ++i)
      for (int j = 0; j < Y.cols(); ++j)
        if ((3 * i + j) % 4 != 0 || Y.size() == 1) {
          entries.row.push_back(i), entries.col.push_back(j);
          entries.value.push_back(float(Y(i, j)));
        }
    expect_answer_or_refusal([&, &Y = Y] {
      const CompletionModel model = complete(entries, {}).model;
      for (int i = 0; i < Y.rows(); ++i)
        for (int j = 0; j < Y.cols(); ++j) {
          const Prediction found = predict(model, Position{i, j});
          EXPECT_TRUE(std::isfinite(found.value) && std::isfinite(found.deviation) && found.deviation >= 0);
        }
    });
  }
}

}  // namespace
}  // namespace pursuit
