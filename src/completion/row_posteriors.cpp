#include "completion/row_posteriors.hpp"

#include <algorithm>
#include <cmath>

#include "base/chunks.hpp"
#include "base/kernel.hpp"
#include "completion/batched_cholesky.hpp"
#include "completion/logistic_weight.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr int kPanel = 64;  // entries whose regressors are gathered before their products are taken
// Next to what entries say, a prior of less than this share of it times the width is lost to rounding, and
// the factorization with it. No prior is taken to be vaguer: single precision cannot tell.
constexpr double kTellable = 0x1p-22;

typedef float Eight __attribute__((vector_size(32), may_alias));
typedef float Sixteen __attribute__((vector_size(64), may_alias));

/// The sums over entries that a system is made of.
struct SystemSums {
  float *gram, *linear, *diagonal;

  static std::size_t floats(int width) { return std::size_t(width) * std::size_t(width + 2); }
  SystemSums(float* memory, int width)
      : gram(memory), linear(memory + width * width), diagonal(linear + width) {}
};

/// Of the segments of long rows.
struct SegmentSums {
  SegmentSums(Index segments, int width)
      : floats(SystemSums::floats(width)),
        sums(std::size_t(segments) * floats),
        squares(std::size_t(segments)) {}

  float* of(Index segment) { return sums.data() + std::size_t(segment) * floats; }

  std::size_t floats;
  AlignedVector<float> sums;
  std::vector<double> squares;
};

/// Scratch memory of one thread, by width.
struct Workspace {
  explicit Workspace(int width)
      : panel(std::size_t(kPanel * width)),
        residual(kPanel),
        weight(kPanel),
        target(kPanel),
        sums(SystemSums::floats(width)),
        factor(std::size_t(width * width * kSystems)),
        inverse_pivot(std::size_t(width * kSystems)),
        solution(std::size_t(width * kSystems)),
        prior(std::size_t(width * kSystems)),
        right(std::size_t(width * kSystems)),
        form(kSystems),
        normal(std::size_t(width * kSystems)),
        variance(std::size_t(width * kSystems)),
        columns(std::size_t(width * 4 * kSystems)) {}

  AlignedVector<float> panel, residual;  // of some entries of one row
  AlignedVector<float> weight, target;   // of the same, where the likelihood is another one
  AlignedVector<float> sums;             // of one row
  // Of a batch, a lane of 16 floats for every number; `factor` is column-major.
  AlignedVector<float> factor, inverse_pivot, solution, prior, right, form, normal, variance, columns;
};

/// That of this thread, which keeps it: tasks take a millisecond. Batches do not look at what others left.
Workspace& workspace_for(int width) {
  thread_local int width_of_kept = 0;
  thread_local Workspace kept(0);
  if (width_of_kept != width) {
    kept = Workspace(width);
    width_of_kept = width;
  }
  return kept;
}

/// Lower triangle of gram += sum over the panel of x x^T, tiles of 8 x sizeof(Vec) in registers.
template <class Vec>
[[gnu::always_inline]] inline void add_products(const float* panel, int count, int width, float* gram) {
  constexpr int kRows = 8, kLanes = sizeof(Vec) / sizeof(float);
  for (int a = 0; a < width; a += kRows)
    for (int c = 0; c < a + kRows; c += kLanes) {
      Vec sum[kRows];
      for (int r = 0; r < kRows; ++r) sum[r] = *reinterpret_cast<const Vec*>(gram + (a + r) * width + c);
      for (int e = 0; e < count; ++e) {
        const float* x = panel + e * width;
        const Vec right = *reinterpret_cast<const Vec*>(x + c);
        for (int r = 0; r < kRows; ++r) sum[r] += x[a + r] * right;
      }
      for (int r = 0; r < kRows; ++r) *reinterpret_cast<Vec*>(gram + (a + r) * width + c) = sum[r];
    }
}

PURSUIT_KERNEL void add_members(const float* members, Index count, int width, float* gram) {
  for (Index j = 0; j < count; j += kPanel) {
    const int panel = int(std::min<Index>(kPanel, count - j));
    if (width % 16 == 0)
      add_products<Sixteen>(members + j * width, panel, width, gram);
    else
      add_products<Eight>(members + j * width, panel, width, gram);
  }
}

/// Where the entries of a row are and what they are regressed on.
struct Source {
  const float *scaled, *spread, *offset;  // spread may be null
  float inverse_scale;
  int width;
};

/// Entries ahead of the current one whose regressors are asked for: they lie anywhere in memory.
constexpr int kAhead = 12;

