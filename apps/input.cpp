#include "apps/input.hpp"

#include <memory>
#include <type_traits>
#include <utility>

#include "apps/console.hpp"
#include "apps/ranks.hpp"
#include "pursuit/io/ranked_matrix_file.hpp"

namespace pursuit::app {

void add_text_options(Command& command, TextInput& text) {
  command
      .add_option(
          "--header", text.header,
          "Whether the first line of CSV and TSV holds column names: yes, no, or auto, which refuses\n"
          "what could be either")
      .one_of({"auto", "yes", "no"})
      .show_default();
}

void add_transpose_option(Command& command, TextInput& text) {
  command.add_flag("--transpose", text.transpose, "Rows of INPUT as columns, and columns as rows");
}

namespace {

AnyMatrix as_transposed(const AnyMatrix& matrix) {
  return std::visit([](const auto& m) -> AnyMatrix { return std::decay_t<decltype(m)>(m.transpose()); },
                    matrix);
}

MatrixReading reading_of(const TextInput& text, int threads) {
  return {text.header == "yes" ? Header::yes : text.header == "no" ? Header::no : Header::find, threads};
}

/// Tells which parts of a text were taken for names.
void tell_names(const std::string& path, bool rows, bool columns, Index height, Index width) {
  if (columns || rows)
    tell("pursuit: note: {}: {}{}{} taken for names; {} x {} numbers\n", path,
         columns ? "the first line" : "", columns && rows ? " and " : "", rows ? "the first column" : "",
         height, width);
}

}  // namespace

NamedMatrix read_input(const std::string& path, const TextInput& text, int threads) {
  NamedMatrix matrix = read_matrix(path, reading_of(text, threads));
  tell_names(path, !matrix.row_names.empty(), !matrix.column_names.empty(), rows_of(matrix.matrix),
             cols_of(matrix.matrix));
  if (text.transpose) {
    matrix.matrix = as_transposed(matrix.matrix);
    std::swap(matrix.row_names, matrix.column_names);
  }
  return matrix;
}

Matrix dense(AnyMatrix matrix) {
  if (auto* doubles = std::get_if<Matrix>(&matrix)) return std::move(*doubles);
  return std::visit([](const auto& m) { return Matrix(m.template cast<double>()); }, matrix);
}

MatrixData read_input_data(const std::string& path, const TextInput& text, int threads) {
  if (text.transpose) {  // a copy in memory, whatever the file is
    const auto matrix = std::make_shared<NamedMatrix>(read_input(path, text, threads));
    MatrixData data = in_memory(*matrix, threads);
    data.matrix = {data.matrix.get(), [matrix, inner = data.matrix](const DataMatrix*) {}};
    return data;
  }
  MatrixData data = read_data(path, reading_of(text, threads));
  tell_names(path, !data.row_names.empty(), !data.column_names.empty(), data.matrix->rows(),
             data.matrix->cols());
  return data;
}

MatrixData read_shared_data(const std::string& path, const TextInput& text, int threads) {
  if (!rank_team()) return read_input_data(path, text, threads);
  const auto [data, blocks, dealt] = read_data(path, reading_of(text, threads), *rank_team());
  tell_names(path, !data.row_names.empty(), !data.column_names.empty(), data.matrix->rows(),
             data.matrix->cols());
  tell_of_ranks(path, data.matrix->threads(), blocks, dealt);
  return data;
}

Json describe_input(const MatrixData& data) {
  return {{"rows", data.matrix->rows()},
          {"columns", data.matrix->cols()},
          {"stored", data.stored},
          {"row_names", !data.row_names.empty()},
          {"column_names", !data.column_names.empty()}};
}

}  // namespace pursuit::app
