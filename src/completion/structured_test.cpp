// Completion by pursuit with structured atoms.

#include "pursuit/completion/structured.hpp"

#include "completion/test_support.hpp"
#include "pursuit/algorithms/factor.hpp"
#include "pursuit/completion/split.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

constexpr Range kAnyRange{-1e9, 1e9};

/// Everything trained on, nothing clipped, `rank` atoms: what is left is Algorithm 2.
StructuredOptions plain(Index rank, const Atoms& left, const Atoms& right, int sweeps = 30) {
  StructuredOptions options{.left = left, .right = right};
  options.max_rank = rank;
  options.corrections = {sweeps};
  options.validation = 0;
  options.range = kAnyRange;
  return options;
}

constexpr Index kSupport = 12;

/// Unit columns: signed, non-negative, or of kSupport entries each, in places of their own.
Matrix planted_factors(Index size, Index rank, const std::string& kind, std::uint64_t seed) {
  Matrix factors = gaussian(size, rank, seed);
  if (kind == "nonneg") factors = factors.cwiseMax(0.0).eval();
  if (kind == "sparse")
    for (Index k = 0; k < rank; ++k) {
      const Vector support = factors.col(k).segment(k * kSupport, kSupport);
      factors.col(k).setZero();
      factors.col(k).segment(k * kSupport, kSupport) = support;
    }
  return factors.colwise().normalized();
}

double relative_error(const Matrix& got, const Matrix& want) {
  return (got - want).norm() / want.norm();
}

TEST(CompleteStructured, OfAFullMatrixIsItsFactorization) {
  const Matrix Y = uniform(40, 30, 1).cast<float>().cast<double>();
  for (const auto& [left, right, rule] :
       {std::tuple<Atoms, Atoms, WeightRule>{sphere(), sphere(), WeightRule::free},
        {nonneg(), nonneg(), WeightRule::nonneg},
        {sphere(), sparse(10), WeightRule::free}}) {
    SCOPED_TRACE(left->spec() + " x " + right->spec());
    StructuredOptions options = plain(3, left, right);
    options.weights = rule;
    const Expansion got = complete_structured(observed(Y, 1, 1), options).model.atoms;
    FactorOptions reference{.rank = 3, .left = left, .right = right, .weights = rule};
    reference.threads = 1;
    EXPECT_EQ(got.rank(), 3);
    EXPECT_NEAR(relative_error(got.dense(), Y), factor(Y, reference).relative_error, 5e-3);
  }
}

TEST(CompleteStructured, RecoversPlantedFactorsUnderAMask) {
  for (const std::string kind : {"nonneg", "sparse"}) {
    const Matrix left = planted_factors(60, 2, kind, 3), right = planted_factors(50, 2, kind, 4);
    const Matrix Y = 20 * left * Vector(Vector::LinSpaced(2, 3, 1)).asDiagonal() * right.transpose();
    const Atoms set = kind == "nonneg" ? nonneg() : sparse(kSupport);
    StructuredOptions options = plain(2, set, set, 100);
    if (kind == "nonneg") options.weights = WeightRule::nonneg;
    const Expansion got = complete_structured(observed(Y, 0.5, 5), options).model.atoms;
    ASSERT_EQ(got.rank(), 2) << kind;
    EXPECT_LT(relative_error(got.dense(), Y), 0.02) << kind << ", the entries that were not seen included";
    const Matrix overlap = (got.left().transpose() * left).cwiseProduct(got.right().transpose() * right);
    for (Index k = 0; k < 2; ++k) {
      EXPECT_GT(overlap.col(k).cwiseAbs().maxCoeff(), 0.99) << kind << ", planted atom " << k;
      EXPECT_TRUE(set->contains(got.left().col(k), 1e-12));
      EXPECT_TRUE(set->contains(got.right().col(k), 1e-12));
    }
  }
}

/// Entries of a symmetric matrix on one side of the diagonal (and on it), or on both sides.
ObservedEntries triangle(const Matrix& C, double share, bool upper, bool lower) {
  ObservedEntries result{C.rows(), C.cols(), {}, {}, {}};
  const ObservedEntries all = observed(C, share, 7);
  for (std::size_t e = 0; e < all.row.size(); ++e) {
    const int i = all.row[e], j = all.col[e];
    if (i > j) continue;
    if (upper || i == j) append(result, i, j, all.value[e]);
    if (lower && i != j) append(result, j, i, all.value[e]);
  }
  return result;
}