/// linear += sum over the panel of residual * x, diagonal += sum of spreads; two chains of additions each, so
/// that none waits for the other.
template <class Vec, bool kWeighted>
[[gnu::always_inline]] inline void add_vectors(const Source& s, const int* index, const float* panel,
                                               const float* residual, const float* weight, int count,
                                               float* linear, float* diagonal) {
  constexpr int kLanes = sizeof(Vec) / sizeof(float);
  const auto x = [&](int e, int c) -> const Vec& {
    return *reinterpret_cast<const Vec*>(panel + e * s.width + c);
  };
  const auto add_spread = [&](Vec& sum, int e, int c) {
    const Vec& own = *reinterpret_cast<const Vec*>(s.spread + Index(index[e]) * s.width + c);
    if constexpr (kWeighted)
      sum += weight[e] * own;
    else
      sum += own;
  };
  for (int c = 0; c < s.width; c += kLanes) {
    Vec first = {}, second = {};
    int e = 0;
    for (; e + 1 < count; e += 2) {
      first += residual[e] * x(e, c);
      second += residual[e + 1] * x(e + 1, c);
    }
    if (e < count) first += residual[e] * x(e, c);
    *reinterpret_cast<Vec*>(linear + c) += first + second;
    if (!s.spread) continue;
    first = second = Vec{};
    for (e = 0; e + 1 < count; e += 2) {
      add_spread(first, e, c);
      add_spread(second, e + 1, c);
    }
    if (e < count) add_spread(first, e, c);
    *reinterpret_cast<Vec*>(diagonal + c) += first + second;
  }
}

/// Entries of one row, at most kPanel of them: adds their part to gram, linear and diagonal, and returns the
/// sum of their squares.
template <bool kWeighted>
[[gnu::always_inline]] inline float add_panel_of_entries(const Source& s, const int* index,
                                                         const float* value, const float* weight, int count,
                                                         int ahead, float* panel, float* residual,
                                                         float* gram, float* linear, float* diagonal) {
  float squares = 0;
  for (int e = 0; e < count; ++e) {
    const int next = index[std::min(e + kAhead, ahead)];
    for (int c = 0; c < s.width; c += 16) __builtin_prefetch(s.scaled + Index(next) * s.width + c);
    if (s.spread)
      for (int c = 0; c < s.width; c += 16) __builtin_prefetch(s.spread + Index(next) * s.width + c);
    const float* x = s.scaled + Index(index[e]) * s.width;
    const float root = kWeighted ? std::sqrt(weight[e]) : 1.0F;
    for (int c = 0; c < s.width; c += 8) {
      const Eight& own = *reinterpret_cast<const Eight*>(x + c);
      *reinterpret_cast<Eight*>(panel + e * s.width + c) = kWeighted ? root * own : own;
    }
    residual[e] = (value[e] - s.offset[index[e]]) * s.inverse_scale * x[0];
    if (kWeighted) residual[e] *= root;
    squares += residual[e] * residual[e];
  }
  if (s.width % 16 == 0) {
    add_products<Sixteen>(panel, count, s.width, gram);
    add_vectors<Sixteen, kWeighted>(s, index, panel, residual, weight, count, linear, diagonal);
  } else {
    add_products<Eight>(panel, count, s.width, gram);
    add_vectors<Eight, kWeighted>(s, index, panel, residual, weight, count, linear, diagonal);
  }
  return squares;
}
PURSUIT_KERNEL float add_entries(const Source& s, const int* index, const float* value, int count, int ahead,
                                 float* panel, float* residual, float* gram, float* linear, float* diagonal) {
  return add_panel_of_entries<false>(s, index, value, nullptr, count, ahead, panel, residual, gram, linear,
                                     diagonal);
}
/// With weights, which go with the squares too.
PURSUIT_KERNEL float add_weighted_entries(const Source& s, const int* index, const float* value,
                                          const float* weight, int count, int ahead, float* panel,
                                          float* residual, float* gram, float* linear, float* diagonal) {
  return add_panel_of_entries<true>(s, index, value, weight, count, ahead, panel, residual, gram, linear,
                                    diagonal);
}

/// psi = c_j + x . z_j at some entries.
PURSUIT_KERNEL void linear_predictors(const Source& s, const int* index, int count, const float* x,
                                      float* psi) {
  for (int e = 0; e < count; ++e) {
    const float* z = s.scaled + Index(index[e]) * s.width;
    Eight product = {};
    for (int c = 0; c < s.width; c += 8)
      product += *reinterpret_cast<const Eight*>(x + c) * *reinterpret_cast<const Eight*>(z + c);
    psi[e] = s.offset[index[e]];
    for (int l = 0; l < 8; ++l) psi[e] += product[l];
  }
}

