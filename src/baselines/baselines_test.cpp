// Every method through the one door.

#include "pursuit/baselines/baselines.hpp"

#include "baselines/test_fixtures.hpp"
#include "pursuit/algorithms/pca.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Case {
  Baseline method;
  Atoms atoms;
};
const Case kCases[] = {
    {Baseline::truncated_power, sparse(5)},
    {Baseline::truncated_power, nonneg() + sparse(5)},
    {Baseline::gpower_l0, sparse(5)},
    {Baseline::gpower_l1, sparse_fraction(0.3)},
    {Baseline::empca, sparse(5)},
    {Baseline::empca, nonneg() + sparse(5)},
    {Baseline::spannogram, nonneg() + sparse(5)},
    {Baseline::cone_power, nonneg()},
};

TEST(Baselines, GiveMembersWhateverTheDeflation) {
  const Matrix dense = pitprops();
  const auto data = data_matrix(dense);
  const Covariance C(data);
  for (const auto& [method, atoms] : kCases)
    for (const Deflation deflation :
         {Deflation::hotelling, Deflation::projection, Deflation::schur, Deflation::orthogonal_projection})
      for (const int corrections : {0, 2}) {
        SCOPED_TRACE(testing::Message()
                     << name(method) << ' ' << atoms->spec() << ' ' << name(deflation) << ' ' << corrections);
        const Matrix U = baseline_components(
            method, C, {.components = 3, .atoms = atoms, .deflation = deflation, .corrections = corrections});
        ASSERT_EQ(U.cols(), 3);
        for (const auto& u : U.colwise()) EXPECT_TRUE(atoms->contains(u));
        EXPECT_GT(quadratic_form(dense, U.col(0)), 1.5) << "more than a single variable";
      }
}

TEST(Baselines, ExplainWhatPcaDoesWithoutStructure) {
  const Matrix dense = pitprops();
  const auto data = data_matrix(dense);
  const Covariance C(data);
  const double expected = symmetric_eigen(dense).values.tail(3).sum() / 13;
  EXPECT_NEAR(expected, 0.652, 1e-3) << "32.4 + 18.3 + 14.4 % (Jeffers 1967)";
  for (const Baseline method :
       {Baseline::truncated_power, Baseline::gpower_l0, Baseline::gpower_l1, Baseline::empca})
    EXPECT_NEAR(explained_variance(
                    C, baseline_components(method, C, {.components = 3, .power = {.tolerance = 1e-12}}))
                    .plain,
                expected, 1e-6)
        << name(method);
}

TEST(Baselines, StandACovarianceThatRunsOut) {
  const Matrix rank_one = Matrix::Ones(6, 6), nothing = Matrix::Zero(6, 6);
  for (const auto& data : {data_matrix(rank_one), data_matrix(nothing)})
    for (const auto& [method, atoms] : kCases) {
      const Matrix U =
          baseline_components(method, Covariance(data), {.components = 3, .atoms = atoms, .corrections = 1});
      EXPECT_TRUE(U.allFinite()) << name(method);
      for (const auto& u : U.colwise())
        EXPECT_TRUE(atoms->contains(u)) << name(method) << ' ' << atoms->spec();
    }
}

TEST(Baselines, AreTheSameForASeed) {
  const Matrix dense = low_rank_covariance(40, 10, 1);
  const auto data = data_matrix(dense);
  const Covariance C(data);
  const auto run = [&](Baseline method, std::uint64_t seed) {
    return baseline_components(method, C,
                               {.components = 2,
                                .atoms = nonneg() + sparse(6),
                                .seed = seed,
                                .restarts = 1,
                                .dimension = 4,
                                .samples = 5});
  };
  for (const Baseline method : {Baseline::empca, Baseline::spannogram}) {
    EXPECT_TRUE(same_bits(run(method, 1), run(method, 1)));
    bool differs = false;
    for (std::uint64_t seed = 2; seed < 10; ++seed) differs |= !same_bits(run(method, 1), run(method, seed));
    EXPECT_TRUE(differs) << name(method) << ": the seed is used";
  }
}