TEST(CompleteStructured, OfASymmetricMatrixNeedsOneTriangleOnly) {
  const Matrix U = planted_factors(40, 2, "", 8);
  const Matrix C = U * Vector(Vector::LinSpaced(2, 30, 20)).asDiagonal() * U.transpose();
  StructuredOptions options = plain(2, sphere(), sphere(), 200);
  options.symmetric = true;
  const Expansion upper = complete_structured(triangle(C, 0.8, true, false), options).model.atoms;
  EXPECT_LT(relative_error(upper.dense(), C), 0.2);
  EXPECT_EQ(upper.left(), upper.right());
  for (const bool both : {false, true}) {
    const Expansion other = complete_structured(triangle(C, 0.8, both, true), options).model.atoms;
    EXPECT_EQ(other.left(), upper.left()) << both;
    EXPECT_EQ(other.weights, upper.weights) << both;
  }
}

TEST(CompleteStructured, TakesOffsetsOffASymmetricMatrixToo) {
  const Matrix U = planted_factors(30, 1, "", 9), C = 20 * U * U.transpose() + Matrix::Constant(30, 30, 3);
  StructuredOptions options = plain(1, sphere(), sphere(), 20);
  options.symmetric = true;
  options.offsets = true;
  const CompletionResult result = complete_structured(triangle(C, 0.8, true, true), options);
  EXPECT_EQ(result.model.atoms.rank(), 1);
  EXPECT_NEAR(predict(result.model, {3, 7}).value, predict(result.model, {7, 3}).value, 0.1);
}

TEST(CompleteStructured, RefusesTrianglesThatContradictAndNamesBothEntries) {
  StructuredOptions options = plain(1, sphere(), sphere());
  options.symmetric = true;
  const std::string message = message_of<InvalidInput>([&] {
    complete_structured({5, 5, {0, 1, 3, 2}, {0, 3, 1, 4}, {1, 2, 2.5, 7}}, options);
  });
  EXPECT_THAT(message, HasSubstr("row 1, column 3 is 2,"));
  EXPECT_THAT(message, HasSubstr("row 3, column 1 it is 2.5"));
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                complete_structured({2, 3, {0}, {0}, {1}}, options);
              }),
              HasSubstr("2 x 3"));
}

TEST(CompleteStructured, ShrinksMoreTheLargerTheRidge) {
  const Planted data = planted(60, 50, 2, 0.5, 0.4, 61);
  for (const std::string suffix : {"", ":count"}) {
    double last = std::numeric_limits<double>::infinity();
    for (const std::string lambda : {"0.1", "3", "30"}) {
      StructuredOptions options = plain(3, sphere(), sphere(), 10);
      options.regularization = parse_regularization(lambda + suffix);
      const double norm = complete_structured(data.train, options).model.atoms.dense().norm();
      EXPECT_LT(norm, 0.99 * last) << lambda + suffix;
      last = norm;
    }
  }
}

TEST(CompleteStructured, SelfTunedDoesNotFollowNoise) {
  const Matrix noise = gaussian(60, 50, 10);
  StructuredOptions options = plain(3, sphere(), sphere(), 100);
  const ObservedEntries entries = observed(noise, 0.4, 11);
  const double free = complete_structured(entries, options).model.atoms.dense().norm();
  options.regularization = parse_regularization("auto");
  EXPECT_LT(complete_structured(entries, options).model.atoms.dense().norm(), 0.05 * free);
}

TEST(CompleteStructured, KeepsTheSignOfWeightsUnderRegularizationToo) {
  const Planted data = planted(40, 30, 2, 0.5, 0.5, 71);
  for (const std::string regularization : {"none", "0.1", "0.1:count", "auto"}) {
    StructuredOptions options = plain(4, nonneg(), nonneg(), 5);
    options.weights = WeightRule::nonneg;
    options.regularization = parse_regularization(regularization);
    const Expansion atoms = complete_structured(data.train, options).model.atoms;
    EXPECT_TRUE((atoms.weights.array() >= 0).all()) << regularization << ": " << atoms.weights.transpose();
  }
}