/// sum_j w_j (y_ij - c_j - x . z_j)^2 over entries of one row; `weight` may be null.
PURSUIT_KERNEL double squared_residuals(const Source& s, const int* index, const float* value,
                                        const float* weight, Index count, const float* x) {
  double sum = 0;
  for (Index e = 0; e < count; ++e) {
    const float* z = s.scaled + Index(index[e]) * s.width;
    Eight product = {};
    for (int c = 0; c < s.width; c += 8)
      product += *reinterpret_cast<const Eight*>(x + c) * *reinterpret_cast<const Eight*>(z + c);
    float fit = 0;
    for (int l = 0; l < 8; ++l) fit += product[l];
    const double r = (value[e] - s.offset[index[e]]) * s.inverse_scale * z[0] - fit;
    sum += weight ? weight[e] * r * r : r * r;
  }
  return sum;
}

/// Some rows of one side: their sums, and their posteriors by kSystems.
class Batch {
 public:
  Batch(const EntryTasks& tasks, const Regressors& held, const RowPriors& priors, const RowPosteriors& out,
        SegmentSums& segments, Workspace& work)
      : tasks_(tasks),
        entries_(tasks.entries()),
        priors_(priors),
        out_(out),
        segments_(segments),
        work_(work),
        width_(held.width),
        loss_(held.loss),
        everywhere_(held.everywhere.empty() ? nullptr : held.everywhere.data()),
        source_{held.scaled.data(), held.spread.empty() ? nullptr : held.spread.data(), held.offset.data(),
                1.0F / held.value_scale, held.width} {}

  void sum_segment(Index number, const EntryTasks::Segment& segment) {
    segments_.squares[std::size_t(number)] =
        sum_entries(segment.row, segment.first, segment.last, segments_.of(number));
  }

  /// The rows first .. first + rows - 1, at most kSystems of them.
  void run(Index first, Index rows, std::uint64_t seed) {
    std::fill(work_.factor.begin(), work_.factor.end(), 0.0F);
    for (int l = 0; l < kSystems; ++l) {
      if (l < rows)
        gather(first + l, l);
      else
        for (int c = 0; c < width_; ++c) work_.factor[lane(c * width_ + c, l)] = 1;  // an empty lane
    }
    const bool draw = out_.variance.empty() && !everywhere_;
    if (draw) {
      const Random draws(seed);
      for (int l = 0; l < rows; ++l) {
        Random random = draws.stream(first + l);
        for (int c = 0; c < width_; ++c) work_.normal[lane(c, l)] = float(random.gaussian());
      }
    }
    float *factor = work_.factor.data(), *pivot = work_.inverse_pivot.data(), *x = work_.solution.data();
    work_.right = work_.solution;
    if (priors_.nonnegative) {
      for (int l = 0; l < rows; ++l)
        for (int c = 0; c < width_; ++c) x[lane(c, l)] = out_.mean[(first + l) * width_ + c];
      solve_nonnegative_systems(factor, width_, work_.right.data(), x);
      for (int l = 0; l < rows; ++l) scatter(first + l, l);
      return;
    }
    factor_systems(factor, pivot, width_);
    solve_systems(factor, pivot, draw ? work_.normal.data() : nullptr, width_, x);
    if (!everywhere_) quadratic_forms(factor, pivot, width_, x, work_.form.data());
    if (!draw && !everywhere_)
      inverse_diagonals(factor, pivot, width_, work_.columns.data(), work_.variance.data());
    for (int l = 0; l < rows; ++l) scatter(first + l, l);
  }

 private:
  static std::size_t lane(int number, int l) { return std::size_t(number) * kSystems + std::size_t(l); }
  double precision(Index row) const { return double(priors_.noise_weight[row]) / priors_.noise_variance; }

  /// Sets the sums of some entries of a row and returns that of their squares.
  double sum_entries(Index row, std::int64_t first, std::int64_t last, float* memory) {
    const SystemSums sums(memory, width_);
    std::fill_n(memory, SystemSums::floats(width_), 0.0F);
    double squares = 0;
    for (std::int64_t e = first; e < last; e += kPanel) {
      const auto left = last - e;
      const int count = int(std::min<std::int64_t>(kPanel, left)),
                ahead = int(std::min<std::int64_t>(kPanel + kAhead, left)) - 1;
      const float *value = &entries_.value[e], *weight = tasks_.weight_of(e);
      if (loss_ != Loss::squares) {
        bind_entries(row, e, count, weight);
        value = work_.target.data();
        weight = work_.weight.data();
      }
      float *panel = work_.panel.data(), *residual = work_.residual.data();
      squares += weight ? add_weighted_entries(source_, &entries_.index[e], value, weight, count, ahead,
                                               panel, residual, sums.gram, sums.linear, sums.diagonal)
                        : add_entries(source_, &entries_.index[e], value, count, ahead, panel, residual,
                                      sums.gram, sums.linear, sums.diagonal);
    }
    return squares;
  }

