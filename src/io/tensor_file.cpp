#include "pursuit/io/tensor_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/chunks.hpp"
#include "base/parallel.hpp"
#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "io/entries_part.hpp"
#include "io/npy.hpp"
#include "io/npy_header.hpp"
#include "io/npz_entries.hpp"
#include "io/tensor_archive.hpp"
#include "io/tensor_table.hpp"
#include "io/text_lines.hpp"
#include "io/zip_bytes.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

namespace io {
namespace {

using Shape = std::vector<Index>;

bool is_named_tns(const std::filesystem::path& path) {
  const std::string file = path.filename().string();
  return file.ends_with(".tns") || file.ends_with(".tns.gz");
}

void require_modes(std::size_t modes, const std::string& where) {
  if (modes < 2 || modes > std::size_t(kMostModes))
    refuse(where, fmt::format("an array of {} modes; allowed are 2 to {}", modes, kMostModes));
}

/// Entries of an array must be countable, and vectors along its modes must not dwarf what it lists.
void require_sizes(const Shape& shape, std::size_t listed, const std::string& where) {
  constexpr double kLargestMode = std::numeric_limits<int>::max();
  const double sum = double(std::accumulate(shape.begin(), shape.end(), Index(0)));
  for (std::size_t m = 0; m < shape.size(); ++m) {
    if (shape[m] < 1) refuse(where, fmt::format("mode {} has size {}; at least 1 is needed", m, shape[m]));
    if (double(shape[m]) > kLargestMode)
      refuse(where,
             fmt::format("mode {} has size {}; at most {:.0f} are supported", m, shape[m], kLargestMode));
  }
  if (sum > 1e6 && sum > 1000.0 * double(listed))
    refuse(where,
           fmt::format("sizes of {:.0f} in all for {} entries: this is no array of data", sum, listed));
}

[[noreturn]] void refuse_value(const std::string& name, const Shape& shape, Index place, double value) {
  Shape at(shape.size());
  for (std::size_t m = shape.size(); m-- > 0; place /= shape[m]) at[m] = place % shape[m];
  refuse(name, fmt::format("the entry at {} (counted from 0) is {}, not a finite number{}", shape_text(at),
                           value, std::isnan(value) ? "; 'complete' takes it as unknown" : ""));
}

/// Refers to the numbers, and owns them.
template <class Scalar>
TensorData dense_data(const Scalar* values, std::shared_ptr<const void> owner, const Shape& shape,
                      const std::string& name, int threads) {
  const Index split = balanced_split(shape);
  Index rows = 1, columns = 1;
  for (Index m = 0; m < Index(shape.size()); ++m) (m < split ? rows : columns) *= shape[std::size_t(m)];
  const Index count = rows * columns;
  const Chunks chunks(count, 1 << 16, 4096);
  std::vector<Index> bad(std::size_t(chunks.count()), count);  // the first of each that is not finite
  parallel_for(chunks.count(), threads, [&](Index c) {
    const Scalar *first = values + chunks.first(c), *last = first + chunks.length(c);
    const Scalar* found = std::find_if(first, last, [](Scalar x) { return !std::isfinite(x); });
    if (found != last) bad[std::size_t(c)] = found - values;
  });
  if (const Index place = *std::min_element(bad.begin(), bad.end()); place < count)
    refuse_value(name, shape, place, double(values[place]));
  const DataMatrixPtr matrix = data_matrix(DenseView<Scalar>{values, rows, columns, columns, true}, threads);
  const DataMatrixPtr owned(matrix.get(), [matrix, owner = std::move(owner)](const DataMatrix*) {});
  return {dense_tensor(owned, shape), shape, count};
}

TensorData parse_array(const Bytes& bytes, const std::string& name, int threads) {
  const NpyHeader header = parse_npy_header(bytes.view, name);
  require_modes(header.shape.size(), name);
  if (header.kind == 'U' || header.kind == 'S') refuse(name, "the array holds text, not numbers");
  require_sizes(header.shape, std::size_t(header.count), name);
  const auto in_place = [&]<class Scalar>(Scalar) {
    const char* data = header.data.data();
    return header.kind == 'f' && header.size == sizeof(Scalar) && !header.swapped && !header.fortran_order &&
           bytes.owner && reinterpret_cast<std::uintptr_t>(data) % alignof(Scalar) == 0;
  };
  if (in_place(double()))
    return dense_data(reinterpret_cast<const double*>(header.data.data()), bytes.owner, header.shape, name,
                      threads);
  if (in_place(float()))
    return dense_data(reinterpret_cast<const float*>(header.data.data()), bytes.owner, header.shape, name,
                      threads);
  NpyArray array = parse_npy(bytes.view, name, threads);
  return std::visit(
      [&](auto& values) -> TensorData {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_floating_point_v<Value>) {
          const auto owner = std::make_shared<std::vector<Value>>(std::move(values));
          return dense_data(owner->data(), owner, array.shape, name, threads);
        } else if constexpr (std::is_integral_v<Value>) {
          const auto owner = std::make_shared<std::vector<double>>(values.begin(), values.end());
          return dense_data(owner->data(), owner, array.shape, name, threads);
        } else {
          refuse(name, "the array holds text, not numbers");
        }
      },
      array.values);
}

TensorData sparse_data(TensorEntries listed, const std::string& name, int threads) {
  const SparseTensor& entries = listed.entries;
  require_sizes(entries.shape, entries.value.size(), name);
  try {
    return {sparse_tensor(entries, threads), entries.shape, Index(entries.value.size()),
            std::move(listed.names), std::move(listed.labels)};
  } catch (const InvalidInput& defect) {
    refuse(name, defect.what());
  }
}

/// The numbers of an array as another type.
template <class Number>
std::vector<Number> numbers(const NpyArray& array, const std::string& where) {
  return std::visit(
      [&](const auto& values) -> std::vector<Number> {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<Value, std::string>)
          refuse(where, "the array holds text, not numbers");
        else
          return std::vector<Number>(values.begin(), values.end());
      },
      array.values);
}