TEST(CompleteStructured, KeepsTheRankThatPredictsTheValidationEntriesBest) {
  const Planted data = planted(100, 80, 2, 0.5, 0.3, 81);
  StructuredOptions options{.corrections = {2}, .validation_entries = &data.test};
  options.offsets = true;
  options.max_rank = 12;
  const CompletionResult result = complete_structured(data.train, options);
  ASSERT_FALSE(result.path.empty());
  const auto best =
      std::min_element(result.path.begin(), result.path.end(),
                       [](const auto& a, const auto& b) { return a.validation < b.validation; });
  EXPECT_EQ(result.model.atoms.rank(), best->rank);
  EXPECT_NEAR(accuracy_on(result.model, data.test).rmse, best->validation, 1e-5);
  EXPECT_GE(best->rank, 2);
  EXPECT_LE(best->rank, 4);
  EXPECT_LT(best->validation, 0.8) << "the noise is 0.5";
  EXPECT_GT(Index(result.path.size()), best->rank) << "it looked further than that";
}

TEST(CompleteStructured, TrainsOnEverythingOnceTheRankIsChosen) {
  const Planted data = planted(100, 80, 2, 0.3, 0.3, 91);
  StructuredOptions options{.validation = 0.2};
  options.offsets = true;
  options.corrections = {0, 5};
  options.max_rank = 6;
  options.predict = positions_of(data.test);
  const CompletionResult result = complete_structured(data.train, options);
  EXPECT_EQ(result.path.back().sweeps, 5) << "corrections help, and the better number of them is kept";
  EXPECT_TRUE(std::isnan(result.path.back().validation));
  const Accuracy got = accuracy(result.predictions, data.test.value);
  EXPECT_LT(got.rmse, 0.6);
  EXPECT_NEAR(got.inside_80, 0.8, 0.2);
  const GroupedEntries expected = std::move(ObservedMatrix(data.train)).take_by_row();
  EXPECT_EQ(result.seen.index, expected.index);
  EXPECT_EQ(result.seen.value, expected.value) << "as they came, not what the offsets left of them";
}

TEST(CompleteStructured, GivesTheSameBitsForAnyNumberOfThreads) {
  const Planted data = planted(80, 60, 2, 0.3, 0.3, 101);
  StructuredOptions options{.left = nonneg(), .right = sparse(20)};
  options.max_rank = 3;
  const Expansion one = complete_structured(data.train, options).model.atoms;
  for (const int threads : {2, 4}) {
    options.threads = threads;
    const Expansion many = complete_structured(data.train, options).model.atoms;
    EXPECT_TRUE(same_bits(many.left(), one.left()) && same_bits(many.right(), one.right())) << threads;
    EXPECT_TRUE(same_bits(many.weights, one.weights)) << threads;
  }
}

TEST(CompleteStructured, StoppedEarlyKeepsWhatThereIs) {
  const Planted data = planted(80, 60, 2, 0.3, 0.3, 111);
  StructuredOptions options = completion_preset("gmpr");
  options.predict = positions_of(data.test);
  options.time_limit = 1e-9;
  const CompletionResult out_of_time = complete_structured(data.train, options);
  EXPECT_TRUE(out_of_time.interrupted());
  EXPECT_EQ(out_of_time.model.atoms.rank(), 1) << "the atom that was found before time was up";
  options.time_limit = std::numeric_limits<double>::infinity();
  options.observer = [](const Moment& moment) { return moment.rank < 3; };
  const CompletionResult stopped = complete_structured(data.train, options);
  EXPECT_TRUE(stopped.interrupted());
  EXPECT_GE(stopped.model.atoms.rank(), 2);
  EXPECT_EQ(stopped.predictions.size(), options.predict.size());
}

/// Mixtures of a few spectra, each of some peaks, of which three entries in ten are missing.
struct Spectra {
  Matrix pure, amounts, mixtures;
  ObservedEntries seen;

  explicit Spectra(std::uint64_t seed, Index samples = 80, Index channels = 120, Index count = 4)
      : pure(Matrix::Zero(channels, count)), amounts(uniform(samples, count, seed)) {
    const Matrix places = uniform(3, count, seed + 100), heights = uniform(3, count, seed + 200);
    for (Index k = 0; k < count; ++k)
      for (Index peak = 0; peak < 3; ++peak)
        for (Index c = 0; c < channels; ++c) {
          const double distance = (double(c) / double(channels) - places(peak, k)) / 0.02;
          pure(c, k) += (0.3 + heights(peak, k)) * std::exp(-0.5 * distance * distance);
        }
    pure = pure.colwise().normalized();
    amounts = amounts.unaryExpr([](double x) { return x < 0.4 ? 0.0 : x; });
    mixtures = (amounts * pure.transpose() + 1e-3 * gaussian(samples, channels, seed + 300)).cwiseMax(0.0);
    seen = observed(mixtures, 0.7, seed + 400);
  }