  /// Weights and values by which squares say what the likelihood says of some entries of a row.
  void bind_entries(Index row, std::int64_t first, int count, const float* weight) {
    float* psi = work_.residual.data();  // not in use yet
    linear_predictors(source_, &entries_.index[first], count, out_.mean.data() + row * width_, psi);
    for (int e = 0; e < count; ++e) {
      const double omega = logistic_weight(psi[e]);
      work_.target[std::size_t(e)] = float((entries_.value[first + e] - 0.5) / omega);
      work_.weight[std::size_t(e)] = float(weight ? weight[e] * omega : omega);
    }
  }

  double sum_row(Index row, float* memory) {
    if (!tasks_.is_long(row)) return sum_entries(row, entries_.start[row], entries_.start[row + 1], memory);
    const std::size_t floats = segments_.floats;
    std::fill_n(memory, floats, 0.0F);
    double squares = 0;
    const auto [first, last] = tasks_.segments_of(row);
    for (Index s = first; s < last; ++s) {
      const float* part = segments_.of(s);
      for (std::size_t t = 0; t < floats; ++t) memory[t] += part[t];
      squares += segments_.squares[std::size_t(s)];
    }
    return squares;
  }

  /// The normal equations of one row, into its lane.
  void gather(Index row, int l) {
    squares_[l] = sum_row(row, work_.sums.data());
    const SystemSums sums(work_.sums.data(), width_);
    offset_spread_[l] = sums.diagonal[0];
    sums.diagonal[0] = 0;  // z_j0 = 1 is certain
    std::copy_n(sums.diagonal, width_, diagonal_of(l));
    const auto scale = float(precision(row));
    const auto tellable = float(kTellable * width_);
    for (int c = 0; c < width_; ++c) {
      for (int a = c; a < width_; ++a) {
        const int place = a * width_ + c;
        work_.factor[lane(c * width_ + a, l)] =
            scale * (everywhere_ ? sums.gram[place] + everywhere_[place] : sums.gram[place]);
      }
      float& pivot = work_.factor[lane(c * width_ + c, l)];
      pivot += scale * sums.diagonal[c];
      const float prior_precision = std::max(float(1.0 / priors_.variance[c]), tellable * pivot);
      work_.prior[lane(c, l)] = prior_precision;
      pivot += prior_precision;
      work_.solution[lane(c, l)] = scale * sums.linear[c] + prior_precision * priors_.mean[row * width_ + c];
    }
  }

  void scatter(Index row, int l) {
    float* mean = out_.mean.data() + row * width_;
    for (int c = 0; c < width_; ++c) mean[c] = work_.solution[lane(c, l)];
    if (everywhere_) return;
    double error = loss_ == Loss::squares ? squared_error(row, l, mean) : 0.0;
    if (!out_.variance
             .empty()) {  // what the uncertainty of either side adds: tr(A^-1 (gram + diagonal)) and its like
      float* variance = out_.variance.data() + row * width_;
      double shrinkage = 0, spread = offset_spread_[l];
      for (int c = 0; c < width_; ++c) {
        variance[c] = work_.variance[lane(c, l)];
        shrinkage += 1 - double(variance[c]) * work_.prior[lane(c, l)];
        spread += double(diagonal_of(l)[c]) * mean[c] * mean[c];
      }
      error += spread + std::max(shrinkage, 0.0) / precision(row);
    }
    out_.squared_error[row] = error;
  }

  /// sum_j w_j (y_ij - c_j - x . z_j)^2 from what the factorization knows, or entry by entry where that would
  /// be the small difference of large numbers.
  double squared_error(Index row, int l, const float* x) const {
    const Index count = entries_.count(row);
    if (count == 0) return 0;
    double form = work_.form[std::size_t(l)], product = 0;  // x^T A x and x . b, scaled by the precision
    for (int c = 0; c < width_; ++c) {
      const double prior_precision = work_.prior[lane(c, l)], value = x[c];
      form -= value * value *
              (precision(row) * diagonals_[std::size_t(l) * std::size_t(width_) + std::size_t(c)] +
               prior_precision);
      product += value * (work_.right[lane(c, l)] - prior_precision * priors_.mean[row * width_ + c]);
    }
    const double error = squares_[l] + (form - 2 * product) / precision(row);
    constexpr double kTrusted = 1e-2;  // of the terms it is the difference of, which carry single precision
    if (error > kTrusted * std::max(squares_[l], form / precision(row))) return error;
    const std::int64_t e = entries_.start[row];
    return squared_residuals(source_, &entries_.index[e], &entries_.value[e], tasks_.weight_of(e), count, x);
  }

