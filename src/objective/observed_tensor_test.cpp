// Arrays with gaps, weights and losses: what they must be by the objective of a matrix, which each of their
// unfoldings is.

#include "pursuit/objective/observed_tensor.hpp"

#include "objective/listed_tensor.hpp"
#include "pursuit/objective/make_objective.hpp"
#include "tensor_test_support.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

const char* const kTensorLosses[] = {"squares",
                                     "huber:0.7",
                                     "absolute",
                                     "quantile:0.8",
                                     "bernoulli",
                                     "poisson-log",
                                     "gamma",
                                     "negative-binomial:2",
                                     "negative-binomial:auto",
                                     "ordinal",
                                     "poisson"};
const std::vector<std::vector<Index>> kGapShapes{
    {5, 4, 3}, {1, 6, 4}, {4, 1, 1, 5}, {3, 4, 2, 3}, {2, 2, 2, 2, 3}};

/// A number that a loss takes, which single precision holds.
double number_for(const Loss& loss, double z) {
  switch (loss.kind) {
    case Loss::bernoulli: return z > 0.3 ? 1 : 0;
    case Loss::poisson:
    case Loss::poisson_log:
    case Loss::negative_binomial: return std::floor(std::exp(z));
    case Loss::gamma: return float(std::exp(z));
    case Loss::ordinal: return std::clamp(std::round(z), -1.0, 2.0);
    default: return float(z);
  }
}

/// Two thirds of the entries of a random array.
ObservedTensor gappy(const std::vector<Index>& shape, const Loss& loss, std::uint64_t seed,
                     bool weights = false) {
  const PlainTensor t = gaussian_tensor(shape, seed);
  Random random(seed);
  ObservedTensor data{{shape, std::vector<std::vector<int>>(shape.size()), {}}, {}, false};
  for (Index e = 0; e < t.count(); ++e) {
    if (random.uniform() < 1.0 / 3 && t.count() > 8) continue;
    const auto at = t.position(e);
    for (std::size_t m = 0; m < at.size(); ++m) data.entries.index[m].push_back(int(at[m]));
    data.entries.value.push_back(number_for(loss, t.values[std::size_t(e)]));
    if (weights) data.weights.push_back(double(float(0.5 + random.uniform())));
  }
  return data;
}

/// The place of entry e along all modes but one, as the column of an unfolding.
Index column_of(const SparseTensor& t, Index mode, std::size_t e) {
  Index column = 0;
  for (Index m = 0; m < Index(t.shape.size()); ++m)
    if (m != mode) column = column * t.shape[std::size_t(m)] + t.index[std::size_t(m)][e];
  return column;
}

Panel unfolded_factors(const Factors& z, Index mode) {
  Panel product = Panel::Ones(1, z.count());
  for (Index m = 0; m < z.modes(); ++m) {
    if (m == mode) continue;
    Panel next(product.rows() * z[m].rows(), z.count());
    for (Index a = 0; a < product.rows(); ++a)
      for (Index b = 0; b < z[m].rows(); ++b)
        next.row(a * z[m].rows() + b) = product.row(a).cwiseProduct(z[m].row(b));
    product = next;
  }
  return product;
}

std::unique_ptr<Objective> unfolding(const ObservedTensor& data, Index mode, const Loss& loss) {
  const SparseTensor& t = data.entries;
  Index cols = 1;
  for (Index m = 0; m < Index(t.shape.size()); ++m)
    if (m != mode) cols *= t.shape[std::size_t(m)];
  ObservedEntries entries{t.shape[std::size_t(mode)], cols, {}, {}, {}};
  Matrix weights = Matrix::Ones(entries.rows, cols);
  for (std::size_t e = 0; e < t.value.size(); ++e) {
    entries.row.push_back(t.index[std::size_t(mode)][e]);
    entries.col.push_back(int(column_of(t, mode, e)));
    entries.value.push_back(float(t.value[e]));
    if (!data.weights.empty()) weights(entries.row.back(), entries.col.back()) = data.weights[e];
  }
  LossOptions options{.loss = loss};
  if (!data.weights.empty()) options.weights.entries = data_matrix(weights);
  return make_objective(entries, options);
}

