#pragma once
// The factors along all modes but one as the entries of a group meet them: by rows, the row of an entry being
// the product of those of its places. Of a matrix there is one other mode, and nothing to multiply.

#include <array>
#include <vector>

#include "base/aligned.hpp"
#include "base/packs.hpp"
#include "pursuit/objective/expansion.hpp"
#include "pursuit/objective/tensor.hpp"

namespace pursuit {

constexpr std::size_t kFurtherModes = std::size_t(kMostModes) - 2;
/// Of every entry, its place along the second, third ... of the other modes; null where there are no more.
using FurtherPlaces = std::array<const int*, kFurtherModes>;

/// Where the entries of a group lie.
struct Places {
  Index count;
  const int* index;  // along the (first) other mode; null where there is one entry for every place
  FurtherPlaces further = {};
};

/// Rows are `stride` apart, and what is beyond the rank is zero.
struct FactorRows {
  const double* rows;
  Index rank, stride;
  std::array<const double*, kFurtherModes> further = {};  // of the other modes but the first
};

/// The row that entry e meets, made in `scratch` where it is a product.
PURSUIT_INLINE const double* row_at(const FactorRows& factors, const int* index, const FurtherPlaces& further,
                                    Index e, double* scratch) {
  const Index stride = factors.stride;
  const double* first = factors.rows + Index(index[e]) * stride;
  if (!factors.further[0]) return first;
  const double* second = factors.further[0] + Index(further[0][e]) * stride;
  for (Index k = 0; k < stride; ++k) scratch[k] = first[k] * second[k];
  for (std::size_t m = 1; m < kFurtherModes && factors.further[m]; ++m) {
    const double* more = factors.further[m] + Index(further[m][e]) * stride;
    for (Index k = 0; k < stride; ++k) scratch[k] *= more[k];
  }
  return scratch;
}

/// Keeps the rows.
class RowPanel {
 public:
  RowPanel(const Panel& columns, int threads, Index multiple = 4);
  /// Of all modes but this one; strides are multiples of `multiple`.
  RowPanel(const Factors& z, Index mode, int threads, Index multiple = 4);
  FactorRows rows() const;

 private:
  void add(const Panel& columns, int threads);

  Index rank_, stride_;
  std::vector<AlignedVector<double>> numbers_;
};

}  // namespace pursuit
