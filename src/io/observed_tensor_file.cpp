#include "pursuit/io/observed_tensor_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/parallel.hpp"
#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "io/npy.hpp"
#include "io/npy_header.hpp"
#include "io/npz_entries.hpp"
#include "io/tensor_archive.hpp"
#include "io/zip_bytes.hpp"
#include "objective/listed_tensor.hpp"
#include "pursuit/io/tensor_file.hpp"
#include "pursuit/io/tensor_names.hpp"

namespace pursuit {
namespace io {
namespace {

struct FullArray {
  NpyArray array;
  ModeNames names = {};
};

/// The one array of a file, or nothing where it lists entries.
std::optional<FullArray> full_array(const std::filesystem::path& path, int threads) {
  ByteSource source(path);
  const std::string_view head = source.head();
  if (is_npy(head)) return FullArray{parse_npy(source.take_all().view, source.name(), threads)};
  if (!is_zip(head)) return std::nullopt;
  const Bytes archive = source.take_all();
  const NpzEntries entries = unpack_npz(archive, source.name(), threads);
  if (lists_coordinates(entries)) return std::nullopt;
  const auto& [name, content] = only_array(entries, source.name());
  FullArray result{parse_npy(content.view, at_array(source.name(), name), threads)};
  result.names = names_in(entries, result.array.shape, source.name());
  return result;
}

void require_shape(const std::vector<Index>& shape, const std::string& name) {
  if (shape.size() < 2 || shape.size() > std::size_t(kMostModes))
    refuse(name, fmt::format("an array of {} modes; allowed are 2 to {}", shape.size(), kMostModes));
  for (std::size_t m = 0; m < shape.size(); ++m)
    if (shape[m] < 1 || shape[m] > std::numeric_limits<int>::max())
      refuse(name, fmt::format("mode {} has size {}; allowed are 1 to {}", m, shape[m],
                               std::numeric_limits<int>::max()));
}

/// Calls visit(place, value) for every number of an array, the last index running fastest.
void for_numbers(const NpyArray& array, const std::string& name,
                 const std::function<void(const std::vector<int>&, double)>& visit) {
  std::visit(
      [&](const auto& values) {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<Value, std::string>) {
          refuse(name, "the array holds text, not numbers");
        } else {
          std::vector<int> at(array.shape.size(), 0);
          for (const Value& value : values) {
            visit(at, double(value));
            for (std::size_t m = at.size(); m-- > 0;) {
              if (++at[m] < int(array.shape[m])) break;
              at[m] = 0;
            }
          }
        }
      },
      array.values);
}

ObservedTensor known_entries(const NpyArray& array, Others others, const std::string& name) {
  require_shape(array.shape, name);
  ObservedTensor data{
      {array.shape, std::vector<std::vector<int>>(array.shape.size()), {}}, {}, others == Others::zero};
  for_numbers(array, name, [&](const std::vector<int>& at, double value) {
    if (std::isnan(value) && others == Others::unknown) return;
    if (!std::isfinite(value))
      refuse(name, fmt::format("the entry at {} (counted from 0) is {}, not a finite number{}",
                               shape_text({at.begin(), at.end()}), value,
                               std::isnan(value) ? "; 'complete' takes it as unknown" : ""));
    if (value == 0 && others == Others::zero) return;
    for (std::size_t m = 0; m < at.size(); ++m) data.entries.index[m].push_back(at[m]);
    data.entries.value.push_back(value);
  });
  if (data.size() == 0 && others == Others::unknown) refuse(name, "no entry is known: all are NaN");
  return data;
}

}  // namespace
}  // namespace io

NamedObservedTensor read_named_observed_tensor(const std::filesystem::path& path, Others others,
                                               int threads) {
  threads = resolve_threads(threads);
  return io::within_memory(path, [&]() -> NamedObservedTensor {
    if (auto full = io::full_array(path, threads))
      return {io::known_entries(full->array, others, path.string()), std::move(full->names)};
    TensorData listed = read_tensor(path, threads);
    return {{entries_of(*listed.target).value_or(SparseTensor{}), {}, others == Others::zero},
            std::move(listed.names),
            std::move(listed.labels)};
  });
}

ObservedTensor read_observed_tensor(const std::filesystem::path& path, Others others, int threads) {
  return read_named_observed_tensor(path, others, threads).data;
}

void read_tensor_weights(const std::filesystem::path& path, const Loss& loss, const ModeNames& names,
                         ObservedTensor& data, int threads) {
  threads = resolve_threads(threads);
  if (data.others_are_zero) data = with_zeros(data, loss);
  const std::vector<Index>& shape = data.entries.shape;
  const auto require_same = [&](const std::vector<Index>& found) {
    if (found != shape)
      io::refuse(path.string(), fmt::format("entry weights: an array of {}; the data are {}",
                                            io::shape_text(found), io::shape_text(shape)));
  };
  io::within_memory(path, [&] {
    const std::vector<Index> order = sorted_order(data.entries, 0);
    data.weights.assign(data.entries.value.size(), 0.0);
    std::size_t next = 0;
    const auto take = [&](const auto& place, double weight) {  // places in their order
      const auto before = [&](Index e) {
        for (std::size_t m = 0; m < shape.size(); ++m)
          if (const int own = data.entries.index[m][std::size_t(e)]; own != place(m)) return own < place(m);
        return false;
      };
      while (next < order.size() && before(order[next])) ++next;
      if (next == order.size()) return;
      const auto e = std::size_t(order[next]);
      for (std::size_t m = 0; m < shape.size(); ++m)
        if (data.entries.index[m][e] != place(m)) return;
      data.weights[e] = weight;
    };
    if (const auto full = io::full_array(path, threads)) {
      require_same(full->array.shape);
      io::for_numbers(full->array, path.string(), [&](const std::vector<int>& at, double weight) {
        take([&](std::size_t m) { return at[m]; }, weight);
      });
      return;
    }
    const TensorData listed = read_tensor(path, threads);
    SparseTensor weights = entries_of(*listed.target).value_or(SparseTensor{});
    if (weights.shape.size() != shape.size()) require_same(weights.shape);
    bring_to(ModePlaces(names, shape), listed.names, weights);  // what is not in the data weighs nothing
    for (std::size_t m = 0; m < shape.size(); ++m)
      if (weights.shape[m] > shape[m]) require_same(weights.shape);
    for (const Index e : sorted_order(weights, 0))
      take([&](std::size_t m) { return weights.index[m][std::size_t(e)]; }, weights.value[std::size_t(e)]);
  });
}

}  // namespace pursuit