Expansion atoms_for(const std::vector<Index>& shape, const Loss& loss, Index rank, std::uint64_t seed) {
  const bool counts = loss.kind == Loss::poisson;
  Expansion x(random_factors(shape, rank, seed, counts), Vector(0.3 * gaussian(rank, 1, seed + 90)));
  if (counts) x.weights = x.weights.cwiseAbs();
  return x;
}

TEST(ObservedTensorObjective, IsThatOfItsUnfoldings) {
  for (const char* spec : kTensorLosses)
    for (const auto& shape : kGapShapes)
      for (const bool weights : {false, true}) {
        SCOPED_TRACE(spec);
        const Loss loss = parse_loss(spec);
        const ObservedTensor data = gappy(shape, loss, 3, weights);
        const auto f = make_objective(data, {.loss = loss});
        const Expansion x = atoms_for(shape, loss, 3, 5);
        const Factors z = atoms_for(shape, loss, 2, 6).factors;
        f->move_to(x);
        for (Index mode = 0; mode < f->modes(); ++mode) {
          const auto g = unfolding(data, mode, loss);
          EXPECT_NEAR(f->null_value(), g->null_value(), 1e-6 * (1 + g->null_value()));
          g->move_to(Expansion(x.factors[mode], unfolded_factors(x.factors, mode), x.weights));
          EXPECT_NEAR(f->value(), g->value(), 1e-6 * (1 + g->value()));
          const Factors flat(Panel(z[mode]), unfolded_factors(z, mode));
          Panel ours, theirs;
          f->contract(mode, z, ours);
          g->contract(0, flat, theirs);
          EXPECT_LT(max_difference(ours, theirs), 1e-6 * (1 + theirs.norm())) << "mode " << mode;
          const Matrix gram = g->gram(flat, flat);
          EXPECT_LT(max_difference(f->gram(z, z), gram), 1e-6 * (1 + gram.norm()));
          const auto system = f->along(mode), other = g->along(0);
          Parabolas p, q;
          for (Index k = 0; k < 3; ++k) {
            system->parabolas(k, nullptr, p);
            other->parabolas(k, nullptr, q);
            if (q.is_uniform()) q.a.setConstant(q.b.size(), q.uniform);
            EXPECT_LT(max_difference(p.a, q.a), 1e-5 * (1 + q.a.norm())) << "mode " << mode;
            EXPECT_LT(max_difference(p.b, q.b), 1e-5 * (1 + q.b.norm())) << "mode " << mode;
          }
        }
      }
}

TEST(ObservedTensorObjective, OfTwoModesIsThatOfTheMatrix) {
  for (const char* spec : kTensorLosses) {
    SCOPED_TRACE(spec);
    const Loss loss = parse_loss(spec);
    const ObservedTensor data = gappy({13, 9}, loss, 4, true);
    const auto f = make_objective(data, {.loss = loss}), g = unfolding(data, 0, loss);
    const Expansion x = atoms_for({13, 9}, loss, 3, 7);
    f->move_to(x);
    g->move_to(x);
    for (int sweep = 0; sweep < 3; ++sweep)
      for (const Index mode : {0, 1})
        for (Objective* each : {f.get(), g.get()})
          each->along(mode)->sweep({.nonnegative = loss.kind == Loss::poisson});
    EXPECT_NEAR(f->value(), g->value(), 1e-10 * g->value());
    EXPECT_LT(max_difference(f->iterate().dense(), g->iterate().dense()),
              1e-9 * (1 + g->iterate().dense().norm()));
  }
}

