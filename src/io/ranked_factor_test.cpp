// Factorizations whose sweeps ranks share: the same bits for any number of them, wherever they are.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/io/ranked_matrix_file.hpp"
#include "rank_teams.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

struct Factored {
  FactorResult result;
  RankTraffic sweep;  // what one of them costs rank 0
};

class RankedFactor : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static FactorOptions nmf(Index rank, int sweeps) {
    FactorOptions options;
    options.left = options.right = nonneg();
    options.weights = WeightRule::nonneg;
    options.rank = rank;
    options.start = Start::leading;
    options.polish = sweeps;
    return options;
  }

  static Factored by(int size, int per_machine, const std::string& file, const FactorOptions& options) {
    Factored done;
    on_team_of(
        size,
        [&](RankTeam& team) {
          const RankedMatrixData read = read_data(file, {Header::find, options.threads}, team);
          FactorOptions watched = options;
          std::vector<RankTraffic> traffic;
          watched.observer = [&](const Moment&) {
            traffic.push_back(team.ranks().traffic());
            return true;
          };
          done.result = factor(read.data.matrix, watched);
          const std::size_t last = traffic.size() - 2;  // before factors come together
          done.sweep = {traffic[last].collectives - traffic[last - 1].collectives,
                        traffic[last].bytes_received - traffic[last - 1].bytes_received};
        },
        per_machine);
    return done;
  }

  using Team = std::pair<int, int>;  // ranks, and how many of them are on a machine
  void expect_same_everywhere(const std::string& file, FactorOptions options,
                              const std::vector<Team>& teams = {{2, 1}, {3, 3}, {4, 2}, {7, 3}, {16, 16}}) {
    const FactorResult one = by(1, 1, file, options).result;
    for (const auto& [size, per_machine] : teams) {
      options.threads = size % 3 + 1;
      const FactorResult many = by(size, per_machine, file, options).result;
      const std::string what = fmt::format("{}: {} ranks, {} on a machine", file, size, per_machine);
      EXPECT_TRUE(same_bits(many.model.left(), one.model.left())) << what;
      EXPECT_TRUE(same_bits(many.model.right(), one.model.right())) << what;
      EXPECT_TRUE(same_bits(many.model.weights, one.model.weights)) << what;
    }
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("pursuit_ranked_factor_" + std::to_string(::getpid()));
};

TEST_F(RankedFactor, SweepsAreTheSameBitsForAnyNumberOfRanks) {
  const Matrix planted = uniform(403, 5, 1) * uniform(5, 61, 2) + 0.1 * uniform(403, 61, 3);
  write_matrix(path("dense.npy"), {planted, {}, {}});
  write_matrix(path("single.npy"), {Eigen::MatrixXf(planted.cast<float>()), {}, {}});
  write_matrix(path("sparse.mtx"), {to_sparse(thinned(planted, 0.3, 4)), {}, {}});
  for (const char* file : {"dense.npy", "single.npy", "sparse.mtx"}) {
    expect_same_everywhere(path(file), nmf(5, 12));
    const FactorResult alone = factor(read_data(path(file), {Header::find, 1}).matrix, nmf(5, 12)),
                       shared = by(3, 2, path(file), nmf(5, 12)).result;
    const double rounding = std::string(file) == "single.npy" ? 1e-4 : 1e-8;
    EXPECT_NEAR(shared.relative_error, alone.relative_error, rounding) << file;
    EXPECT_LT(max_difference(shared.model.dense(), alone.model.dense()), 10 * rounding) << file;
  }
}

TEST_F(RankedFactor, FewRowsAndColumnsLeaveRanksWithoutAny) {
  write_matrix(path("few.npy"), {uniform(20, 9, 5), {}, {}});
  write_matrix(path("few.mtx"), {to_sparse(thinned(uniform(40, 17, 6), 0.5, 7)), {}, {}});
  expect_same_everywhere(path("few.npy"), nmf(2, 6));
  expect_same_everywhere(path("few.mtx"), nmf(2, 6));
  FactorOptions one_column = nmf(1, 6);
  expect_same_everywhere(path("few.mtx"), one_column);
}

TEST_F(RankedFactor, GreedyAtomsAreCorrectedBySharedSweepsToo) {
  const Matrix planted = uniform(203, 3, 1) * uniform(3, 41, 2) + 0.1 * uniform(203, 41, 3);
  write_matrix(path("dense.npy"), {planted, {}, {}});
  FactorOptions options = nmf(3, 4);
  options.start = Start::greedy;
  options.corrections = 3;
  expect_same_everywhere(path("dense.npy"), options);
}

TEST_F(RankedFactor, ASweepBringsWhatTheFormulaSays) {
  const Index n = 1600, m = 800, r = 6;
  const Matrix planted = uniform(n, r, 1) * uniform(r, m, 2) + 0.1 * uniform(n, m, 3);
  write_matrix(path("dense.npy"), {planted, {}, {}});
  write_matrix(path("sparse.mtx"), {to_sparse(thinned(planted, 0.1, 4)), {}, {}});
  for (const int ranks : {2, 4}) {
    const double others = double(ranks - 1) / ranks, bytes = sizeof(double);
    const Index padded = 8, sums = (3 * r * r + r) * (ranks - 1);  // Gram matrices and products of the others
    const RankTraffic dense = by(ranks, 1, path("dense.npy"), nmf(r, 12)).sweep,
                      sparse = by(ranks, 1, path("sparse.mtx"), nmf(r, 12)).sweep,
                      together = by(ranks, ranks, path("dense.npy"), nmf(r, 12)).sweep;
    EXPECT_LE(dense.collectives, 7);
    EXPECT_LE(double(dense.bytes_received),
              1.02 * bytes * (double(m * (r + padded)) * others + double(sums)));
    EXPECT_LE(double(sparse.bytes_received),
              1.1 * bytes * (double((n + m) * padded) * others + double(sums)));
    EXPECT_EQ(together.bytes_received, 0) << "a machine's ranks see what each other write";
  }
}