  /// Of the worst spectrum with the atom nearest to it.
  double worst_cosine(const Expansion& atoms) const {
    return (pure.transpose() * atoms.right()).rowwise().maxCoeff().minCoeff();
  }
};

StructuredOptions polished_nmf() {
  StructuredOptions options{.left = nonneg(), .right = nonneg(), .weights = WeightRule::nonneg};
  options.polish = 500;
  return options;
}

TEST(CompleteStructured, RecoversSpectraWithGapsAndTheirNumber) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const Spectra data(seed);
    const CompletionResult result = complete_structured(data.seen, polished_nmf());
    EXPECT_EQ(result.stop, Stop::no_gain) << seed;
    EXPECT_EQ(result.model.atoms.rank(), 4) << seed;
    EXPECT_GT(data.worst_cosine(result.model.atoms), 0.99) << seed;
    EXPECT_LT(relative_error(result.model.atoms.dense(), data.mixtures), 0.05) << seed << ", gaps included";
  }
}

TEST(CompleteStructured, WithoutGapsAPolishEndsWhereTheFactorizationDoes) {
  const Matrix Y = uniform(40, 30, 1).cast<float>().cast<double>();
  StructuredOptions options = polished_nmf();
  options.validation = 0;
  options.max_rank = 4;
  options.polish_tolerance = 1e-9;
  options.polish = 10000;
  const CompletionResult result = complete_structured(observed(Y, 1, 1), options);
  FactorOptions full{.rank = 4, .left = nonneg(), .right = nonneg(), .weights = WeightRule::nonneg};
  full.polish = 10000;
  full.polish_tolerance = 1e-9;
  EXPECT_EQ(result.stop, Stop::rank_reached);
  EXPECT_NEAR(relative_error(result.model.atoms.dense(), Y), factor(Y, full).relative_error, 1e-3);
}

TEST(CompleteStructured, APolishIsAtRestWhereItEnds) {
  const Spectra data(6);
  StructuredOptions options = polished_nmf();
  options.validation = 0;
  options.max_rank = 4;
  const CompletionResult once = complete_structured(data.seen, options);
  options.polish_tolerance = 1e-10;
  options.polish = 20000;
  const CompletionResult deeper = complete_structured(data.seen, options);
  ASSERT_EQ(once.stop, Stop::rank_reached);
  ASSERT_EQ(deeper.stop, Stop::rank_reached);
  EXPECT_LE(deeper.path.back().noise, once.path.back().noise * (1 + 1e-9));
  EXPECT_LT(once.path.back().noise, 1.01 * deeper.path.back().noise);
}

TEST(CompleteStructured, SaysThatAPolishDidNotSettle) {
  StructuredOptions options = polished_nmf();
  options.polish = 2;
  options.max_rank = 4;
  EXPECT_EQ(complete_structured(Spectra(7).seen, options).stop, Stop::not_converged);
}

TEST(CompleteStructured, APolishWorksForSetsOfAnyKind) {
  const Spectra data(8);
  StructuredOptions options = polished_nmf();
  options.right = sparse(60);
  options.validation = 0;
  options.max_rank = 4;
  options.polish_tolerance = 1e-3;
  const CompletionResult polished = complete_structured(data.seen, options);
  EXPECT_EQ(polished.stop, Stop::rank_reached);
  options.polish = 0;
  EXPECT_LT(polished.path.back().noise, complete_structured(data.seen, options).path.back().noise);
}

TEST(CompleteStructured, ExactMixturesAreAnEndOfAPolishToo) {
  const Matrix U = planted_factors(40, 2, "nonneg", 3), V = planted_factors(30, 2, "nonneg", 4);
  StructuredOptions options = polished_nmf();
  options.max_rank = 2;
  const CompletionResult result =
      complete_structured(observed(Matrix(20 * U * V.transpose()), 0.7, 5), options);
  EXPECT_NE(result.stop, Stop::not_converged);
  EXPECT_LT(relative_error(result.model.atoms.dense(), 20 * U * V.transpose()), 1e-4);
}

TEST(CompletionPreset, IsKnownByName) {
  EXPECT_THAT(completion_preset("or1mp").corrections, testing::ElementsAre(0));
  EXPECT_EQ(completion_preset("gmpr").right->spec(), "sphere");
  EXPECT_THAT(completion_preset("gmpr").corrections, testing::ElementsAre(1, 3));
  EXPECT_EQ(completion_preset("gmpr-sparse").right->spec(), "sparse:0.6");
  for (const char* name : {"or1mp", "gmpr", "gmpr-sparse"})
    EXPECT_FALSE(completion_preset(name).exact_corrections) << "as in the paper";
  EXPECT_THAT(message_of<InvalidArgument>([] { completion_preset("svd++"); }),
              HasSubstr("preset 'svd++': must be or1mp, gmpr or gmpr-sparse"));
}