TEST(ObservedTensorObjective, SweepsNeverRaiseIt) {
  for (const char* spec : kTensorLosses)
    for (const auto& shape : kGapShapes)
      for (const bool nonnegative : {true, false}) {
        const Loss loss = parse_loss(spec);
        if (loss.kind == Loss::poisson && !nonnegative) continue;
        SCOPED_TRACE(spec);
        const ObservedTensor data = gappy(shape, loss, 8, true);
        const auto f = make_objective(data, {.loss = loss});
        Expansion x = atoms_for(shape, loss, 3, 9);
        if (nonnegative)
          for (Index m = 0; m < f->modes(); ++m) x.factors[m] = x.factors[m].cwiseAbs();
        if (nonnegative) x.weights = x.weights.cwiseAbs();
        f->move_to(x);
        double before = f->value();
        for (int sweep = 0; sweep < 5; ++sweep)
          for (Index mode = 0; mode < f->modes(); ++mode) {
            ASSERT_TRUE(f->along(mode)->sweep({.nonnegative = nonnegative}));
            const auto fresh = make_objective(data, {.loss = loss});
            fresh->move_to(f->iterate());
            if (loss.spec() != "negative-binomial:auto") {
              EXPECT_NEAR(f->value(), fresh->value(), 1e-9 * (1 + fresh->value()));
            }
            EXPECT_LE(f->value(), before + 1e-12 * (1 + before));
            before = f->value();
            EXPECT_TRUE(!nonnegative || f->iterate().factors[mode].minCoeff() >= 0);
          }
      }
}

TEST(ObservedTensorObjective, OffsetsAreFittedAlongEveryMode) {
  const std::vector<Index> shape{6, 5, 4};
  ObservedTensor data = gappy(shape, Loss::squares, 10);
  for (std::size_t e = 0; e < data.entries.value.size(); ++e)
    data.entries.value[e] = 2.0 * data.entries.index[0][e] - 1.0 * data.entries.index[1][e] +
                            std::pow(data.entries.index[2][e], 2) + 7;
  const auto f = make_objective(data, {.offsets = true});
  EXPECT_LT(f->value(), 1e-6);
  const OwnTerms own = f->own_terms();
  ASSERT_EQ(own.further_offsets.size(), 1U);
  EXPECT_NEAR(own.row_offsets[3] - own.row_offsets[0], 6, 1e-3);
  EXPECT_NEAR(own.col_offsets[4] - own.col_offsets[1], -3, 1e-3);
  EXPECT_NEAR(own.further_offsets[0][3] - own.further_offsets[0][1], 8, 1e-3);
}

TEST(ObservedTensorObjective, WeightsOfZeroAreMissingEntries) {
  for (const char* spec : kTensorLosses) {
    SCOPED_TRACE(spec);
    const Loss loss = parse_loss(spec);
    ObservedTensor data = gappy({5, 4, 3}, loss, 11, true), missing = data;
    missing.entries = {{5, 4, 3}, std::vector<std::vector<int>>(3), {}};
    missing.weights.clear();
    for (std::size_t e = 0; e < data.weights.size(); ++e) {
      if (e % 4 == 0) {
        data.weights[e] = 0;
        continue;
      }
      for (std::size_t m = 0; m < 3; ++m) missing.entries.index[m].push_back(data.entries.index[m][e]);
      missing.entries.value.push_back(data.entries.value[e]);
      missing.weights.push_back(data.weights[e]);
    }
    const auto f = make_objective(data, {.loss = loss}), g = make_objective(missing, {.loss = loss});
    for (Objective* each : {f.get(), g.get()}) {
      each->move_to(atoms_for({5, 4, 3}, loss, 2, 12));
      for (Index mode = 0; mode < 3; ++mode)
        each->along(mode)->sweep({.nonnegative = loss.kind == Loss::poisson});
    }
    EXPECT_NEAR(f->value(), g->value(), 1e-10 * g->value());
    for (Index mode = 0; mode < 3; ++mode)
      EXPECT_LT(max_difference(f->iterate().factors[mode], g->iterate().factors[mode]), 1e-10);
  }
}

