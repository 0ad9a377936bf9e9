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

#include "base/parallel.hpp"
#include "io/cell_scanner.hpp"
#include "io/defect.hpp"
#include "io/sparse_assembly.hpp"

namespace pursuit::io {

namespace {

constexpr std::string_view kBanner = "%%MatrixMarket";

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

CellScanner words_of(std::string_view text, const std::string& name, std::size_t lines_before) {
  return {text, Separator::kBlanks, CellScanner::Quotes::end_with_line, &name, lines_before};
}

enum class Field { kReal, kInteger, kPattern };
enum class Symmetry { kGeneral, kSymmetric, kSkewSymmetric };

/// The banner and the line of sizes.
class MarketHeader {
 public:
  bool sparse = true;
  Field field = Field::kReal;
  Symmetry symmetry = Symmetry::kGeneral;
  std::int64_t rows = 0, columns = 0, count = 0;  // entries that the file stores

  /// Of observed entries nothing can be left out.
  MarketHeader(TextLines& lines, bool observed) : lines_(lines), observed_(observed) {
    read_banner();
    do {
      if (!lines.next_filled(line_)) refuse(lines.name(), "the file ends before the line of sizes");
    } while (line_[line_.find_first_not_of(" \t")] == '%');
    read_sizes();
  }

  /// The row and column, from 1, of an entry of an array, which runs down the columns; of a symmetric matrix
  /// it stores the lower triangle only.
  std::pair<Index, Index> position(std::size_t entry) const {
    auto left = static_cast<Index>(entry);
    for (Index j = 0;; ++j) {
      const Index top = first_row(j);
      if (left < rows - top || j + 1 == columns) return {top + left + 1, j + 1};
      left -= rows - top;
    }
  }
  Index first_row(Index j) const {
    return symmetry == Symmetry::kGeneral ? 0 : symmetry == Symmetry::kSymmetric ? j : j + 1;
  }

 private:
  void read_banner() {
    lines_.next(line_);
    CellScanner words = words_of(line_, lines_.name(), lines_.number() - 1);
    words.seek_record();
    const auto next = [&] { return words.has_cell() ? std::string(words.next_cell().text) : std::string(); };
    const std::string banner = next(), object = next(), format = next(), type = next(), mirror = next();
    const auto pick = [&](const char* what, const std::string& word, const std::vector<std::string_view>& all,
                          std::size_t of_observed) {
      const std::size_t allowed = observed_ ? of_observed : all.size();
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(allowed);
      const auto found = std::find(all.begin(), end, lower_case(word));
      if (found == end)
        refuse(lines_.here(),
               fmt::format("{} {} is not supported{}; supported: {}", what, shown(word),
                           observed_ ? " for observed entries" : "", fmt::join(all.begin(), end, ", ")));
      return found - all.begin();
    };
    if (lower_case(banner) != lower_case(kBanner))
      refuse(lines_.here(), fmt::format("the file starts with {}, not with '{}'", shown(banner), kBanner));
    pick("object", object, {"matrix"}, 1);
    sparse = pick("format", format, {"coordinate", "array"}, 1) == 0;
    // SciPy writes "unsigned-integer", which the format's definition does not have.
    constexpr std::array kFields = {Field::kReal, Field::kInteger, Field::kInteger, Field::kPattern};
    field = kFields[pick("entry type", type, {"real", "integer", "unsigned-integer", "pattern"}, 3)];
    symmetry = static_cast<Symmetry>(pick("symmetry", mirror, {"general", "symmetric", "skew-symmetric"}, 1));
    if (!sparse && field == Field::kPattern)
      refuse(lines_.here(), "entry type 'pattern' is only allowed for format 'coordinate'");
    require_end(words);
  }

