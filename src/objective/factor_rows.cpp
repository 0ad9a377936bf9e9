#include "objective/factor_rows.hpp"

#include "base/chunks.hpp"
#include "base/work.hpp"

namespace pursuit {

RowPanel::RowPanel(const Panel& columns, int threads, Index multiple)
    : rank_(columns.cols()), stride_((rank_ + multiple - 1) / multiple * multiple) {
  add(columns, threads);
}

RowPanel::RowPanel(const Factors& z, Index mode, int threads, Index multiple)
    : rank_(z.count()), stride_((rank_ + multiple - 1) / multiple * multiple) {
  for (Index other = 0; other < z.modes(); ++other)
    if (other != mode) add(z[other], threads);
}

void RowPanel::add(const Panel& columns, int threads) {
  AlignedVector<double>& numbers =
      numbers_.emplace_back(std::size_t(columns.rows() * stride_), 0.0);  // zeros beyond the rank
  const Chunks chunks(columns.rows(), 256);
  parallel_for(chunks.count(), threads_for(double(columns.size()), threads), [&](Index c) {
    for (Index i = chunks.first(c); i < chunks.first(c + 1); ++i)
      for (Index k = 0; k < rank_; ++k) numbers[std::size_t(i * stride_ + k)] = columns(i, k);
  });
}

FactorRows RowPanel::rows() const {
  FactorRows result{numbers_[0].data(), rank_, stride_};
  for (std::size_t m = 1; m < numbers_.size(); ++m) result.further[m - 1] = numbers_[m].data();
  return result;
}

}  // namespace pursuit