/// An entry cannot be listed twice; one of weight 2 is two objectives, of which one has it alone.
TEST(ObservedTensorObjective, WeightsOfTwoCountTwice) {
  for (const char* spec : kTensorLosses) {
    const Loss loss = parse_loss(spec);
    if (loss.kind == Loss::ordinal || loss.kind == Loss::absolute || loss.kind == Loss::quantile ||
        (loss.kind == Loss::negative_binomial && loss.parameter == 0))
      continue;  // what they fit from the data would differ
    SCOPED_TRACE(spec);
    ObservedTensor once = gappy({4, 3, 3}, loss, 13), twice = once, alone = once;
    twice.weights.assign(once.entries.value.size(), 1.0);
    alone.weights.assign(once.entries.value.size(), 0.0);
    for (const std::size_t e : {1, 4, 9}) {
      twice.weights[e] = 2;
      alone.weights[e] = 1;
    }
    double values[3];
    Panel images[3];
    int at = 0;
    for (const ObservedTensor* each : {&once, &alone, &twice}) {
      const auto f = make_objective(*each, {.loss = loss});
      f->move_to(atoms_for({4, 3, 3}, loss, 2, 14));
      values[at] = f->value();
      f->contract(1, atoms_for({4, 3, 3}, loss, 2, 15).factors, images[at++]);
    }
    EXPECT_NEAR(values[2], values[0] + values[1], 1e-7 * (1 + values[2]));
    EXPECT_LT(max_difference(images[2], Panel(images[0] + images[1])), 1e-7 * (1 + images[2].norm()));
  }
}

TEST(ObservedTensorObjective, ZerosOfFullCountsNeedNotBeListed) {
  const Loss loss = Loss::poisson;
  PlainTensor t = gaussian_tensor({7, 5, 6}, 16);
  for (double& y : t.values) y = number_for(loss, y);
  ObservedTensor sparse{listed(t), {}, true},
      dense{{t.shape, std::vector<std::vector<int>>(3), t.values}, {}, false};
  for (Index e = 0; e < t.count(); ++e)
    for (std::size_t m = 0; m < 3; ++m) dense.entries.index[m].push_back(int(t.position(e)[m]));
  ObservedTensor weighted = dense;
  weighted.weights.assign(t.values.size(), 1.0);
  std::vector<double> values;
  for (const ObservedTensor* each : {&sparse, &dense, &weighted}) {
    const auto f = make_objective(*each, {.loss = loss});
    f->move_to(atoms_for(t.shape, loss, 3, 17));
    for (int sweep = 0; sweep < 3; ++sweep)
      for (Index mode = 0; mode < 3; ++mode) f->along(mode)->sweep({.nonnegative = true});
    values.push_back(f->value());
  }
  EXPECT_EQ(values[0], values[1]);
  EXPECT_NEAR(values[0], values[2], 1e-8 * values[0]);
}

TEST(ObservedTensorObjective, OtherLossesSeeTheZerosOfFullArrays) {
  const Loss loss = Loss::bernoulli;
  PlainTensor t = gaussian_tensor({4, 3, 5}, 18);
  for (double& y : t.values) y = number_for(loss, y);
  const auto sparse = make_objective(ObservedTensor{listed(t), {}, true}, {.loss = loss});
  const ObservedTensor all = with_zeros({listed(t), {}, true}, loss);
  EXPECT_EQ(all.size(), t.count());
  const auto full = make_objective(all, {.loss = loss});
  for (Objective* f : {sparse.get(), full.get()}) f->move_to(atoms_for(t.shape, loss, 2, 19));
  EXPECT_EQ(sparse->value(), full->value());
  ObservedTensor huge{listed(t), {}, true};
  huge.entries.shape = {100000, 100000, 100000};
  EXPECT_THAT(message_of<InvalidInput>([&] { make_objective(huge, {.loss = loss}); }),
              HasSubstr("loss bernoulli looks at every one of 1e+15 entries"));
}

/// 8e17 bytes, were it dense.
TEST(ObservedTensorObjective, AHugeArrayOfCountsIsNeverDense) {
  ObservedTensor data{{{1000000, 100000, 1000000}, std::vector<std::vector<int>>(3), {}}, {}, true};
  for (int e = 0; e < 200000; ++e) {
    data.entries.index[0].push_back(e * 5);
    data.entries.index[1].push_back(e % 99991);
    data.entries.index[2].push_back((e * 7) % 999983);
    data.entries.value.push_back(1 + e % 3);
  }
  const auto f = make_objective(data, {.loss = Loss::poisson}, 2);
  f->move_to(atoms_for(data.entries.shape, Loss::poisson, 2, 20));
  double before = f->value();
  for (Index mode = 0; mode < 3; ++mode) {
    f->along(mode)->sweep({.nonnegative = true});
    EXPECT_LT(f->value(), before);
    before = f->value();
  }
}

