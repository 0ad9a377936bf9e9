#include "io/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "io/cell_scanner.hpp"
#include "io/defect.hpp"

namespace pursuit::io {

namespace {

/// The entries of a piece of a file, one after the other.
class MarketEntries {
 public:
  MarketEntries(std::string_view piece, const Place& before, const MarketHeader& header,
                const std::string& name)
      : name_(name),
        header_(header),
        left_(header.count - static_cast<std::int64_t>(before.entries)),
        words_(market_words(piece, name, before.lines)) {}

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
    return header_.field == MarketField::kReal &&
           words_.next_plain_triplet(header_.rows, header_.columns, i, j, x);
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
    if (header_.field == MarketField::kInteger && number != std::trunc(number)) [[unlikely]]
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

/// Reads the entries of a coordinate file, or of a part of one that has so many before it; join(parts,
/// expected) takes them.
template <class Part, class Join>
void read_coordinates(TextLines& lines, const MarketHeader& header, int threads, std::size_t entries_before,
                      const Join& join) {
  using Scalar = typename decltype(Part::value)::value_type;
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
        if (header.field != MarketField::kPattern)
          x = entries.value<Scalar>([&] { return std::pair(Index{i}, Index{j}); });
      }
      if (i == j && header.symmetry == MarketSymmetry::kSkewSymmetric)
        refuse(entries.here(),
               fmt::format("entry ({}, {}) is on the diagonal, which a skew-symmetric file must not store", i,
                           j));
      part.add(i - 1, j - 1, x, entries.line());
      entries.finish();
    }
    part.extent = {entries.lines_passed() - before.lines, part.value.size()};
  };
  lines.in_parts<Part>({.threads = threads,
                        .most_entries = static_cast<std::size_t>(header.count),
                        .entries_before = entries_before},
                       parse, join);
}

StoredMatrix read_sparse(TextLines& lines, const MarketHeader& header, int threads) {
  MarketPart part;
  if (lines.rest())
    part.entries.reserve(static_cast<std::size_t>(header.mirrored() ? 2 * header.count : header.count));
  read_market_part(lines, header, threads, part);
  require_promised(lines.name(), header, part.entries.value.size());
  add_mirror_images(header, part.entries);
  require_storable(lines.name(), header.rows, header.columns,
                   static_cast<std::int64_t>(part.entries.value.size()));
  const int resolved = resolve_threads(threads);
  SparseMatrix matrix = assemble(header.rows, header.columns, part.entries, resolved);
  if (const auto twice = find_duplicate(matrix, resolved)) {
    const std::vector<GivenEntry> given = entries_given_for(*twice, header, part);
    refuse_market_duplicate(lines.name(), header, given[0], given[1]);
  }
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
  require_promised(lines.name(), header, values.size());
  if (header.symmetry == MarketSymmetry::kGeneral)
    return dense_array(std::move(values), header.rows, header.columns, false);
  PlainVector<double> full(static_cast<std::size_t>(header.rows * header.columns), 0.0);
  std::size_t next = 0;
  for (Index j = 0; j < header.columns; ++j)
    for (Index i = header.first_row(j); i < header.rows; ++i) {
      const double value = values[next++];
      full[static_cast<std::size_t>(i + j * header.rows)] = value;
      full[static_cast<std::size_t>(j + i * header.rows)] =
          header.symmetry == MarketSymmetry::kSymmetric ? value : -value;
    }
  return dense_array(std::move(full), header.rows, header.columns, false);
}

template <class Scalar>
void write_matrix_text(TextWriter& writer, const SparseMatrixOf<Scalar>& matrix) {
  writer.write(fmt::format("{} matrix coordinate real general\n{} {} {}\n", kMarketBanner, matrix.rows(),
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
  writer.write(
      fmt::format("{} matrix array real general\n{} {}\n", kMarketBanner, matrix.rows(), matrix.cols()));
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

void read_market_part(TextLines& lines, const MarketHeader& header, int threads, MarketPart& all,
                      std::size_t entries_before) {
  const int resolved = resolve_threads(threads);
  read_coordinates<EntriesPart<double>>(
      lines, header, threads, entries_before, [&](const auto& parts, std::size_t expected) {
        Entries<double>& entries = all.entries;
        for (const auto& part : parts)
          all.lines.append(part.lines, part.before.entries - entries_before, part.before.lines);
        append_all(
            entries.row, parts, [](const auto& part) -> auto& { return part.row; }, expected, resolved);
        append_all(
            entries.column, parts, [](const auto& part) -> auto& { return part.column; }, expected, resolved);
        append_all(
            entries.value, parts, [](const auto& part) -> auto& { return part.value; }, expected, resolved);
      });
}

void require_promised(const std::string& name, const MarketHeader& header, std::size_t read) {
  if (read != static_cast<std::size_t>(header.count))
    refuse(name,
           fmt::format("the header promises {} entries, but the file ends after {}", header.count, read));
}

void add_mirror_images(const MarketHeader& header, Entries<double>& entries) {
  if (!header.mirrored()) return;
  const std::size_t count = entries.value.size();
  entries.reserve(2 * count);
  for (std::size_t k = 0; k < count; ++k)
    if (const int i = entries.row[k], j = entries.column[k]; i != j)
      entries.add(j, i, header.symmetry == MarketSymmetry::kSymmetric ? entries.value[k] : -entries.value[k]);
}

std::vector<GivenEntry> entries_given_for(std::pair<int, int> position, const MarketHeader& header,
                                          const MarketPart& part) {
  const Entries<double>& entries = part.entries;
  std::vector<GivenEntry> found;
  for (std::size_t k = 0; found.size() < 2 && k < entries.value.size(); ++k) {
    const std::pair here(entries.row[k], entries.column[k]);
    if (here == position || (header.mirrored() && here == std::pair(position.second, position.first)))
      found.push_back({here.first + 1, here.second + 1, part.lines.of(k)});
  }
  return found;
}

void refuse_market_duplicate(const std::string& name, const MarketHeader& header, const GivenEntry& first,
                             const GivenEntry& second) {
  refuse(at_line(name, second.line),
         fmt::format("entry ({}, {}){} was already given on line {}", second.row, second.column,
                     header.mirrored() && second.row != second.column ? " or its mirror image" : "",
                     first.line));
}

StoredMatrix read_matrix_market(TextLines& lines, int threads) {
  const MarketHeader header = read_market_header(lines, false);
  if (header.sparse) return read_sparse(lines, header, threads);
  return read_array(lines, header, threads);
}

void read_market_ratings(TextLines& lines, int threads, RatingsCollector& ratings) {
  const MarketHeader header = read_market_header(lines, true);
  std::size_t read = 0;
  read_coordinates<RatingsPart>(lines, header, threads, 0, [&](const auto& parts, std::size_t expected) {
    for (const RatingsPart& part : parts) read += part.value.size();
    ratings.append(parts, std::min(expected, static_cast<std::size_t>(header.count)));
  });
  require_promised(lines.name(), header, read);
  ratings.name_positions(1, header.rows, header.columns);
}

}  // namespace pursuit::io
