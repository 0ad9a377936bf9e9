#include "data/matrix_over_ranks.hpp"

#include <cmath>
#include <utility>

#include "data/made_of.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

void RankTeam::ask(const Job& job, const std::function<void()>& own_part) {
  const std::lock_guard lock(turn_);
  if (broken_) throw Error("the ranks have lost each other");
  Job sent = job;
  ranks_.broadcast(&sent, sizeof sent);
  try {
    own_part();
  } catch (...) {
    broken_ = true;
    throw;
  }
}

void RankTeam::dismiss(int status) {
  ask({.order = Order::end, .number = double(status)}, [] {});
}

void RankedMatrices::perform(const Job& job) {
  if (job.order == Order::release) {
    matrices_.erase(job.matrix);
    return;
  }
  const RankedRows& rows = matrices_.at(job.matrix);
  if (job.order == Order::scale || job.order == Order::shift)
    keep(job.result, rows.changed(job, {}));
  else
    rows.perform(job, {}, {});
}

namespace {

class MatrixOverRanks final : public DataMatrix {
 public:
  MatrixOverRanks(RankTeam& team, std::int64_t number, RankedRows rows, const RankedTraits& traits)
      : team_(team), number_(number), rows_(std::move(rows)), traits_(traits) {}
  ~MatrixOverRanks() override {
    if (!team_.broken()) team_.ask({.order = Order::release, .matrix = number_}, [] {});
  }
  MatrixOverRanks(const MatrixOverRanks&) = delete;
  MatrixOverRanks& operator=(const MatrixOverRanks&) = delete;

  Index rows() const override { return rows_.cuts().rows(); }
  Index cols() const override { return rows_.cols(); }
  void apply(const Matrix& V, Matrix& out) const override { out = ask(Order::multiply, V.cols(), V, {}); }
  void apply_transposed(const Matrix& U, Matrix& out) const override {
    out = ask(Order::multiply_transposed, U.cols(), {}, U);
  }
  void apply_gram(const Matrix& V, Matrix& out) const override {
    out = ask(Order::multiply_gram, V.cols(), V, {});
  }
  OverRanks hold() const { return {&team_, number_, &rows_}; }
  int threads() const override { return traits_.threads; }
  double rounding() const override { return traits_.rounding; }
  double product_work() const override { return traits_.product_work; }

  double squared_norm() const override { return ask(Order::norm, 0, {}, {})(0); }
  double squared_norm_about(const Vector& column_shift) const override {
    return ask(Order::norm_about, 1, column_shift, {})(0);
  }
  std::optional<double> squared_distance(const Matrix& L, const Matrix& R) const override {
    const double distance = ask(Order::distance, L.cols(), R, L)(0);
    return std::isnan(distance) ? std::nullopt : std::optional(distance);
  }
  Vector column_means() const override {
    Matrix sums;
    apply_transposed(Matrix::Ones(rows(), 1), sums);
    return sums / double(rows());
  }
  double asymmetry() const override { return asymmetry_by_products(*this); }
  double largest_magnitude() const override { return ask(Order::largest, 0, {}, {})(0); }
  DataMatrixPtr scaled(double power_of_two) const override {
    return changed({.order = Order::scale, .matrix = number_, .number = power_of_two}, {});
  }
  DataMatrixPtr shifted(const Vector& column_shift) const override {
    if (ask(Order::sparse, 0, {}, {})(0) > 0) return nullptr;  // it would be dense
    // Each block as it is best for it.
    return changed({.order = Order::shift, .matrix = number_}, column_shift);
  }

 private:
  Matrix ask(Order order, Index columns, const Matrix& shared, const Matrix& by_rows) const {
    const Job job{.order = order, .matrix = number_, .columns = columns};
    Matrix result;
    team_.ask(job, [&] { result = rows_.perform(job, shared, by_rows); });
    return result;
  }
  DataMatrixPtr changed(Job job, const Vector& shift) const {
    job.result = team_.fresh_number();
    DataMatrixPtr result;
    team_.ask(job,
              [&] { result = matrix_over_ranks(team_, job.result, rows_.changed(job, shift), traits_); });
    return result;
  }

  RankTeam& team_;
  std::int64_t number_;
  RankedRows rows_;
  RankedTraits traits_;
};

}  // namespace

std::optional<OverRanks> over_ranks(const DataMatrix& matrix) {
  const auto* ranked = dynamic_cast<const MatrixOverRanks*>(&matrix);
  return ranked ? std::optional(ranked->hold()) : std::nullopt;
}

DataMatrixPtr matrix_over_ranks(RankTeam& team, std::int64_t number, RankedRows rows,
                                const RankedTraits& traits) {
  return std::make_shared<MatrixOverRanks>(team, number, std::move(rows), traits);
}

}  // namespace pursuit