TEST(ObservedTensorObjective, SameBitsForAnyNumberOfThreads) {
  for (const char* spec : {"squares", "poisson", "bernoulli"}) {
    const Loss loss = parse_loss(spec);
    const ObservedTensor data = gappy({60, 40, 50}, loss, 21, true);
    std::vector<Expansion> ends;
    std::vector<double> values;
    for (const int threads : {1, 2, 3, 16}) {
      const auto f = make_objective(data, {.loss = loss}, threads);
      f->move_to(atoms_for(data.entries.shape, loss, 5, 22));
      for (Index mode = 0; mode < 3; ++mode) f->along(mode)->sweep({.nonnegative = true});
      Panel image;
      f->contract(1, f->iterate().factors, image);
      ends.push_back(f->iterate());
      values.push_back(f->value() + image.sum() + f->weight_quadratic().gram.sum());
    }
    for (std::size_t i = 1; i < ends.size(); ++i) {
      for (Index mode = 0; mode < 3; ++mode)
        EXPECT_TRUE(same_bits(ends[i].factors[mode], ends[0].factors[mode])) << spec;
      EXPECT_EQ(values[i], values[0]) << spec;
    }
  }
}

TEST(ObservedTensorObjective, WhatIsNoDataIsRefused) {
  ObservedTensor data = gappy({3, 4, 2}, Loss::squares, 23, true);
  ObservedTensor negative = data, short_weights = data, nothing = data, twice = data, bad = data;
  negative.weights[2] = -1;
  EXPECT_THAT(message_of<InvalidInput>([&] { make_objective(negative, {}); }),
              HasSubstr(") is -1; weights must be"));
  short_weights.weights.pop_back();
  EXPECT_THAT(message_of<InvalidInput>([&] { make_objective(short_weights, {}); }),
              HasSubstr("entry weights: there are"));
  nothing.weights.assign(nothing.weights.size(), 0.0);
  EXPECT_THAT(message_of<InvalidInput>([&] { make_objective(nothing, {}); }),
              HasSubstr("no entry has a weight above 0"));
  for (std::size_t m = 0; m < 3; ++m) twice.entries.index[m][5] = twice.entries.index[m][1];
  EXPECT_THAT(message_of<InvalidInput>([&] { make_objective(twice, {}); }),
              HasSubstr("entries 2 and 6 are the same place"));
  bad.entries.value[0] = -2.5;
  EXPECT_THAT(message_of<InvalidInput>([&] { make_objective(bad, {.loss = Loss::poisson}); }),
              HasSubstr("of the array is -2.5; loss poisson takes"));
  EXPECT_THAT(
      message_of<InvalidInput>([&] {
        make_objective(ObservedTensor{{{2, 2, 2}, std::vector<std::vector<int>>(3), {}}, {}, false}, {});
      }),
      HasSubstr("no entry is known"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { make_objective(data, {.row_scale = Vector::Ones(3)}); }),
              HasSubstr("for matrices"));
}

TEST(ObservedTensorObjective, PlacesWithoutEntriesAreNamed) {
  ObservedTensor data = gappy({4, 3, 3}, Loss::squares, 24, true);
  for (std::size_t e = 0; e < data.weights.size(); ++e)
    if (data.entries.index[1][e] == 2) data.weights[e] = 0;
  EXPECT_EQ(places_without_entries(data, 1), (std::vector<Index>{2}));
  EXPECT_TRUE(places_without_entries(data, 0).empty());
  data.others_are_zero = true;
  EXPECT_TRUE(places_without_entries(data, 1).empty());
}

TEST(ObservedTensorObjective, EntriesOfASparseTargetComeBack) {
  const PlainTensor t = gaussian_tensor({3, 1, 4}, 25);
  const SparseTensor entries = listed(t);
  const auto back = entries_of(*sparse_tensor(entries));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->shape, entries.shape);
  EXPECT_EQ(back->index, entries.index);
  EXPECT_EQ(back->value, entries.value);
  EXPECT_FALSE(entries_of(*as_dense_target(t)).has_value());
}