TEST(Baselines, OptionsReachTheirMethods) {
  const Matrix dense = pitprops();
  const auto data = data_matrix(dense);
  const Covariance C(data);
  const Atoms atoms = nonneg() + sparse(4);
  const auto variance = [&](Baseline method, const BaselineOptions& options) {
    return explained_variance(C, baseline_components(method, C, options)).plain;
  };
  EXPECT_LT(
      variance(Baseline::spannogram, {.components = 1, .atoms = atoms, .dimension = 1}),
      variance(Baseline::spannogram, {.components = 1, .atoms = atoms, .dimension = 5, .samples = 3000}));
  EXPECT_LT(variance(Baseline::cone_power,
                     {.components = 1, .atoms = nonneg(), .power = {.max_iterations = 1}, .rho = 90}),
            variance(Baseline::cone_power,
                     {.components = 1, .atoms = nonneg(), .power = {.max_iterations = 1}, .rho = 0}));
  EXPECT_LE(variance(Baseline::empca, {.components = 1, .atoms = atoms, .restarts = 1}),
            variance(Baseline::empca, {.components = 1, .atoms = atoms, .restarts = 50}));
}

TEST(Baselines, CorrectionsUseTheDeflation) {
  const Matrix dense = low_rank_covariance(40, 20, 2);
  const auto data = data_matrix(dense);
  const Covariance C(data);
  BaselineOptions options{.components = 4, .atoms = sparse(6), .deflation = Deflation::projection};
  const Matrix greedy = baseline_components(Baseline::truncated_power, C, options);
  options.corrections = 2;
  const Matrix corrected = baseline_components(Baseline::truncated_power, C, options);
  EXPECT_TRUE(same_bits(corrected, correct_components(C, greedy, sparse(6), 2, Deflation::projection)));
  EXPECT_FALSE(same_bits(corrected, greedy));
  EXPECT_FALSE(same_bits(corrected, correct_components(C, greedy, sparse(6), 2)));
}

TEST(Baselines, SayWhatTheyCannotDo) {
  const Matrix dense = pitprops();
  const auto data = data_matrix(dense);
  const Covariance C(data);
  const auto message = [&](Baseline method, const Atoms& atoms) {
    return message_of<InvalidArgument>([&] { baseline_components(method, C, {.atoms = atoms}); });
  };
  EXPECT_THAT(message(Baseline::gpower_l0, nonneg() + sparse(5)),
              AllOf(HasSubstr("gpower-l0"), HasSubstr("sparse:K")));
  EXPECT_THAT(message(Baseline::spannogram, sparse(5)),
              AllOf(HasSubstr("sparse:5"), HasSubstr("nonneg+sparse:K")));
  EXPECT_THAT(message(Baseline::cone_power, nonneg() + sparse(5)), HasSubstr("allowed are nonneg"));
  EXPECT_THAT(message(Baseline::empca, sparse(14)), HasSubstr("14 non-zeros do not fit"));
  EXPECT_THAT(
      message_of<InvalidArgument>([&] {
        baseline_components(
            Baseline::empca, C,
            {.atoms = custom({"first", [](ConstVectorRef g) { return Vector(Vector::Unit(g.size(), 0)); }})});
      }),
      HasSubstr("custom:first"));
  EXPECT_THAT(
      message_of<InvalidArgument>([&] { baseline_components(Baseline::empca, C, {.components = 0}); }),
      HasSubstr("components 0"));
}

TEST(Baselines, NamesAreKept) {
  for (const char* text : {"tpower", "gpower-l0", "gpower-l1", "empca", "spannogram", "cone-power"})
    EXPECT_STREQ(name(parse_baseline(text)), text);
  EXPECT_THAT(message_of<InvalidArgument>([] { parse_baseline("pca"); }),
              AllOf(HasSubstr("method 'pca'"), HasSubstr("tpower, gpower-l0")));
}

