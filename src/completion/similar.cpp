#include "pursuit/completion/similar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "completion/best_products.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/products.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// Factors of one side, without offsets, and what is not known of them.
struct SideFactors {
  Matrix mean, variance;

  SideFactors(const CompletionSide& side, const Matrix& atoms) {
    const Index own = std::max<Index>(side.mean.cols() - 1, 0), all = own + atoms.cols();
    mean = variance = Matrix::Zero(side.size(), all);
    mean.leftCols(own) = side.mean.rightCols(own).cast<double>();
    variance.leftCols(own) = side.variance.rightCols(own).cast<double>();
    if (atoms.cols() > 0) mean.rightCols(atoms.cols()) = atoms;
  }
};

/// Over the members with entries.
Matrix covariance(SideFactors factors, const std::vector<int>& unseen) {
  const auto count = double(std::max<Index>(factors.mean.rows() - Index(unseen.size()), 1));
  for (const int i : unseen) factors.mean.row(i).setZero(), factors.variance.row(i).setZero();
  const Eigen::RowVectorXd mean = factors.mean.colwise().sum() / count;
  Matrix result = gram_of(factors.mean) / count - mean.transpose() * mean;
  result.diagonal() += factors.variance.colwise().sum().transpose() / count;
  return result;
}

/// Vectors whose products are likenesses.
FactorMatrix unit_vectors(const SideFactors& side, const Matrix& covariance_of_others) {
  const SymmetricEigen parts = symmetric_eigen(covariance_of_others);
  const Matrix root = parts.vectors * parts.values.cwiseMax(0).cwiseSqrt().asDiagonal();
  Matrix vectors = side.mean * root;
  const Vector spread = side.variance * covariance_of_others.diagonal();
  for (Index j = 0; j < vectors.rows(); ++j) {
    const double size = std::sqrt(vectors.row(j).squaredNorm() + spread[j]);
    if (size > 0) vectors.row(j) /= size;
  }
  return vectors.cast<float>();
}

FactorMatrix vectors_of(const CompletionModel& model, Neighbours::Side side) {
  if (model.rank() == 0)
    throw InvalidInput("the model has offsets alone, by which nothing is more alike than anything else");
  const SideFactors rows(model.rows, model.atoms.scaled_left()), cols(model.cols, model.atoms.right());
  if (side == Neighbours::Side::rows) return unit_vectors(rows, covariance(cols, model.cols.unseen));
  return unit_vectors(cols, covariance(rows, model.rows.unseen));
}

}  // namespace

Neighbours::Neighbours(const CompletionModel& model, Side side)
    : products_(std::make_shared<BestProducts>(vectors_of(model, side))) {}

const FactorMatrix& Neighbours::vectors() const {
  return products_->vectors();
}

std::vector<std::vector<Neighbour>> Neighbours::of(std::span<const int> members, Index count,
                                                   int threads) const {
  if (count < 0) throw InvalidArgument(fmt::format("{} neighbours: must be 0 or more", count));
  for (const int member : members)
    if (member < 0 || member >= vectors().rows())
      throw InvalidArgument(fmt::format("member {}: there are {}", member, vectors().rows()));
  std::vector<std::vector<Neighbour>> result(members.size());
  if (count == 0) return result;
  const auto all = Index(members.size());
  constexpr Index kBlock = BestProducts::kBlock;
  parallel_for((all + kBlock - 1) / kBlock, resolve_threads(threads), [&](Index block) {
    const Index first = block * kBlock, number = std::min(kBlock, all - first);
    const std::span<const int> own = members.subspan(std::size_t(first), std::size_t(number));
    FactorMatrix queries(number, vectors().cols());
    for (Index i = 0; i < number; ++i) queries.row(i) = vectors().row(own[std::size_t(i)]);
    const auto best = products_->of(queries, count, [&](Index i) { return own.subspan(std::size_t(i), 1); });
    for (Index i = 0; i < number; ++i) {
      std::vector<Neighbour> list;
      for (const ScoredItem& each : best[std::size_t(i)])
        list.push_back(
            {each.item, queries.row(i).cast<double>().dot(vectors().row(each.item).cast<double>())});
      const auto kept = std::min<std::size_t>(std::size_t(count), list.size());
      const auto better = [](const Neighbour& a, const Neighbour& b) {
        return a.similarity != b.similarity ? a.similarity > b.similarity : a.member < b.member;
      };
      std::partial_sort(list.begin(), list.begin() + std::ptrdiff_t(kept), list.end(), better);
      list.resize(kept);
      result[std::size_t(first + i)] = std::move(list);
    }
  });
  return result;
}

}  // namespace pursuit
