#include "pursuit/completion/similar.hpp"

#include <Eigen/LU>

#include "completion/test_support.hpp"
#include "pursuit/completion/structured.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

/// Columns in two kinds, which rows like or not independently of each other.
ObservedEntries two_kinds(Index rows, Index cols, std::uint64_t seed) {
  const Matrix tastes = gaussian(rows, 2, seed), noise = gaussian(rows, cols, seed + 1);
  Matrix values(rows, cols);
  for (Index j = 0; j < cols; ++j) values.col(j) = tastes.col(j % 2) + 0.3 * noise.col(j);
  const Vector liked = 5 * gaussian(cols, 1, seed + 2).col(0);  // by all, which says nothing
  values.rowwise() += liked.transpose();
  return observed(values, 0.5, seed + 3);
}

TEST(Neighbours, AreOfTheSameKind) {
  const ObservedEntries entries = two_kinds(120, 40, 5);
  for (const CompletionModel& model :
       {complete(entries).model, complete_structured(entries, {.offsets = true, .max_rank = 2}).model}) {
    const std::vector<int> members{0, 1, 17, 17};
    const auto lists = Neighbours(model, Neighbours::Side::cols).of(members, 10, 2);
    for (std::size_t k = 0; k < members.size(); ++k) {
      ASSERT_EQ(lists[k].size(), 10U);
      for (const Neighbour& each : lists[k]) {
        EXPECT_EQ(each.member % 2, members[k] % 2);
        EXPECT_NE(each.member, members[k]);
        EXPECT_GT(each.similarity, 0.6);
        EXPECT_LE(each.similarity, 1 + 1e-6);
      }
    }
  }
}

TEST(Neighbours, AreThoseOfAPlainReference) {
  const ObservedEntries entries = two_kinds(67, 1201, 9);
  const CompletionModel model = complete(entries, {.max_rank = 4}).model;
  for (const bool of_cols : {true, false}) {
    const CompletionSide &side = of_cols ? model.cols : model.rows,
                         &other = of_cols ? model.rows : model.cols;
    const Index rank = side.mean.cols() - 1;
    const Matrix v = side.mean.rightCols(rank).cast<double>(), u = other.mean.rightCols(rank).cast<double>();
    const Eigen::RowVectorXd mean = u.colwise().mean();
    const Matrix centred = u.rowwise() - mean;
    Matrix S = centred.transpose() * centred / double(u.rows());
    S.diagonal() += other.variance.rightCols(rank).cast<double>().colwise().mean().transpose();
    const auto K = [&](Index j) {
      return v.row(j).dot(S * v.row(j).transpose()) +
             side.variance.rightCols(rank).cast<double>().row(j).dot(S.diagonal());
    };
    const Neighbours neighbours(model, of_cols ? Neighbours::Side::cols : Neighbours::Side::rows);
    const std::vector<int> members{3};
    const auto list = neighbours.of(members, 5)[0];
    std::vector<std::pair<double, int>> plain;
    for (int k = 0; k < v.rows(); ++k)
      if (k != 3) plain.emplace_back(-v.row(3).dot(S * v.row(k).transpose()) / std::sqrt(K(3) * K(k)), k);
    std::sort(plain.begin(), plain.end());
    for (std::size_t p = 0; p < 5; ++p) {
      EXPECT_NEAR(list[p].similarity, -plain[p].first, 1e-5);
      EXPECT_NEAR(-plain[p].first,
                  v.row(3).dot(S * v.row(list[p].member).transpose()) / std::sqrt(K(3) * K(list[p].member)),
                  1e-5);
    }
  }
}

TEST(Neighbours, DoNotChangeWhereFactorsAreTurnedAndScaled) {
  const ObservedEntries entries = two_kinds(60, 30, 3);
  CompletionModel model = complete_structured(entries, {.max_rank = 3}).model;
  const std::vector<int> members{0, 5};
  const auto before = Neighbours(model, Neighbours::Side::cols).of(members, 4);
  const Matrix turn = gaussian(3, 3, 8);
  const Matrix left = model.atoms.scaled_left() * turn;
  const Matrix right = model.atoms.right() * turn.inverse().transpose();
  model.atoms = Expansion(left, right, Vector::Ones(3));
  const auto after = Neighbours(model, Neighbours::Side::cols).of(members, 4);
  for (std::size_t k = 0; k < members.size(); ++k)
    for (std::size_t p = 0; p < 4; ++p) {
      EXPECT_EQ(before[k][p].member, after[k][p].member);
      EXPECT_NEAR(before[k][p].similarity, after[k][p].similarity, 1e-5);
    }
}

TEST(Neighbours, RefuseWhatThereIsNot) {
  const ObservedEntries entries = two_kinds(20, 10, 4);
  const CompletionModel offsets = complete(entries, {.max_rank = 0}).model;
  EXPECT_THAT(message_of<InvalidInput>([&] { Neighbours(offsets, Neighbours::Side::rows); }),
              HasSubstr("offsets alone"));
  const Neighbours neighbours(complete_structured(entries, {.max_rank = 1}).model, Neighbours::Side::rows);
  const std::vector<int> outside{20}, inside{19};
  EXPECT_THAT(message_of<InvalidArgument>([&] { neighbours.of(outside, 1); }), HasSubstr("member 20"));
  EXPECT_THROW(neighbours.of(inside, -1), InvalidArgument);
  EXPECT_TRUE(neighbours.of(inside, 0)[0].empty());
  EXPECT_EQ(neighbours.of(inside, 99)[0].size(), 19U);
}

}  // namespace
}  // namespace pursuit