TEST(Pca, PitpropsIsExplainedAtLeastAsWellAsByAnyOtherMethod) {
  // Zou, Hastie and Tibshirani (2006) give 75.8 % (adjusted) for six components of their SPCA, cardinalities
  // 7-4-4-1-1-1.
  const PcaResult spca = pca_of_covariance(pitprops(), {.components = 6, .nonzeros = {7, 4, 4, 1, 1, 1}});
  EXPECT_GE(spca.explained_span, 0.758);
  const std::vector<Index> cardinalities{7, 2, 4, 3, 5, 4};
  const PcaResult result = pca_of_covariance(pitprops(), {.components = 6, .nonzeros = cardinalities});
  const Matrix correlations = pitprops();  // operators refer to their data
  const Covariance C(data_matrix(correlations));
  for (const Deflation method :
       {Deflation::hotelling, Deflation::projection, Deflation::schur, Deflation::orthogonal_projection}) {
    Matrix U(13, 6);
    Covariance rest = C;
    for (Index i = 0; i < 6; ++i) {
      U.col(i) = truncated_power(rest, sparse(cardinalities[std::size_t(i)]), PowerStart::leading).u;
      rest = rest.deflated(U.col(i), method);
    }
    EXPECT_GT(result.explained_span, explained_variance(C, U).span) << name(method);
  }
  EXPECT_LE(result.explained_span, pca_of_covariance(pitprops(), {.components = 6}).explained_span);
}

TEST(Baselines, AStoppedRunKeepsWhatItHas) {
  const Matrix samples = gaussian(60, 12, 3);
  const DataMatrixPtr data = data_matrix(samples);
  const Covariance C = Covariance::of_samples(data);
  const Matrix all = baseline_components(Baseline::truncated_power, C, {.components = 4, .atoms = sparse(5)});
  int products = 0;
  baseline_components(Baseline::truncated_power, C,
                      {.components = 4, .atoms = sparse(5), .go_on = [&] { return ++products > 0; }});
  for (const int allowed : {0, 1, products / 2, products - 1}) {
    int left = allowed;
    const Matrix some =
        baseline_components(Baseline::truncated_power, C,
                            {.components = 4, .atoms = sparse(5), .go_on = [&] { return left-- > 0; }});
    ASSERT_GE(some.cols(), 1) << allowed;
    ASSERT_LT(some.cols(), 4) << allowed;
    for (Index i = 0; i < some.cols(); ++i) EXPECT_TRUE(sparse(5)->contains(some.col(i), 1e-12)) << allowed;
    if (allowed > 1) {
      EXPECT_TRUE(same_bits(some, all.leftCols(some.cols()))) << allowed;
    }
  }
}

TEST(Baselines, GiveEveryComponentTheSetOfItsAtom) {
  const Matrix samples = gaussian(30, 12, 8);
  const auto data = data_matrix(Matrix(samples.transpose() * samples));
  const Covariance C(data);
  const Atoms sets = per_atom({sparse(5), sparse(2)});
  const Matrix U =
      baseline_components(Baseline::truncated_power, C, {.components = 3, .atoms = sets, .corrections = 1});
  for (Index i = 0; i < 3; ++i) EXPECT_TRUE(sets.of(i).contains(U.col(i))) << i;
  EXPECT_THAT(message_of<InvalidArgument>([&] { baseline_components(Baseline::empca, C, {.atoms = sets}); }),
              testing::HasSubstr("loadings in sparse:5,2"));
}

TEST(BaselinePca, IsAResultLikeThatOfPca) {
  const auto samples = data_matrix(gaussian(40, 9, 21));
  const Covariance C = Covariance::of_samples(samples);
  const PcaResult exact = pca(samples, {.components = 2});
  const PcaResult result =
      baseline_pca(Baseline::truncated_power, C,
                   {.components = 2, .power = {.max_iterations = 5000, .tolerance = 1e-14}}, samples);
  EXPECT_NEAR(result.explained_span, exact.explained_span, 1e-6);
  EXPECT_LT(max_difference(result.means, exact.means), 1e-14);
  EXPECT_LT(max_difference(result.scores.cwiseAbs(), exact.scores.cwiseAbs()), 1e-2);
  EXPECT_EQ(baseline_pca(Baseline::truncated_power, C, {.components = 2}).scores.size(), 0);

  const Expansion model = factorization_of(result);
  const Matrix centred = model.dense();
  EXPECT_LT(max_difference(centred, Matrix(result.scores * result.loadings.transpose())), 1e-12);
  EXPECT_LT(max_difference(model.left().colwise().norm(), Vector::Ones(2).transpose()), 1e-14);
}

}  // namespace
}  // namespace pursuit