  void read_sizes() {
    const std::string where = lines_.here();
    CellScanner words = words_of(line_, lines_.name(), lines_.number() - 1);
    words.seek_record();
    rows = next_size(words, "rows");
    columns = next_size(words, "columns");
    if (sparse) {
      count = next_size(words, "entries");
      require_storable(where, rows, columns, count);
    } else {
      require_indexable(where, rows, columns);
    }
    if (symmetry != Symmetry::kGeneral && rows != columns)
      refuse(where, fmt::format("a symmetric matrix must be square, not {} x {}", rows, columns));
    if (!sparse) {  // both sizes fit int, so their product fits int64
      count = rows * columns;
      if (symmetry == Symmetry::kSymmetric) count = (count + rows) / 2;
      if (symmetry == Symmetry::kSkewSymmetric) count = (count - rows) / 2;
    }
    require_end(words);
    const std::size_t shortest = std::strlen(!sparse                    ? "1\n"
                                             : field == Field::kPattern ? "1 1\n"
                                                                        : "1 1 1\n");
    const auto rest = lines_.rest();
    // The newline of the last entry may be missing.
    if (rest && !observed_ && static_cast<std::uint64_t>(count) > (rest->size() + 1) / shortest)
      refuse(where, fmt::format("the header promises {} entries, more than the remaining {} bytes can hold",
                                count, rest->size()));
  }

  /// A number of the line of sizes. One too large for int64 saturates, to be refused for its size.
  std::int64_t next_size(CellScanner& words, const char* what) const {
    const std::string_view word = words.has_cell() ? words.next_cell().text : std::string_view();
    std::int64_t size = 0;
    const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (last != word.data() + word.size() || error == std::errc::invalid_argument)
      refuse(lines_.here(), fmt::format("the number of {} {} is not a whole number", what, shown(word)));
    if (error == std::errc::result_out_of_range)
      size = word.front() == '-' ? -1 : std::numeric_limits<std::int64_t>::max();
    return size;
  }

  void require_end(CellScanner& words) const {
    if (words.has_cell())
      refuse(lines_.here(),
             fmt::format("unexpected {} after the end of the entry", shown(words.next_cell().text)));
  }

  TextLines& lines_;
  bool observed_;
  std::string_view line_;
};

/// The entries of a piece of a file, one after the other.
class MarketEntries {
 public:
  MarketEntries(std::string_view piece, const Place& before, const MarketHeader& header,
                const std::string& name)
      : name_(name),
        header_(header),
        left_(header.count - static_cast<std::int64_t>(before.entries)),
        words_(words_of(piece, name, before.lines)) {}

  /// Moves to the next line that holds an entry; false at the end of the piece.
  bool next() {
    while (words_.seek_record()) {
      if (words_.next_character() == '%') {
        words_.skip_line();
        continue;
      }
      if (left_-- <= 0) [[unlikely]]
        refuse(here(), fmt::format("more entries than the {} that the header promises", header_.count));
      return true;
    }
    return false;
  }

  /// The entry of that line, if it is written as nearly all are; false leaves it to the other functions.
  bool plain(int& i, int& j, double& x) {
    return header_.field == Field::kReal && words_.next_plain_triplet(header_.rows, header_.columns, i, j, x);
  }

  int position(std::int64_t most, const char* what) {
    int index = 0;
    std::string word;
    if (words_.has_cell() && words_.next_whole(index)) {
      if (index >= 1 && index <= most) [[likely]]
        return index;
      word = std::to_string(index);
    } else if (words_.has_cell()) {
      word = words_.next_cell().text;
    }
    refuse(here(), fmt::format("{} {} is not a whole number from 1 to {}", what, shown(word), most));
  }

  template <class Scalar, class Position>
  Scalar value(const Position& position) {
    double number = 0;
    if (!words_.has_cell() || !words_.next_number(number)) [[unlikely]]
      refuse_value(position());
    if (header_.field == Field::kInteger && number != std::trunc(number)) [[unlikely]]
      refuse(here(), fmt::format("value {} at row {}, column {} is not an integer, as the header promises",
                                 number, position().first, position().second));
    if constexpr (std::is_same_v<Scalar, float>) {
      float rating = 0;
      if (!to_rating(number, rating)) refuse_rating(number, fmt::format("{}", number), here());
      return rating;
    } else {
      return number;
    }
  }

  void finish() {
    if (words_.has_cell()) [[unlikely]]
      refuse(here(), fmt::format("unexpected {} after the end of the entry", shown(words_.next_cell().text)));
  }

  std::size_t line() const { return words_.record_line(); }
  std::size_t lines_passed() const { return words_.lines_passed(); }
  std::string here() const { return at_line(name_, line()); }

 private:
  [[noreturn]] void refuse_value(const std::pair<Index, Index>& position) {
    const std::string place = fmt::format("at row {}, column {}", position.first, position.second);
    if (!words_.has_cell()) refuse(here(), fmt::format("the value {} is missing", place));
    refuse(here(), fmt::format("value {} {} is not a finite number", shown(words_.next_cell().text), place));
  }

