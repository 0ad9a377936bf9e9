// Draws by blocks against draws of one feature after the other.

#include "completion/feature_blocks.hpp"

#include "completion/row_posteriors.hpp"
#include "completion/test_support.hpp"

namespace pursuit {
namespace {

struct DrawnWeights {
  AlignedVector<float> deviation, weights;
  std::vector<double> squares;
  bool operator==(const DrawnWeights&) const = default;
};

/// Features of some members, with deviations and weights to begin with.
class FeatureDraws {
 public:
  FeatureDraws(ObservedEntries entries, bool has_values, int width)
      : table_(std::move(entries)), width_(width), tau_(std::size_t(width)), ratio_(tau_) {
    features_ = {
        std::make_shared<EntryTasks>(table_.by_col()), std::make_shared<EntryTasks>(table_.by_row()), {}};
    if (!has_values)
      for (Index i = 0; i < table_.rows(); ++i)
        features_.scale.push_back(1 / std::sqrt(float(1 + table_.by_row().count(i))));
    Random random(5);
    const auto numbers = [&](Index count) {
      AlignedVector<float> result(std::size_t(count * width));
      for (float& x : result) x = float(random.gaussian());
      return result;
    };
    deviation_ = numbers(table_.rows());
    weights_ = numbers(table_.cols());
    normal_ = numbers(table_.cols());
    for (std::size_t c = 0; c < tau_.size(); ++c)
      tau_[c] = 0.1F + 0.02F * float(c), ratio_[c] = 0.5F + float(c);
    squared_norm_.assign(std::size_t(table_.cols()), 0.0F);
    for_entries([&](Index f, Index, float value) { squared_norm_[std::size_t(f)] += value * value; });
  }

  FeatureBlocks blocks(int threads = 1) const { return {features_, threads}; }

  DrawnWeights draw(int threads) const {
    DrawnWeights result{deviation_, weights_, {}};
    AlignedVector<float> room;
    result.squares = blocks(threads).draw(
        {width_, squared_norm_, tau_, ratio_, normal_, result.deviation, result.weights, room}, threads);
    return result;
  }

  /// One feature after the other, in double precision.
  void expect_plain_draws(const DrawnWeights& drawn) const {
    Matrix deviation = matrix(deviation_), weights = matrix(weights_);
    const Matrix normal = matrix(normal_);
    Vector squares = Vector::Zero(width_);
    const GroupedEntries& entries = table_.by_col();
    for (Index f = 0; f < table_.cols(); ++f) {
      const double norm = squared_norm_[std::size_t(f)];
      if (norm == 0) continue;
      for (int c = 0; c < width_; ++c) {
        const auto at = [&](std::int64_t e) -> double& { return deviation(entries.index[e], c); };
        double sum = 0;
        for (std::int64_t e = entries.start[f]; e < entries.start[f + 1]; ++e)
          sum += features_.value(e) * at(e);
        const double precision = norm + ratio_[std::size_t(c)];
        const double fresh = (sum + norm * weights(f, c)) / precision +
                             std::sqrt(tau_[std::size_t(c)] / precision) * normal(f, c);
        for (std::int64_t e = entries.start[f]; e < entries.start[f + 1]; ++e)
          at(e) -= features_.value(e) * (fresh - weights(f, c));
        weights(f, c) = fresh;
        squares[c] += fresh * fresh;
      }
    }
    EXPECT_LT(max_difference(matrix(drawn.deviation), deviation), 1e-4);
    EXPECT_LT(max_difference(matrix(drawn.weights), weights), 1e-4);
    for (int c = 0; c < width_; ++c)
      EXPECT_NEAR(drawn.squares[std::size_t(c)], squares[c], 1e-4 * (1 + squares[c]));
  }

 private:
  template <class Work>
  void for_entries(const Work& work) const {
    const GroupedEntries& entries = table_.by_col();
    for (Index f = 0; f < entries.size(); ++f)
      for (std::int64_t e = entries.start[f]; e < entries.start[f + 1]; ++e)
        work(f, entries.index[e], features_.value(e));
  }

  Matrix matrix(const AlignedVector<float>& rows) const {
    return Eigen::Map<const FactorMatrix>(rows.data(), Index(rows.size()) / width_, width_).cast<double>();
  }

  ObservedMatrix table_;
  Features features_;
  int width_;
  AlignedVector<float> tau_, ratio_, deviation_, weights_, normal_;
  std::vector<float> squared_norm_;
};

/// Members by features: few, or many with few entries each, or few with many.
struct FeatureShape {
  Index members, features;
  double share;
};
const FeatureShape kFeatureShapes[] = {
    {1, 1, 1}, {7, 3, 0.5}, {300, 131, 0.4}, {2500, 40, 0.5}, {400, 3000, 0.004}};

ObservedEntries feature_table(const FeatureShape& shape) {
  ObservedEntries entries = observed(gaussian(shape.members, shape.features, 1), shape.share, 2);
  entries.rows += 2;  // members and features without entries
  entries.cols += 2;
  return entries;
}

TEST(FeatureBlocks, DrawAsOneFeatureAfterTheOther) {
  for (const FeatureShape& shape : kFeatureShapes)
    for (const bool has_values : {true, false})
      for (const int width : {8, 16, 24, 48}) {
        SCOPED_TRACE(testing::Message() << shape.members << " x " << shape.features << ", width " << width);
        const FeatureDraws problem(feature_table(shape), has_values, width);
        problem.expect_plain_draws(problem.draw(1));
      }
}

TEST(FeatureBlocks, GiveTheSameBitsForAnyNumberOfThreads) {
  for (const FeatureShape& shape : kFeatureShapes) {
    const FeatureDraws problem(feature_table(shape), true, 32);
    const DrawnWeights one = problem.draw(1);
    for (const int threads : {2, 3, 16}) EXPECT_EQ(problem.draw(threads), one) << threads << " threads";
  }
}

TEST(FeatureBlocks, CutMembersAndFeaturesWhereThereAreMany) {
  const FeatureDraws few(feature_table({300, 20, 0.4}), true, 8),
      many(feature_table({2500, 300, 0.3}), true, 8);
  EXPECT_EQ(few.blocks().blocks(), 1);
  EXPECT_EQ(few.blocks().ranges(), 1);
  EXPECT_GT(many.blocks().blocks(), 2);
  EXPECT_GT(many.blocks().ranges(), 8);
}

TEST(FeatureBlocks, TakeMoreMembersThanPlacesOfARangeHold) {
  ObservedEntries entries{200000, 3, {}, {}, {}};
  for (int i = 0; i < 200000; i += 3) append(entries, i, i % 2, 0.5F);
  append(entries, 199999, 2, 1.0F);
  const FeatureDraws problem(entries, true, 8);
  EXPECT_GE(problem.blocks().ranges(), 4);
  const DrawnWeights drawn = problem.draw(2);
  problem.expect_plain_draws(drawn);
}

}  // namespace
}  // namespace pursuit
