#pragma once
// Offsets that drift in time, beside those of a completed matrix (model.hpp):
//
//   entry (i, j) at time t  =  the model's  +  d(t) + d_i(t) + d_j(t)
//
// Every d is the mean of what is left of the entries of a member around t, in units of the data: an entry at
// time s counts exp(-|t - s| / reach), and `ridge` entries of nothing count besides. Far from all entries, as
// in a distant future, it is 0. Entries close to each other are kept together, as knots.

#include <cstdint>
#include <vector>

namespace pursuit {

struct DriftOf {
  double reach = 0;                 // in units of times; 0: no drift
  double ridge = 1;                 // in entries
  std::vector<std::int64_t> start;  // knots start[i] to start[i + 1] are those of member i, by time
  std::vector<double> time;         // of every knot
  std::vector<float> sum, count;    // of what is left of the entries, and of how much they count

  bool is_on() const { return reach > 0; }
  /// 0 for members that have no knots.
  double at(int member, double when) const;
};

struct Drift {
  DriftOf all, rows, cols;  // `all` has one member
  double newest = 0;        // the time of the last entry

  bool is_on() const { return all.is_on() || rows.is_on() || cols.is_on(); }
  /// -1 for members never seen.
  double at(int row, int col, double when) const;
};

}  // namespace pursuit