  float* diagonal_of(int l) { return diagonals_.data() + Index(l) * width_; }

  const EntryTasks& tasks_;
  const GroupedEntries& entries_;
  const RowPriors& priors_;
  const RowPosteriors& out_;
  SegmentSums& segments_;
  Workspace& work_;
  int width_;
  Loss::Kind loss_;
  const float* everywhere_;
  Source source_;
  double squares_[kSystems] = {};
  float offset_spread_[kSystems] = {};
  std::vector<float> diagonals_ = std::vector<float>(std::size_t(kSystems) * std::size_t(width_));
};

/// Of so many pieces of work those that are this rank's among the ranks of its machine.
std::pair<Index, Index> part_of_machine(const Ranks* ranks, Index pieces) {
  if (!ranks) return {0, pieces};
  const std::vector<int>& all = ranks->neighbours();
  const auto count = Index(all.size()),
             place = std::find(all.begin(), all.end(), ranks->rank()) - all.begin();
  return {pieces * place / count, pieces * (place + 1) / count};
}

}  // namespace

void set_regressors(Regressors& held, std::span<const float> mean, std::span<const float> variance,
                    std::span<const float> noise_weight, int width, double value_mean, double value_scale,
                    int threads, Ranks* ranks) {
  held.width = width;
  held.value_scale = float(value_scale);
  held.scaled.resize(mean.size());
  held.spread.resize(variance.size());
  held.offset.resize(noise_weight.size());
  const Chunks members(Index(noise_weight.size()));
  const auto [begin, end] = part_of_machine(ranks, members.count());
  parallel_for(end - begin, threads, [&, first_chunk = begin](Index chunk) {
    const Index from = members.first(first_chunk + chunk), to = members.first(first_chunk + chunk + 1);
    for (Index j = from; j < to; ++j) {
      const float w = noise_weight[std::size_t(j)], root = std::sqrt(w);
      const Index first = j * width;
      held.offset[j] = float(value_mean + value_scale * mean[std::size_t(first)]);
      held.scaled[first] = root;
      for (Index c = first + 1; c < first + width; ++c) held.scaled[c] = root * mean[std::size_t(c)];
      if (!variance.empty())
        for (Index c = first; c < first + width; ++c) held.spread[c] = w * variance[std::size_t(c)];
    }
  });
  if (ranks) ranks->meet();
}

void set_everywhere(Regressors& held, double weight, int threads) {
  const Index width = held.width;
  const Chunks members(Index(held.offset.size()));
  std::vector<AlignedVector<float>> parts(std::size_t(members.count()));
  parallel_for(members.count(), threads, [&](Index chunk) {
    auto& gram = parts[std::size_t(chunk)];
    gram.assign(std::size_t(width * width), 0.0F);
    add_members(held.scaled.data() + members.first(chunk) * width, members.length(chunk), int(width),
                gram.data());
  });
  tree_sum(parts, [](AlignedVector<float>& into, const AlignedVector<float>& part) {
    for (std::size_t k = 0; k < into.size(); ++k) into[k] += part[k];
  });
  held.everywhere = std::move(parts.front());
  for (float& sum : held.everywhere) sum *= float(weight);
  for (Index c = 0; c < width; ++c) held.everywhere[c * width] = 0;  // of offsets
}

void update_rows(const EntryTasks& tasks, const Regressors& held, const RowPriors& priors, std::uint64_t seed,
                 int threads, const RowPosteriors& out, const std::function<bool()>& stop) {
  SegmentSums segments(tasks.segments(), held.width);
  tasks.share(
      threads,
      [&](Index number, const EntryTasks::Segment& segment) {
        if (stop && stop()) return;
        Batch(tasks, held, priors, out, segments, workspace_for(held.width)).sum_segment(number, segment);
      },
      [&](Index first, Index last) {
        if (stop && stop()) return;
        Batch batch(tasks, held, priors, out, segments, workspace_for(held.width));
        for (Index i = first; i < last; i += kSystems)
          batch.run(i, std::min<Index>(kSystems, last - i), seed);
      });
}

}  // namespace pursuit
