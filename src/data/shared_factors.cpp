#include "data/shared_factors.hpp"

#include "data/compressed_rows.hpp"

namespace pursuit {
namespace {

using RowMajorPanel = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

SharedFactors::SharedFactors(Ranks& ranks, const std::vector<MemberShares>& shares, int number, Index columns)
    : ranks_(ranks), shares_(shares), columns_(columns), width_(padded_columns(columns)) {
  for (const int mode : {0, 1})
    whole_[mode] =
        static_cast<double*>(ranks_.shared(number + mode, std::size_t(members(mode)) * row_bytes()));
}

Panel SharedFactors::rows(Index mode, Index first, Index count) const {
  return Eigen::Map<const RowMajorPanel, 0, Eigen::OuterStride<>>(whole_[mode] + first * width_, count,
                                                                  columns_, Eigen::OuterStride<>(width_));
}

Panel SharedFactors::own(Index mode) const {
  const MemberShares& shares = shares_[std::size_t(mode)];
  return rows(mode, shares.first(), shares.last() - shares.first());
}

void SharedFactors::write(Index mode, Index first, const Matrix& rows) const {
  for (Index i = 0; i < rows.rows(); ++i) {
    double* row = whole_[mode] + (first + i) * width_;
    for (Index k = 0; k < width_; ++k) row[k] = k < columns_ ? rows(i, k) : 0.0;
  }
}

void SharedFactors::from_leader(Index mode, const Matrix& all) const {
  if (ranks_.leads()) write(mode, 0, all);
  share_from_leader(ranks_, whole_[mode], std::size_t(members(mode)) * row_bytes());
}

void SharedFactors::publish(Index mode, const Panel& own, SharingRound& round) const {
  const MemberShares& shares = shares_[std::size_t(mode)];
  write(mode, shares.first(), own);
  round.share(shares, {{whole_[mode], width_}});
}

Matrix SharedFactors::to_leader(Index mode, const Panel& own) const {
  const MemberShares& shares = shares_[std::size_t(mode)];
  write(mode, shares.first(), own);
  const auto rows_of = [&](int owner, int other) -> Parcel {
    return {other, whole_[mode] + shares.first(owner) * width_,
            std::size_t(shares.first(owner + 1) - shares.first(owner)) * row_bytes()};
  };
  std::vector<Parcel> outgoing, incoming;
  const int leaders_machine = ranks_.machine_of(0);
  if (ranks_.machine_of(ranks_.rank()) != leaders_machine) outgoing.push_back(rows_of(ranks_.rank(), 0));
  for (int rank = 0; rank < ranks_.size() && ranks_.leads(); ++rank)
    if (ranks_.machine_of(rank) != leaders_machine) incoming.push_back(rows_of(rank, rank));
  ranks_.exchange(outgoing, incoming);
  ranks_.meet();
  return ranks_.leads() ? Matrix(rows(mode, 0, members(mode))) : Matrix();
}

}  // namespace pursuit