TEST(CompleteStructured, RefusesWhatMakesNoSense) {
  const ObservedEntries entries = observed(gaussian(10, 8, 1), 0.5, 2);
  const auto refusal = [&](const auto& change) {
    StructuredOptions options;
    change(options);
    return message_of<InvalidArgument>([&] { complete_structured(entries, options); });
  };
  using Options = StructuredOptions;
  EXPECT_THAT(refusal([](Options& o) { o.max_rank = 0; }), HasSubstr("rank 0"));
  EXPECT_THAT(refusal([](Options& o) { o.corrections = {}; }), HasSubstr("corrections"));
  EXPECT_THAT(refusal([](Options& o) { o.corrections = {1, -2}; }), HasSubstr("corrections -2"));
  EXPECT_THAT(refusal([](Options& o) { o.polish = -1; }), HasSubstr("polish -1"));
  EXPECT_THAT(refusal([](Options& o) { o.polish_tolerance = -1; }), HasSubstr("polish_tolerance -1"));
  EXPECT_THAT(refusal([](Options& o) { o.validation = 1; }), HasSubstr("validation 1"));
  EXPECT_THAT(refusal([](Options& o) { o.restarts = 0; }), HasSubstr("restarts 0"));
  EXPECT_THAT(refusal([](Options& o) { o.threads = -1; }), HasSubstr("threads -1"));
  EXPECT_THAT(refusal([](Options& o) { o.time_limit = 0; }), HasSubstr("time_limit 0"));
  EXPECT_THAT(refusal([](Options& o) { o.right = sparse(9); }), HasSubstr("9"));
  EXPECT_THAT(refusal([](Options& o) {
                o.range = Range{3, 2};
              }),
              AllOf(HasSubstr("range"), HasSubstr("3"), HasSubstr("2")));
  EXPECT_THAT(message_of<InvalidInput>([&] {
                complete_structured({2, 2, {}, {}, {}}, {});
              }),
              HasSubstr("there are none"));
  EXPECT_THAT(message_of<InvalidInput>([&] {
                complete_structured({2, 2, {0}, {2}, {1}}, {});
              }),
              HasSubstr("(0, 2) lies outside a 2 x 2 matrix"));
}

TEST(CompleteStructured, RefusesValidationEntriesOutsideTheMatrix) {
  const ObservedEntries validation{10, 9, {0}, {8}, {1}};
  StructuredOptions options;
  options.validation_entries = &validation;
  EXPECT_THAT(
      message_of<InvalidInput>([&] { complete_structured(observed(gaussian(10, 8, 1), 0.5, 2), options); }),
      HasSubstr("validation"));
}

TEST(CompleteStructured, MembersNeverSeenAreLikeTheAverageOne) {
  Planted data = planted(60, 50, 2, 0.3, 0.5, 29);
  for (float& value : data.train.value) value = std::clamp(value + 10.0F, 5.0F, 15.0F);
  data.train.rows = 62;  // of these two there is no entry
  data.train.cols = 51;
  double mean = 0;
  for (const float value : data.train.value) mean += value / double(data.train.size());
  for (const bool offsets : {false, true}) {
    const CompletionModel model = complete_structured(data.train, {.offsets = offsets, .max_rank = 4}).model;
    EXPECT_THAT(model.rows.unseen, testing::ElementsAre(60, 61));
    EXPECT_THAT(model.cols.unseen, testing::ElementsAre(50));
    for (int j = 0; j < 50; ++j) {
      double column = 0;  // what rows with entries are predicted there
      for (int i = 0; i < 60; ++i) column += predict(model, {i, j}).value / 60;
      const Prediction unknown = predict(model, {-1, j});
      EXPECT_NEAR(unknown.value, column, 0.3) << "column " << j;
      EXPECT_NEAR(predict(model, {61, j}).value, unknown.value, 1e-3)
          << "a row without entries is none that was seen";
      EXPECT_GT(unknown.deviation, predict(model, {0, j}).deviation);
    }
    EXPECT_NEAR(predict(model, {-1, -1}).value, mean, 1);
    EXPECT_NEAR(predict(model, {61, 50}).value, mean, 1);
  }
}

