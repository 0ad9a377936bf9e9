#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "pursuit/base/error.hpp"
#include "pursuit/io/completion_file.hpp"

namespace pursuit {
namespace {

IdTable ids_or_positions(const std::vector<std::string>& names, Index size) {
  if (!names.empty()) return IdTable(names);
  IdTable ids;
  for (Index i = 0; i < size; ++i) ids.add(fmt::format("{}", i));
  return ids;
}

double largest(const Vector& numbers) {
  return numbers.size() > 0 ? numbers.cwiseAbs().maxCoeff() : 0.0;
}

/// Offsets in units of `scale`; none where `numbers` is empty.
CompletionSide side_of_offsets(Index size, const Vector& numbers, double scale) {
  CompletionSide side = plain_side(size);
  if (numbers.size() > 0) side.mean.col(0) = (numbers / scale).cast<float>();
  return side;
}

/// The sum of squares that atoms leave; of principal components, which tell their share of the whole, by it.
double left_over(const ModelFile& file) {
  if (!file.trace.empty()) return 2 * std::max(file.trace.back().objective, 0.0);
  const auto span = file.metadata.find("explained_span");
  const double share = span == file.metadata.end() ? 1.0 : std::strtod(span->second.c_str(), nullptr);
  if (!(share > 0 && share < 1)) return 0;
  const Matrix grams = (file.model.left().transpose() * file.model.left())
                           .cwiseProduct(file.model.right().transpose() * file.model.right());
  return file.model.weights.dot(grams * file.model.weights) * (1 - share) / share;
}

}  // namespace

CompletionFile as_completion(ModelFile file) {
  if (file.model.factors.modes() != 2)
    throw InvalidInput(fmt::format("a model of an array of {} modes: only matrices have rows and columns",
                                   file.model.factors.modes()));
  if (file.loss.kind != Loss::squares && file.loss.kind != Loss::bernoulli)
    throw InvalidInput(
        fmt::format("a model of the loss {}: predictions and recommendations are of squares and bernoulli",
                    file.loss.spec()));
  CompletionFile result;
  CompletionModel& model = result.model;
  const Index rows = file.model.left().rows(), cols = file.model.right().rows();
  Vector col_offsets = file.own_terms.col_offsets;
  if (file.column_means.size() > 0) col_offsets = file.column_means;
  Matrix right = file.model.right();
  if (file.column_deviations.size() > 0) right = file.column_deviations.asDiagonal() * right;
  model.loss = file.loss;
  double noise = 0;  // what the atoms leave
  if (model.loss.kind == Loss::squares) {
    noise = std::sqrt(left_over(file) / double(rows * cols));
    const double size = std::max({largest(file.own_terms.row_offsets), largest(col_offsets), noise});
    if (size > 0) model.scale = size;
  }
  model.rows = side_of_offsets(rows, file.own_terms.row_offsets, model.scale);
  model.cols = side_of_offsets(cols, col_offsets, model.scale);
  model.noise_variance = std::pow(noise / model.scale, 2);
  model.lowest = -std::numeric_limits<double>::infinity();
  model.highest = std::numeric_limits<double>::infinity();
  if (file.model.rank() > 0) model.atoms = Expansion(file.model.left(), std::move(right), file.model.weights);
  require_sound(model);
  result.rows = ids_or_positions(file.row_names, rows);
  result.cols = ids_or_positions(file.column_names, cols);
  result.metadata = std::move(file.metadata);
  result.keeps_entries = false;
  return result;
}

CompletionFile predictions_of(AnyModelFile file, const std::filesystem::path& path) {
  if (auto* completion = std::get_if<CompletionFile>(&file)) return std::move(*completion);
  try {
    return as_completion(std::move(std::get<ModelFile>(file)));
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", path.string(), error.what()));
  }
}

CompletionFile load_predictions(const std::filesystem::path& path) {
  return predictions_of(load_any_model(path), path);
}

}  // namespace pursuit