  const std::string& name_;
  const MarketHeader& header_;
  std::int64_t left_;
  CellScanner words_;
};

/// Reads the entries of a coordinate file; join(parts, expected) takes them.
template <class Part, class Join>
void read_coordinates(TextLines& lines, const MarketHeader& header, int threads, const Join& join) {
  using Scalar = typename decltype(Part::value)::value_type;
  std::size_t read = 0;
  const auto parse = [&](std::string_view piece, const Place& before, Part& part) {
    MarketEntries entries(piece, before, header, lines.name());
    part.reserve(piece.size() / std::strlen("1 1\n") + 1);
    while (entries.next()) {
      int i = 0, j = 0;
      Scalar x = 1;
      if (double number = 0; std::is_same_v<Scalar, double> && entries.plain(i, j, number)) {
        x = static_cast<Scalar>(number);
      } else {
        i = entries.position(header.rows, "row");
        j = entries.position(header.columns, "column");
        if (header.field != Field::kPattern)
          x = entries.value<Scalar>([&] { return std::pair(Index{i}, Index{j}); });
      }
      if (i == j && header.symmetry == Symmetry::kSkewSymmetric)
        refuse(entries.here(),
               fmt::format("entry ({}, {}) is on the diagonal, which a skew-symmetric file must not store", i,
                           j));
      part.add(i - 1, j - 1, x, entries.line());
      entries.finish();
    }
    part.extent = {entries.lines_passed() - before.lines, part.value.size()};
  };
  lines.in_parts<Part>({.threads = threads, .most_entries = static_cast<std::size_t>(header.count)}, parse,
                       [&](std::vector<Part>& parts, std::size_t expected) {
                         for (const Part& part : parts) read += part.value.size();
                         join(parts, expected);
                       });
  if (read != static_cast<std::size_t>(header.count))
    refuse(lines.name(),
           fmt::format("the header promises {} entries, but the file ends after {}", header.count, read));
}

[[noreturn]] void refuse_market_duplicate(const std::string& name, const MarketHeader& header,
                                          const Entries<double>& entries, const EntryLines& lines,
                                          std::pair<int, int> position) {
  const bool mirrored = header.symmetry != Symmetry::kGeneral;
  std::vector<std::size_t> found;
  for (std::size_t k = 0; found.size() < 2; ++k) {
    const std::pair here(entries.row[k], entries.column[k]);
    if (here == position || (mirrored && here == std::pair(position.second, position.first)))
      found.push_back(k);
  }
  const int row = entries.row[found[1]] + 1, column = entries.column[found[1]] + 1;
  refuse(at_line(name, lines.of(found[1])),
         fmt::format("entry ({}, {}){} was already given on line {}", row, column,
                     mirrored && row != column ? " or its mirror image" : "", lines.of(found[0])));
}

StoredMatrix read_sparse(TextLines& lines, const MarketHeader& header, int threads) {
  Entries<double> entries;
  EntryLines entry_lines;
  const bool mirrored = header.symmetry != Symmetry::kGeneral;
  if (lines.rest()) entries.reserve(static_cast<std::size_t>(mirrored ? 2 * header.count : header.count));
  const int resolved = resolve_threads(threads);
  read_coordinates<EntriesPart<double>>(lines, header, threads, [&](const auto& parts, std::size_t) {
    for (const auto& part : parts) entry_lines.append(part.lines, part.before.entries, part.before.lines);
    append_all(
        entries.row, parts, [](const auto& part) -> auto& { return part.row; }, 0, resolved);
    append_all(
        entries.column, parts, [](const auto& part) -> auto& { return part.column; }, 0, resolved);
    append_all(
        entries.value, parts, [](const auto& part) -> auto& { return part.value; }, 0, resolved);
  });
  for (std::size_t k = 0; mirrored && k < static_cast<std::size_t>(header.count); ++k)
    if (const int i = entries.row[k], j = entries.column[k]; i != j)
      entries.add(j, i, header.symmetry == Symmetry::kSymmetric ? entries.value[k] : -entries.value[k]);
  require_storable(lines.name(), header.rows, header.columns,
                   static_cast<std::int64_t>(entries.value.size()));
  SparseMatrix matrix = assemble(header.rows, header.columns, entries, resolved);
  if (const auto twice = find_duplicate(matrix, resolved))
    refuse_market_duplicate(lines.name(), header, entries, entry_lines, *twice);
  return holding<StoredMatrix>(matrix);
}

DenseArray<double> read_array(TextLines& lines, const MarketHeader& header, int threads) {
  PlainVector<double> values;
  const int resolved = resolve_threads(threads);
  if (lines.rest()) values.reserve(static_cast<std::size_t>(header.count));
  const auto parse = [&](std::string_view piece, const Place& before, ValuesPart& part) {
    MarketEntries entries(piece, before, header, lines.name());
    part.values.reserve(piece.size() / std::strlen("1\n") + 1);
    while (entries.next()) {
      part.values.push_back(
          entries.value<double>([&] { return header.position(before.entries + part.values.size()); }));
      entries.finish();
    }
    part.extent = {entries.lines_passed() - before.lines, part.values.size()};
  };
  lines.in_parts<ValuesPart>({.threads = threads, .most_entries = static_cast<std::size_t>(header.count)},
                             parse, [&](const std::vector<ValuesPart>& parts, std::size_t) {
                               append_all(
                                   values, parts, [](const auto& part) -> auto& { return part.values; }, 0,
                                   resolved);
                             });
  if (values.size() != static_cast<std::size_t>(header.count))
    refuse(lines.name(), fmt::format("the header promises {} entries, but the file ends after {}",
                                     header.count, values.size()));
  if (header.symmetry == Symmetry::kGeneral)
    return dense_array(std::move(values), header.rows, header.columns, false);
  PlainVector<double> full(static_cast<std::size_t>(header.rows * header.columns), 0.0);
  std::size_t next = 0;
  for (Index j = 0; j < header.columns; ++j)
    for (Index i = header.first_row(j); i < header.rows; ++i) {
      const double value = values[next++];
      full[static_cast<std::size_t>(i + j * header.rows)] = value;
      full[static_cast<std::size_t>(j + i * header.rows)] =
          header.symmetry == Symmetry::kSymmetric ? value : -value;
    }
  return dense_array(std::move(full), header.rows, header.columns, false);
}

template <class Scalar>
void write_matrix_text(TextWriter& writer, const SparseMatrixOf<Scalar>& matrix) {
  writer.write(fmt::format("{} matrix coordinate real general\n{} {} {}\n", kBanner, matrix.rows(),
                           matrix.cols(), matrix.nonZeros()));
  writer.write_lines(matrix.rows(), 1 + 3 * matrix.nonZeros() / std::max<Index>(1, matrix.rows()),
                     [&](std::string& text, Index i) {
                       for (typename SparseMatrixOf<Scalar>::InnerIterator entry(matrix, i); entry; ++entry) {
                         append_number(text, entry.row() + 1);
                         text += ' ';
                         append_number(text, entry.col() + 1);
                         text += ' ';
                         append_number(text, entry.value());
                         text += '\n';
                       }
                     });
}

template <class Scalar>
void write_matrix_text(TextWriter& writer,
                       const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>& matrix) {
  writer.write(fmt::format("{} matrix array real general\n{} {}\n", kBanner, matrix.rows(), matrix.cols()));
  writer.write_lines(matrix.size(), 1, [&](std::string& text, Index k) {
    append_number(text, matrix.data()[k]);
    text += '\n';
  });
}

}  // namespace

void write_matrix_market(TextWriter& writer, const AnyMatrix& matrix) {
  std::visit([&](const auto& stored) { write_matrix_text(writer, stored); }, matrix);
}

bool looks_like_matrix_market(std::string_view text) {
  return text.starts_with("%%");
}

StoredMatrix read_matrix_market(TextLines& lines, int threads) {
  const MarketHeader header(lines, false);
  if (header.sparse) return read_sparse(lines, header, threads);
  return read_array(lines, header, threads);
}

void read_market_ratings(TextLines& lines, int threads, RatingsCollector& ratings) {
  const MarketHeader header(lines, true);
  read_coordinates<RatingsPart>(lines, header, threads, [&](const auto& parts, std::size_t expected) {
    ratings.append(parts, std::min(expected, static_cast<std::size_t>(header.count)));
  });
  ratings.name_positions(1, header.rows, header.columns);
}

}  // namespace pursuit::io