/// Of a symmetric array: what is listed once on either side of the diagonal, on both, or twice over with half
/// the weight each, is one f where the factors are shared.
TEST(ObservedTensorObjective, EntriesOfSharedModesCountInEveryOrder) {
  const Factors z(std::vector<Panel>{uniform(4, 2, 1), uniform(3, 2, 2)}, {0, 0, 1});
  const std::vector<Index> panel_of{0, 0, 1};
  const ObservedTensor one{{{4, 4, 3}, {{0, 1, 2, 3}, {1, 1, 0, 2}, {2, 0, 1, 1}}, {2, 1, 3, 5}}, {}, false};
  ObservedTensor both = one;
  for (std::size_t e = 0; e < 4; ++e) {
    if (one.entries.index[0][e] == one.entries.index[1][e]) continue;
    both.entries.index[0].push_back(one.entries.index[1][e]);
    both.entries.index[1].push_back(one.entries.index[0][e]);
    both.entries.index[2].push_back(one.entries.index[2][e]);
    both.entries.value.push_back(one.entries.value[e]);
  }
  ObservedTensor halves = both;
  for (std::size_t e = 0; e < halves.entries.value.size(); ++e)
    halves.weights.push_back(halves.entries.index[0][e] == halves.entries.index[1][e] ? 1.0 : 0.5);
  for (const char* loss : {"squares", "poisson", "huber:0.5"}) {
    SCOPED_TRACE(loss);
    const auto at_z = [&](const ObservedTensor& data) {
      auto f = make_objective(data, {.loss = parse_loss(loss)}, 1, panel_of);
      f->move_to({z, Vector::Ones(2)});
      return f;
    };
    const auto f = at_z(one);
    EXPECT_NEAR(f->value(), at_z(halves)->value(), 1e-12 * f->value());
    EXPECT_GT(at_z(both)->value(), f->value() * (1 + 1e-6));
    Panel first, second;
    f->contract(0, z, first);
    f->contract(1, z, second);
    EXPECT_LT((first - second).norm(), 1e-12 * first.norm()) << "the residual is symmetric";
    EXPECT_EQ(make_objective(one, {.loss = parse_loss(loss)}, 1, panel_of)->iterate().factors.panels(), 2);
  }
}

/// Zeros that are not listed stay so where the counts are symmetric, and count where they are not.
TEST(ObservedTensorObjective, ZerosOfSharedModesCount) {
  const Factors z(std::vector<Panel>{uniform(3, 2, 1), uniform(2, 2, 2)}, {0, 0, 1});
  for (const bool symmetric : {true, false}) {
    ObservedTensor counts{
        {{3, 3, 2}, {{0, 1, 2}, {1, 0, 2}, {1, 1, 0}}, {4, symmetric ? 4.0 : 7.0, 2}}, {}, true};
    ObservedTensor all{{{3, 3, 2}, {{}, {}, {}}, {}}, {}, false};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 2; ++k) {
          all.entries.index[0].push_back(i);
          all.entries.index[1].push_back(j);
          all.entries.index[2].push_back(k);
          all.entries.value.push_back(0);
          for (std::size_t e = 0; e < 3; ++e)
            if (counts.entries.index[0][e] == i && counts.entries.index[1][e] == j &&
                counts.entries.index[2][e] == k)
              all.entries.value.back() = counts.entries.value[e];
        }
    const auto apart = make_objective(all, {.loss = Loss::poisson});
    apart->move_to({Factors({z[0], z[1], z[2]}, {0, 1, 2}), Vector::Ones(2)});
    const auto f = make_objective(counts, {.loss = Loss::poisson}, 1, {0, 0, 1});
    f->move_to({z, Vector::Ones(2)});
    EXPECT_NEAR(f->value(), apart->value(), 1e-12 * apart->value());
    EXPECT_NEAR(f->null_value(), apart->null_value(), 1e-12 * apart->null_value());
  }
}

}  // namespace
}  // namespace pursuit
