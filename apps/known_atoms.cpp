#include "apps/known_atoms.hpp"

#include <fmt/format.h>

#include "pursuit/base/error.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/io/model_file.hpp"

namespace pursuit::app {
namespace {

Expansion read_atoms(const std::string& path, Index rows, Index cols) {
  const Expansion model = load_model(path).model;
  if (model.left().rows() != rows || model.right().rows() != cols)
    throw InvalidInput(fmt::format("{}: its atoms are {} x {}, but the matrix is {} x {}", path,
                                   model.left().rows(), model.right().rows(), rows, cols));
  return {model.left(), model.right(), model.weights};  // symmetric atoms too
}

/// Atoms of which one factor is known; the other one is zero, to be fitted.
Expansion read_left_factors(const std::string& path, Index rows, Index cols) {
  const Matrix left = read_dense(path);
  if (left.rows() != rows)
    throw InvalidInput(
        fmt::format("{}: has {} rows, but the matrix {}; one known left factor per column is expected", path,
                    left.rows(), rows));
  return {left, Matrix::Zero(cols, left.cols()), Vector::Ones(left.cols())};
}

Expansion read_right_factors(const std::string& path, Index rows, Index cols) {
  const Matrix right = read_dense(path);
  if (right.cols() != cols)
    throw InvalidInput(
        fmt::format("{}: has {} columns, but the matrix {}; one known right factor per row is expected", path,
                    right.cols(), cols));
  return {Matrix::Zero(rows, right.rows()), right.transpose(), Vector::Ones(right.rows())};
}

}  // namespace

Matrix read_dense(const std::string& path) {
  return std::visit([](const auto& matrix) { return Matrix(matrix.template cast<double>()); },
                    read_matrix(path).matrix);
}

void add_known_atoms(Command& command, KnownAtoms& known) {
  command
      .add_option("--start", known.start,
                  "greedy: atoms one by one, a result for every rank; leading: all at once from the leading\n"
                  "singular vectors, faster for large ranks (of an array of more modes also random: from\n"
                  "random members); a file: from the atoms of this model, which --rank counts too")
      .show_default();
  Option fix = command.add_option(
      "--fix", known.fix, "Keep the atoms of this model as they are, fit their weights and the other atoms");
  Option left = command.add_option("--fix-left", known.fix_left,
                                   "Keep these left factors (a matrix, one per column), fit all else");
  Option right = command.add_option("--fix-right", known.fix_right,
                                    "Keep these right factors (a matrix, one per row), fit all else");
  fix.excludes(left).excludes(right);
  left.excludes(right);
}

void read_known_atoms(const KnownAtoms& known, Index rows, Index cols, FactorOptions& options) {
  Expansion model;
  if (!known.fix.empty()) model = read_atoms(known.fix, rows, cols);
  if (!known.fix_left.empty()) {
    model = read_left_factors(known.fix_left, rows, cols);
    options.fixed_factors = FixedFactors::left;
  }
  if (!known.fix_right.empty()) {
    model = read_right_factors(known.fix_right, rows, cols);
    options.fixed_factors = FixedFactors::right;
  }
  options.fixed = model.rank();
  if (known.start == "leading") {
    options.start = Start::leading;
  } else if (known.start != "greedy") {
    const Expansion start = read_atoms(known.start, rows, cols);
    if (model.rank() == 0) {
      model = start;
    } else {
      for (Index i = 0; i < start.rank(); ++i)
        model.append(Factors(start.left().col(i), start.right().col(i)), start.weights[i]);
    }
  }
  options.initial = std::move(model);
}

}  // namespace pursuit::app