TEST(CompleteStructured, OffsetsDoNotSeeTheEntriesThatJudge) {
  const ObservedEntries& all = planted_rank_three().train;
  const StructuredOptions options{.offsets = true, .max_rank = 2};
  ObservedEntries rest = all;
  const ObservedEntries judges = hold_back(rest, options.validation, options.seed);
  StructuredOptions apart = options;
  apart.validation_entries = &judges;
  apart.range = Range{*std::min_element(all.value.begin(), all.value.end()),
                      *std::max_element(all.value.begin(), all.value.end())};
  const auto expected = complete_structured(rest, apart).path, got = complete_structured(all, options).path;
  ASSERT_GT(got.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(got[k].validation, expected[k].validation) << k;
}

TEST(CompleteStructured, OffsetsAreWatchedToo) {
  int calls = 0;
  StructuredOptions options{.offsets = true};
  options.observer = [&](const Moment&) { return ++calls < 2; };
  const CompletionResult stopped = complete_structured(planted_rank_three().train, options);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(stopped.stop, Stop::interrupted);
  EXPECT_EQ(stopped.model.rank(), 0);
}

TEST(CompleteStructured, SaysWhyItEnded) {
  const ObservedEntries& train = planted_rank_three().train;
  EXPECT_EQ(complete_structured(train, {.max_rank = 1}).stop, Stop::rank_reached);
  EXPECT_EQ(complete_structured(train, {.max_rank = 30}).stop, Stop::no_gain);
  ObservedEntries zeros = train;
  std::fill(zeros.value.begin(), zeros.value.end(), 0.0F);
  EXPECT_EQ(complete_structured(zeros, {}).stop, Stop::no_ascent);
}

TEST(CompleteStructured, TheRadiusOfConvexWeightsIsInTheUnitsOfTheData) {
  for (const double radius : {1.0, 300.0}) {
    StructuredOptions options = plain(4, sphere(), sphere());
    options.weights = parse_weight_rule(fmt::format("convex:{}", radius));
    const Expansion atoms = complete_structured(planted_rank_three().train, options).model.atoms;
    ASSERT_GT(atoms.rank(), 0);
    EXPECT_NEAR(atoms.weights.sum(), radius, 1e-9 * radius);
  }
}

TEST(CompleteStructured, ChoosesBetweenOffsetsAndARidgeByEntriesHeldBack) {
  const auto rmse = [](const Planted& data, StructuredOptions options) {
    options.predict = positions_of(data.test);
    return accuracy(complete_structured(data.train, options).predictions, data.test.value).rmse;
  };
  const Planted& data = planted_rank_three();
  StructuredOptions chosen{.choose = true},
      with_offsets{.regularization = {Regularization::self_tuned, 0}, .offsets = true};
  const double of_chosen = rmse(data, chosen);
  EXPECT_LT(of_chosen, 1.02 * rmse(data, with_offsets));
  StructuredOptions symmetric{.symmetric = true, .choose = true};
  EXPECT_THROW(complete_structured(data.train, symmetric), InvalidArgument);
  // Values of another size are the same problem.
  Planted large = data;
  for (float& value : large.train.value) value *= 1024;
  for (float& value : large.test.value) value *= 1024;
  EXPECT_NEAR(rmse(large, chosen), 1024 * of_chosen, 0.02 * 1024 * of_chosen);
}

TEST(CompleteStructured, AtomsThatReachFewEntriesMayBeMore) {
  const auto rank = [](const Atoms& left, const Atoms& right, int polish = 0) {
    return usual_rank({.left = left, .right = right, .polish = polish}, 900, 1600);
  };
  EXPECT_EQ(rank(sphere(), sphere()), 20);
  EXPECT_EQ(rank(nonneg(), nonneg()), 20);
  EXPECT_EQ(rank(sphere(), sparse_fraction(0.1)), 36);
  EXPECT_EQ(rank(sparse_fraction(0.1), sparse_fraction(0.1)), 63);
  EXPECT_EQ(rank(sparse(1), sparse(1)), 80) << "not any number";
  EXPECT_EQ(rank(sparse_fraction(0.1), sparse_fraction(0.1), 500), 20) << "each polished";
  StructuredOptions both;
  both.left = sparse_fraction(0.1);
  both.symmetric = true;
  EXPECT_EQ(usual_rank(both, 900, 900), 63) << "u is on both sides";
}

}  // namespace
}  // namespace pursuit
