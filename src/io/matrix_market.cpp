#include "io/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/defect.hpp"
#include "io/line_scanner.hpp"
#include "io/number_text.hpp"
#include "io/sparse_assembly.hpp"

namespace pursuit::io {

namespace {

constexpr std::string_view kBanner = "%%MatrixMarket";

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

enum class Field { kReal, kInteger, kPattern };
enum class Symmetry { kGeneral, kSymmetric, kSkewSymmetric };

struct Banner {
  bool sparse = true;
  Field field = Field::kReal;
  Symmetry symmetry = Symmetry::kGeneral;
};

class MatrixMarketReader {
 public:
  MatrixMarketReader(std::string_view text, const std::string& name) : name_(name), scan_(text, name) {}

  AnyMatrix read() {
    read_banner();
    if (!scan_.seek_data_line()) refuse(name_, "the file ends before the line of sizes");
    return banner_.sparse ? AnyMatrix(read_coordinate()) : AnyMatrix(read_array());
  }

 private:
  struct Entry {
    int row = 0, column = 0;  // from 1, as in the file
    double value = 1;
  };

  void read_banner() {
    const std::string where = scan_.here();
    const std::string banner(scan_.next_word()), object(scan_.next_word()), format(scan_.next_word()),
        field(scan_.next_word()), symmetry(scan_.next_word());
    const auto pick = [&](const char* what, const std::string& word, auto... choices) {
      const std::string lower = lower_case(word);
      const std::array<std::string_view, sizeof...(choices)> allowed{choices...};
      const auto found = std::find(allowed.begin(), allowed.end(), lower);
      if (found == allowed.end()) {
        refuse(where, fmt::format("{} {} is not supported; supported: {}", what, shown(word),
                                  fmt::join(allowed, ", ")));
      }
      return found - allowed.begin();
    };
    if (lower_case(banner) != lower_case(kBanner)) {
      refuse(where, fmt::format("the file starts with {}, not with '{}'", shown(banner), kBanner));
    }
    pick("object", object, "matrix");
    banner_.sparse = pick("format", format, "coordinate", "array") == 0;
    // SciPy writes "unsigned-integer", which the format's definition does not have.
    constexpr std::array kFields = {Field::kReal, Field::kInteger, Field::kInteger, Field::kPattern};
    banner_.field = kFields[pick("entry type", field, "real", "integer", "unsigned-integer", "pattern")];
    banner_.symmetry =
        static_cast<Symmetry>(pick("symmetry", symmetry, "general", "symmetric", "skew-symmetric"));
    if (!banner_.sparse && banner_.field == Field::kPattern) {
      refuse(where, "entry type 'pattern' is only allowed for format 'coordinate'");
    }
    scan_.finish_line();
  }

  /// A number of the line of sizes. One too large for int64 saturates, to be refused for its size.
  std::int64_t next_size(const char* what) {
    const std::string_view word = scan_.next_word();
    std::int64_t size = 0;
    const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (last != word.data() + word.size() || error == std::errc::invalid_argument) {
      refuse(scan_.here(), fmt::format("the number of {} {} is not a whole number", what, shown(word)));
    }
    if (error == std::errc::result_out_of_range) {
      size = word.front() == '-' ? -1 : std::numeric_limits<std::int64_t>::max();
    }
    return size;
  }

  void require_square(std::int64_t rows, std::int64_t columns) const {
    if (banner_.symmetry != Symmetry::kGeneral && rows != columns) {
      refuse(scan_.here(), fmt::format("a symmetric matrix must be square, not {} x {}", rows, columns));
    }
  }

  /// Ends the line of sizes, unless it promises more entries than can follow.
  void finish_sizes(std::int64_t entries, std::size_t bytes_each) {
    const std::string where = scan_.here();
    scan_.finish_line();
    // The newline of the last entry may be missing.
    if (static_cast<std::uint64_t>(entries) > (scan_.bytes_left() + 1) / bytes_each) {
      refuse(where, fmt::format("the header promises {} entries, more than the remaining {} bytes can hold",
                                entries, scan_.bytes_left()));
    }
  }

  bool has_values() const { return banner_.field != Field::kPattern; }

  double next_value(Index row, Index column) {
    const double value = scan_.next_value(row, column);
    if (banner_.field == Field::kInteger && value != std::trunc(value)) [[unlikely]] {
      refuse(scan_.here(),
             fmt::format("value {} at row {}, column {} is not an integer, as the header promises", value,
                         row, column));
    }
    return value;
  }

  Entry next_entry(int rows, int columns) {
    Entry entry;
    entry.row = scan_.next_index(rows, "row");
    entry.column = scan_.next_index(columns, "column");
    if (has_values()) entry.value = next_value(entry.row, entry.column);
    return entry;
  }