// Long enough that fits are shared.
constexpr Index kLong = 60007;

FactorOptions sparse_parts(const Atoms& left, const Atoms& right) {
  FactorOptions options;
  options.left = left;
  options.right = right;
  options.rank = 3;
  options.restarts = 1;
  options.corrections = 0;
  options.polish = 3;
  options.polish_tolerance = 0;
  return options;
}

TEST_F(RankedFactor, FitsOfSparseFactorsAreThoseOfOneRank) {
  write_matrix(path("long.npy"), {gaussian(kLong, 6, 1), {}, {}});
  expect_same_everywhere(path("long.npy"), sparse_parts(nonneg() + sparse(50), sparse(3)));
  FactorOptions own = sparse_parts(per_atom({sparse(20), nonneg() + sparse(50)}), sphere());
  own.weights = WeightRule::nonneg;
  own.correct_last = 2;
  expect_same_everywhere(path("long.npy"), own, {{3, 2}});
}

TEST_F(RankedFactor, FitsOfSparseFactorsAlongColumnsAreThoseOfOneRank) {
  write_matrix(path("wide.npy"), {gaussian(6, kLong, 1), {}, {}});
  expect_same_everywhere(path("wide.npy"), sparse_parts(sparse(3), nonneg() + sparse_fraction(0.01)),
                         {{2, 1}, {7, 3}});
}

TEST_F(RankedFactor, FitsOfUnusualColumnsAreThoseOfOneRank) {
  write_matrix(path("above.npy"), {uniform(kLong, 6, 2), {}, {}});  // nothing is below zero
  write_matrix(path("sparse.npz"), {to_sparse(thinned(gaussian(kLong, 6, 1), 0.4, 3)), {}, {}});
  expect_same_everywhere(path("above.npy"), sparse_parts(nonneg() + sparse(50), nonneg()), {{4, 2}});
  expect_same_everywhere(path("sparse.npz"), sparse_parts(sparse(50), sphere()), {{4, 2}});
}

TEST_F(RankedFactor, FitsOfNearlyEmptyColumnsAreThoseOfOneRank) {
  write_matrix(path("few.npz"), {to_sparse(thinned(gaussian(kLong, 6, 1), 0.0005, 4)), {}, {}});
  const FactorOptions options = sparse_parts(nonneg() + sparse(300), sphere());
  expect_same_everywhere(path("few.npz"), options, {{66, 66}});  // more than there are blocks of rows
}

TEST_F(RankedFactor, FitsOfSparseFactorsBringWhatMayBeAmongTheLargest) {
  write_matrix(path("long.npy"), {gaussian(kLong, 6, 1), {}, {}});
  const FactorOptions options = sparse_parts(nonneg() + sparse(50), sphere());
  const RankTraffic sweep = by(4, 1, path("long.npy"), options).sweep;
  constexpr Index kOfAFit = 6, kOfTwoProducts = 12;
  EXPECT_GT(sweep.collectives, 5 * options.rank) << "fits are shared";
  EXPECT_LE(sweep.collectives, kOfAFit * options.rank + kOfTwoProducts);
  EXPECT_LE(sweep.bytes_received, options.rank * kLong / 4 * Index(sizeof(double))) << "no whole columns";
}

/// Fits that fail once they are asked for by corrections.
class Failing final : public AtomSet {
 public:
  Failing(const bool& fails) : AtomSet(sparse(50)->traits()), fails_(fails) {}
  bool contains(ConstVectorRef u, double tolerance) const override { return own_->contains(u, tolerance); }
  std::string spec() const override { return "custom:failing"; }

 private:
  void maximize_impl(ConstVectorRef g, VectorRef u) const override {
    if (fails_) throw InvalidArgument("a fit that fails");
    own_->maximize(g, u);
  }
  const bool& fails_;
  Atoms own_ = sparse(50);
};

TEST_F(RankedFactor, AFitThatFailsLeavesAllRanksWithTheirLeader) {
  Matrix few = Matrix::Zero(kLong, 6);
  few.topRows(20) = gaussian(20, 6, 1);  // whole columns are asked for
  write_matrix(path("few.npy"), {few, {}, {}});
  bool fails = false;
  FactorOptions options = sparse_parts(std::make_shared<Failing>(fails), sphere());
  options.observer = [&](const Moment& moment) {
    fails = moment.rank == options.rank;
    return true;
  };
  on_ranks(3, [&](Ranks& ranks) {
    if (!ranks.leads()) {
      EXPECT_EQ(follow(ranks), 7);
      return;
    }
    RankTeam team(ranks);
    {
      const RankedMatrixData read = read_data(path("few.npy"), {Header::find, 1}, team);
      EXPECT_THROW(factor(read.data.matrix, options), InvalidArgument);
      EXPECT_FALSE(team.broken());
    }
    team.dismiss(7);
  });
}

}  // namespace
}  // namespace pursuit
