#pragma once
// What a number of the data costs under a model of it. The model is a sum of atoms x (the linear predictor);
// the link leads from it to the mean of an entry.
//
//   squares                  1/2 (y - x)^2                                    mean x
//   huber:DELTA, absolute    squares up to DELTA, straight from there         mean x (a median)
//   quantile:TAU             the share TAU of the entries lies below          a quantile, x
//   bernoulli                y in [0, 1], logistic                            mean 1 / (1 + exp(-x))
//   poisson                  counts, y log(y/x) - y + x (Kullback-Leibler)    mean x, which is not negative
//   poisson-log              counts                                           mean exp(x)
//   negative-binomial:SIZE   counts of variance mean + mean^2 / SIZE          mean exp(x)
//   gamma                    positive, of constant relative error             mean exp(x)
//   itakura-saito            positive, y/x - log(y/x) - 1: gamma              mean x, which is not negative
//   ordinal                  grades 0, 1, 2, ... (or any few whole numbers)   cumulative logits x - threshold
//
// An entry's cost is half its deviance: nothing where the model could not do better.

#include <memory>
#include <string>
#include <vector>

#include "pursuit/data/data_matrix.hpp"
#include "pursuit/data/observed_entries.hpp"

namespace pursuit {

struct Loss {
  enum Kind {
    squares,
    huber,
    absolute,
    quantile,
    bernoulli,
    poisson,
    poisson_log,
    negative_binomial,
    gamma,
    ordinal,
    itakura_saito
  };
  Kind kind;
  double parameter;  // DELTA, TAU or SIZE; 0 where SIZE is to be fitted (auto)

  constexpr Loss(Kind loss = squares, double value = 0) : kind(loss), parameter(value) {}

  std::string spec() const;  // "huber:1.5"
  bool accepts(double y) const;
  /// "a count (0, 1, 2, ...)": what y has to be.
  std::string domain() const;
  bool has_log_link() const { return kind == poisson_log || kind == negative_binomial || kind == gamma; }
  /// Whether means are x itself and must not be negative.
  bool has_positive_means() const { return kind == poisson || kind == itakura_saito; }
  /// What the model says of an entry: the inverse of the link, at x.
  double mean(double x) const;
};

/// InvalidArgument for anything but the specs above.
Loss parse_loss(const std::string& spec);

/// The losses that would take a number, "squares, huber:DELTA, ...".
std::string losses_for(double y);

/// What an objective has fitted beside the atoms; empty, or 0, where there is no such thing.
struct OwnTerms {
  Vector row_offsets = Vector(0), col_offsets = Vector(0);
  std::vector<Vector> further_offsets = {};           // of arrays, along the modes from the third on
  Vector grades = Vector(0), thresholds = Vector(0);  // of ordinal data, and what lies between them
  double size = 0;                                    // of a negative binomial
};

/// How much an entry counts: the product of what is given. Not negative; an entry of weight 0 counts as
/// unknown.
struct EntryWeights {
  DataMatrixPtr entries = nullptr;  // as large as the data
  Vector rows = Vector(0), cols = Vector(0);

  bool any() const { return entries || rows.size() > 0 || cols.size() > 0; }
};

/// What beside the atoms says how well they fit.
struct LossOptions {
  Loss loss = {};
  EntryWeights weights = {};
  bool offsets = false;          // a fitted number for every row and for every column, added to x
  Vector row_scale = Vector(0);  // exposure: the mean of row i is row_scale_i times that of x

  /// Whether f is half a squared distance and nothing else.
  bool plain_squares() const {
    return loss.kind == Loss::squares && !weights.any() && !offsets && row_scale.size() == 0;
  }
};

}  // namespace pursuit
