#include "pursuit/objective/form.hpp"

#include <utility>

#include "objective/matrix_target.hpp"

namespace pursuit {
namespace {

class MatrixTarget final : public Target {
 public:
  explicit MatrixTarget(DataMatrixPtr data)
      : data_(std::move(data)), form_(*data_), squared_norm_(data_->squared_norm()) {}
  Index modes() const override { return form_.modes(); }
  const Axis& axis(Index mode) const override { return form_.axis(mode); }
  void contract(Index mode, const Factors& z, Panel& out) const override { form_.contract(mode, z, out); }
  double squared_norm() const override { return squared_norm_; }
  std::optional<double> squared_distance(const Expansion& x) const override {
    return data_->squared_distance(x.scaled_left(), x.right());
  }
  double contraction_work() const override { return data_->product_work(); }
  const DataMatrix& data() const { return *data_; }

 private:
  DataMatrixPtr data_;
  MatrixForm form_;
  double squared_norm_;
};

}  // namespace

const DataMatrix* matrix_of(const Target& target) {
  const auto* matrix = dynamic_cast<const MatrixTarget*>(&target);
  return matrix ? &matrix->data() : nullptr;
}

TargetPtr matrix_target(DataMatrixPtr data) {
  return std::make_shared<MatrixTarget>(std::move(data));
}

}  // namespace pursuit
