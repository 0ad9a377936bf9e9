// Entries of members that were never seen.

#include "completion/predictor.hpp"

#include <cmath>

#include "test_support.hpp"

namespace pursuit {
namespace {

/// E (l r)^2 - (E l r)^2 of a row and a column that are drawn from those there are.
TEST(Predictor, AnEntryOfTwoStrangersVariesAsTheProductOfBoth) {
  const Index rank = 2;
  CompletionModel model;
  model.atoms = {gaussian(5, rank, 1), gaussian(6, rank, 2), Vector(gaussian(rank, 1, 3)), false};
  const Predictor predictor(model);
  double variance = 0;
  for (Index k = 0; k < rank; ++k) {
    const AtomMember row = predictor.row(-1), column = predictor.column(-1);
    const double l = row.mean(k), r = column.mean(k);
    EXPECT_GT(row.variance(k), 0);
    EXPECT_GT(column.variance(k), 0);
    variance += (l * l + row.variance(k)) * (r * r + column.variance(k)) - l * l * r * r;
  }
  EXPECT_NEAR(predictor.unclipped({-1, -1}, {}).deviation, std::sqrt(variance), 1e-12 * std::sqrt(variance));
}

}  // namespace
}  // namespace pursuit
