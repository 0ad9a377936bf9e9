#include <fmt/format.h>

#include <array>
#include <mutex>
#include <utility>

#include "objective/compressed_array.hpp"
#include "objective/khatri_rao.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/objective/tensor.hpp"

namespace pursuit {
namespace {

double entries_in(const std::vector<Index>& shape, Index first, Index last) {
  double product = 1;
  for (Index m = first; m < last; ++m) product *= double(shape[std::size_t(m)]);
  return product;
}

/// The modes in two groups, those along the rows of the unfolded array and those along its columns. A
/// contraction along a mode is one product of the data with the other group, and little work within its own.
class DenseTensorTarget final : public TensorTarget {
 public:
  DenseTensorTarget(DataMatrixPtr unfolded, const std::vector<Index>& shape)
      : data_(std::move(unfolded)), split_(balanced_split(shape)), squared_norm_(data_->squared_norm()) {
    for (const Index size : shape) axes_.emplace_back(size, data_->threads());
    if (double(data_->rows()) != entries_in(shape, 0, split_) ||
        double(data_->cols()) != entries_in(shape, split_, modes()))
      throw InvalidArgument(
          fmt::format("a matrix of {} x {} is not the array that was named", data_->rows(), data_->cols()));
  }

  Index modes() const override { return Index(axes_.size()); }
  const Axis& axis(Index mode) const override { return axes_[std::size_t(mode)]; }

  void contract(Index mode, const Factors& z, Panel& out) const override {
    const std::lock_guard lock(mutex_);
    const bool along_rows = mode < split_;
    const Panel& partial = without(z, along_rows);
    const Index first = along_rows ? 0 : split_;
    out = contract_columns(partial, group(z, along_rows), mode - first, data_->threads());
  }

  double squared_norm() const override { return squared_norm_; }
  std::optional<double> squared_distance(const Expansion& x) const override {
    return data_->squared_distance(
        khatri_rao(group(x.factors, true), data_->threads()) * x.weights.asDiagonal(),
        khatri_rao(group(x.factors, false), data_->threads()));
  }
  double contraction_work() const override { return 2 * data_->product_work() / double(modes()); }

  TargetPtr compressed(Index directions, Random& random) const override {
    return compressed_array(*data_, shape(), split_, directions, squared_norm_, random);
  }

  double largest_magnitude() const override { return data_->largest_magnitude(); }
  TensorPtr scaled(double power_of_two) const override {
    return dense_tensor(data_->scaled(power_of_two), shape());
  }

 private:
  std::vector<Index> shape() const {
    std::vector<Index> sizes;
    for (const Axis& axis : axes_) sizes.push_back(axis.size());
    return sizes;
  }

  std::vector<const Panel*> group(const Factors& z, bool along_rows) const {
    std::vector<const Panel*> panels;
    for (Index m = along_rows ? 0 : split_; m < (along_rows ? split_ : modes()); ++m) panels.push_back(&z[m]);
    return panels;
  }

  /// The data with the other group contracted: made anew only where that group's factors are others.
  const Panel& without(const Factors& z, bool along_rows) const {
    Partial& partial = partials_[along_rows ? 0 : 1];
    const auto others = group(z, !along_rows);
    bool same = partial.factors.size() == others.size();
    for (std::size_t m = 0; same && m < others.size(); ++m)
      same = partial.factors[m].cols() == others[m]->cols() && partial.factors[m] == *others[m];
    if (!same) {
      partial.factors.clear();
      const Panel product = khatri_rao(others, data_->threads());
      if (along_rows)
        data_->apply(product, partial.result);
      else
        data_->apply_transposed(product, partial.result);
      for (const Panel* panel : others) partial.factors.push_back(*panel);
    }
    return partial.result;
  }

  struct Partial {
    std::vector<Panel> factors;  // that it was made with
    Panel result;
  };

  DataMatrixPtr data_;
  Index split_;
  double squared_norm_;
  std::vector<Axis> axes_;
  mutable std::mutex mutex_;
  mutable std::array<Partial, 2> partials_;  // along rows, along columns
};

}  // namespace

Index balanced_split(const std::vector<Index>& shape) {
  const Index modes = Index(shape.size());
  Index best = 1;
  double least = 0;
  for (Index split = 1; split < modes; ++split) {
    const double sum = entries_in(shape, 0, split) + entries_in(shape, split, modes);
    if (split == 1 || sum <= least) {  // many short rows rather than few long ones
      best = split;
      least = sum;
    }
  }
  return best;
}

TensorPtr dense_tensor(DataMatrixPtr unfolded, const std::vector<Index>& shape) {
  return std::make_shared<DenseTensorTarget>(std::move(unfolded), shape);
}

}  // namespace pursuit