TensorEntries parse_coordinates(const NpzEntries& entries, const std::string& name, int threads) {
  const auto array = [&](const char* key) {
    return parse_npy(entries.at(key).view, at_array(name, key), threads);
  };
  SparseTensor tensor;
  tensor.shape = numbers<Index>(array("shape"), at_array(name, "shape"));
  require_modes(tensor.shape.size(), name);
  tensor.value = numbers<double>(array("data"), at_array(name, "data"));
  require_sizes(tensor.shape, tensor.value.size(), name);
  if (entries.contains("fill_value"))
    for (const double fill : numbers<double>(array("fill_value"), at_array(name, "fill_value")))
      if (fill != 0)
        refuse(name, fmt::format("places that are not listed are {}; only 0 is supported", fill));
  const NpyArray coordinates = array("coords");
  const std::vector<Index> list = numbers<Index>(coordinates, at_array(name, "coords"));
  if (coordinates.shape != Shape{Index(tensor.shape.size()), Index(tensor.value.size())})
    refuse(at_array(name, "coords"),
           fmt::format("shape {} for {} modes and {} values", shape_text(coordinates.shape),
                       tensor.shape.size(), tensor.value.size()));
  for (std::size_t m = 0; m < tensor.shape.size(); ++m) {
    std::vector<int>& own = tensor.index.emplace_back();
    own.reserve(tensor.value.size());
    for (std::size_t e = 0; e < tensor.value.size(); ++e) {
      const Index i = list[m * tensor.value.size() + e];
      if (i < 0 || i >= tensor.shape[m])
        refuse(at_array(name, "coords"), fmt::format("entry {}: index {} of mode {} lies outside 0..{}",
                                                     e + 1, i, m, tensor.shape[m] - 1));
      own.push_back(int(i));
    }
  }
  ModeNames names = names_in(entries, tensor.shape, name);
  return {std::move(tensor), std::move(names)};
}

TensorData parse_archive(const Bytes& bytes, const std::string& name, int threads) {
  const NpzEntries entries = unpack_npz(bytes, name, threads);
  if (lists_coordinates(entries))
    return sparse_data(parse_coordinates(entries, name, threads), name, threads);
  const auto& [array, content] = only_array(entries, name);
  TensorData data = parse_array(content, at_array(name, array), threads);
  data.names = names_in(entries, data.shape, name);
  return data;
}

/// Entries of a piece of .tns text: their indices one after the other.
struct CoordinatesPart {
  PlainVector<int> index;
  PlainVector<double> value;
  EntryLines lines;
  Place before, extent;
};

/// Moves to the next line that is no remark.
bool seek_entry(CellScanner& words) {
  while (words.seek_record()) {
    if (words.next_character() != '#') return true;
    words.skip_line();
  }
  return false;
}

CellScanner words_of_entries(std::string_view text, const std::string& name, std::size_t lines_before) {
  return {text, Separator::kBlanks, CellScanner::Quotes::end_with_line, &name, lines_before};
}

std::size_t modes_of_text(TextLines& lines) {
  std::string_view line;
  while (lines.next_filled(line)) {
    CellScanner words = words_of_entries(line, lines.name(), lines.number() - 1);
    if (!seek_entry(words)) continue;
    const std::size_t cells = words.remaining_cells().size();
    if (cells < 3 || cells > std::size_t(kMostModes) + 1)
      refuse(lines.here(),
             fmt::format("{} numbers; an entry has 2 to {} indices and a value", cells, kMostModes));
    lines.step_back();
    return cells - 1;
  }
  refuse(lines.name(), "the file lists no entry");
}