  SparseMatrix read_coordinate() {
    const std::int64_t rows = next_size("rows"), columns = next_size("columns"), count = next_size("entries");
    require_storable(scan_.here(), rows, columns, count);
    require_square(rows, columns);
    finish_sizes(count, has_values() ? std::strlen("1 1 1\n") : std::strlen("1 1\n"));
    const LineScanner first_entry = scan_;

    const bool mirrored = banner_.symmetry != Symmetry::kGeneral;
    Entries<double> entries;
    entries.reserve(static_cast<std::size_t>(mirrored ? 2 * count : count));
    for (std::int64_t k = 0; k < count; ++k) {
      if (!scan_.seek_data_line()) refuse_missing(k, count);
      const Entry entry = next_entry(static_cast<int>(rows), static_cast<int>(columns));
      const int i = entry.row - 1, j = entry.column - 1;
      if (i == j && banner_.symmetry == Symmetry::kSkewSymmetric) {
        refuse(scan_.here(),
               fmt::format("entry ({}, {}) is on the diagonal, which a skew-symmetric file must not store",
                           entry.row, entry.column));
      }
      entries.add(i, j, entry.value);
      if (mirrored && i != j) {
        entries.add(j, i, banner_.symmetry == Symmetry::kSymmetric ? entry.value : -entry.value);
      }
      scan_.finish_line();
    }
    if (scan_.seek_data_line()) refuse_extra(count);
    require_storable(name_, rows, columns, static_cast<std::int64_t>(entries.value.size()));
    SparseMatrix matrix = assemble(rows, columns, entries);
    if (const auto twice = find_duplicate(matrix)) {
      refuse_duplicate(first_entry, {twice->first + 1, twice->second + 1}, rows, columns);
    }
    return matrix;
  }

  Matrix read_array() {
    const std::int64_t rows = next_size("rows"), columns = next_size("columns");
    require_indexable(scan_.here(), rows, columns);
    require_square(rows, columns);
    // The file runs down the columns; of a symmetric matrix it stores the lower triangle only. Both sizes fit
    // int, so their product fits int64.
    std::int64_t count = rows * columns;
    if (banner_.symmetry == Symmetry::kSymmetric) count = (count + rows) / 2;
    if (banner_.symmetry == Symmetry::kSkewSymmetric) count = (count - rows) / 2;
    finish_sizes(count, std::strlen("1\n"));

    Matrix matrix = Matrix::Zero(rows, columns);
    std::int64_t read = 0;
    for (Index j = 0; j < columns; ++j) {
      const Index first = banner_.symmetry == Symmetry::kGeneral     ? 0
                          : banner_.symmetry == Symmetry::kSymmetric ? j
                                                                     : j + 1;
      for (Index i = first; i < rows; ++i, ++read) {
        if (!scan_.seek_data_line()) refuse_missing(read, count);
        const double value = next_value(i + 1, j + 1);
        matrix(i, j) = value;
        if (banner_.symmetry == Symmetry::kSymmetric) matrix(j, i) = value;
        if (banner_.symmetry == Symmetry::kSkewSymmetric) matrix(j, i) = -value;
        scan_.finish_line();
      }
    }
    if (scan_.seek_data_line()) refuse_extra(count);
    return matrix;
  }

  [[noreturn]] void refuse_missing(std::int64_t read, std::int64_t promised) const {
    refuse(name_, fmt::format("the header promises {} entries, but the file ends after {}", promised, read));
  }

  [[noreturn]] void refuse_extra(std::int64_t promised) const {
    refuse(scan_.here(), fmt::format("more entries than the {} that the header promises", promised));
  }

  /// Entries do not remember their lines, so the two lines are looked up in the text once they matter.
  [[noreturn]] void refuse_duplicate(const LineScanner& first_entry, std::pair<int, int> position,
                                     std::int64_t rows, std::int64_t columns) {
    const std::pair mirror(position.second, position.first);
    std::vector<std::size_t> lines;
    std::pair<int, int> last;
    scan_ = first_entry;
    while (lines.size() < 2 && scan_.seek_data_line()) {
      const Entry entry = next_entry(static_cast<int>(rows), static_cast<int>(columns));
      const std::pair here(entry.row, entry.column);
      if (here == position || (banner_.symmetry != Symmetry::kGeneral && here == mirror)) {
        lines.push_back(scan_.line());
        last = here;
      }
      scan_.finish_line();
    }
    const bool is_mirror = banner_.symmetry != Symmetry::kGeneral && last.first != last.second;
    refuse(at_line(name_, lines.back()),
           fmt::format("entry ({}, {}){} was already given on line {}", last.first, last.second,
                       is_mirror ? " or its mirror image" : "", lines.front()));
  }

  const std::string& name_;
  LineScanner scan_;
  Banner banner_;
};

template <class Scalar>
std::string format_sparse(const SparseMatrixOf<Scalar>& matrix) {
  std::string text = fmt::format("{} matrix coordinate real general\n{} {} {}\n", kBanner, matrix.rows(),
                                 matrix.cols(), matrix.nonZeros());
  for (Index i = 0; i < matrix.outerSize(); ++i) {
    for (typename SparseMatrixOf<Scalar>::InnerIterator entry(matrix, i); entry; ++entry) {
      append_number(text, entry.row() + 1);
      text += ' ';
      append_number(text, entry.col() + 1);
      text += ' ';
      append_number(text, entry.value());
      text += '\n';
    }
  }
  return text;
}

template <class Dense>
std::string format_dense(const Dense& matrix) {
  std::string text =
      fmt::format("{} matrix array real general\n{} {}\n", kBanner, matrix.rows(), matrix.cols());
  for (Index k = 0; k < matrix.size(); ++k) {
    append_number(text, matrix.data()[k]);
    text += '\n';
  }
  return text;
}

}  // namespace

bool looks_like_matrix_market(std::string_view text) {
  return text.starts_with("%%");
}

AnyMatrix parse_matrix_market(std::string_view text, const std::string& name) {
  return MatrixMarketReader(text, name).read();
}

std::string format_matrix_market(const AnyMatrix& matrix) {
  return std::visit(
      [](const auto& stored) {
        using Stored = std::decay_t<decltype(stored)>;
        if constexpr (std::is_base_of_v<Eigen::SparseMatrixBase<Stored>, Stored>) {
          return format_sparse(stored);
        } else {
          return format_dense(stored);
        }
      },
      matrix);
}

}  // namespace pursuit::io
