#include "apps/input.hpp"

#include "apps/console.hpp"

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

NamedMatrix read_input(const std::string& path, const TextInput& text) {
  NamedMatrix matrix = read_matrix(path, {.header = text.header == "yes"  ? Header::yes
                                                    : text.header == "no" ? Header::no
                                                                          : Header::find});
  const bool columns = !matrix.column_names.empty(), rows = !matrix.row_names.empty();
  if (columns || rows)
    tell("pursuit: note: {}: {}{}{} taken for names; {} x {} numbers\n", path,
         columns ? "the first line" : "", columns && rows ? " and " : "", rows ? "the first column" : "",
         rows_of(matrix.matrix), cols_of(matrix.matrix));
  return matrix;
}

Matrix dense(AnyMatrix matrix) {
  if (auto* doubles = std::get_if<Matrix>(&matrix)) return std::move(*doubles);
  return std::visit([](const auto& m) { return Matrix(m.template cast<double>()); }, matrix);
}

Json describe_input(const NamedMatrix& matrix) {
  const Index stored = std::visit(
      [](const auto& m) {
        if constexpr (std::is_base_of_v<Eigen::SparseMatrixBase<std::decay_t<decltype(m)>>,
                                        std::decay_t<decltype(m)>>)
          return Index(m.nonZeros());
        else
          return Index(m.size());
      },
      matrix.matrix);
  return {{"rows", rows_of(matrix.matrix)},
          {"columns", cols_of(matrix.matrix)},
          {"stored", stored},
          {"row_names", !matrix.row_names.empty()},
          {"column_names", !matrix.column_names.empty()}};
}

}  // namespace pursuit::app