TensorEntries read_coordinates_text(ByteSource& source, int threads) {
  TextLines lines(source);
  const std::size_t modes = modes_of_text(lines);
  SparseTensor tensor;
  tensor.shape.assign(modes, 0);
  tensor.index.resize(modes);
  EntryLines entry_lines;
  const auto parse = [&](std::string_view piece, const Place& before, CoordinatesPart& part) {
    CellScanner words = words_of_entries(piece, lines.name(), before.lines);
    const auto here = [&] { return at_line(lines.name(), words.record_line()); };
    const auto refuse_index = [&](const std::string& index, std::size_t mode) {
      refuse(here(), fmt::format("index {} of mode {} is not a whole number from 1 to {}", index, mode,
                                 std::numeric_limits<int>::max()));
    };
    while (seek_entry(words)) {
      part.lines.note(part.value.size(), words.record_line());
      for (std::size_t m = 0; m < modes; ++m) {
        int i = 0;
        if (!words.has_cell())
          refuse(here(), fmt::format("{} numbers; an entry here has {} indices and a value", m, modes));
        if (!words.next_whole(i)) refuse_index(shown(words.next_cell().text), m);
        if (i < 1) refuse_index(fmt::format("'{}'", i), m);
        part.index.push_back(i - 1);
      }
      double value = 0;
      if (!words.has_cell()) refuse(here(), "the value is missing");
      if (!words.next_number(value))
        refuse(here(), fmt::format("value {} is not a finite number", shown(words.next_cell().text)));
      part.value.push_back(value);
      if (words.has_cell())
        refuse(here(),
               fmt::format("unexpected {} after the end of the entry", shown(words.next_cell().text)));
    }
    part.extent = {words.lines_passed() - before.lines, part.value.size()};
  };
  lines.in_parts<CoordinatesPart>(
      {.threads = threads}, parse, [&](const std::vector<CoordinatesPart>& parts, std::size_t) {
        for (const CoordinatesPart& part : parts) {
          entry_lines.append(part.lines, part.before.entries, part.before.lines);
          for (std::size_t e = 0; e < part.value.size(); ++e)
            for (std::size_t m = 0; m < modes; ++m) {
              const int i = part.index[e * modes + m];
              tensor.index[m].push_back(i);
              tensor.shape[m] = std::max(tensor.shape[m], Index(i) + 1);
            }
          tensor.value.insert(tensor.value.end(), part.value.begin(), part.value.end());
        }
      });
  require_sizes(tensor.shape, tensor.value.size(), lines.name());
  if (const auto twice = find_same_place(tensor))
    refuse(at_line(lines.name(), entry_lines.of(twice->second)),
           fmt::format("this place was already given on line {}", entry_lines.of(twice->first)));
  return {std::move(tensor)};
}

/// The text of a file that lists entries.
TensorEntries read_text_entries(ByteSource& source, int threads) {
  return is_tensor_table(source.head()) && !is_named_tns(source.name())
             ? read_tensor_table(source, threads)
             : read_coordinates_text(source, threads);
}

}  // namespace
}  // namespace io

bool is_tensor_file(const std::filesystem::path& path) {
  if (io::is_named_tns(path)) return true;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;  // a pipe is read once
  try {
    io::ByteSource source(path);
    const std::string_view head = source.head();
    if (io::is_npy(head)) return io::parse_npy_header(source.take_all().view, path.string()).shape.size() > 2;
    if (!io::is_zip(head)) return false;
    const io::Bytes archive = source.take_all();
    // The names of all arrays are at its end: those of a sparse matrix need not be unpacked to be known.
    constexpr std::size_t kNames = 1 << 16;
    const std::string_view end =
        archive.view.substr(archive.view.size() - std::min(kNames, archive.view.size()));
    if (end.find("indptr.npy") != std::string_view::npos) return false;
    const io::NpzEntries entries = io::unpack_npz(archive, path.string());
    if (io::lists_coordinates(entries)) return true;
    return io::parse_npy_header(io::only_array(entries, path.string()).second.view, path.string())
               .shape.size() > 2;
  } catch (const InvalidInput&) {
    return false;  // whoever reads it says why
  }
}

TensorData read_tensor(const std::filesystem::path& path, int threads) {
  threads = resolve_threads(threads);
  return io::within_memory(path, [&] {
    io::ByteSource source(path);
    const std::string_view head = source.head();
    if (io::is_npy(head)) return io::parse_array(source.take_all(), source.name(), threads);
    if (io::is_zip(head)) return io::parse_archive(source.take_all(), source.name(), threads);
    return io::sparse_data(io::read_text_entries(source, threads), source.name(), threads);
  });
}

}  // namespace pursuit
