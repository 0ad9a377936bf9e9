#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "io/npy_header.hpp"
#include "io/number_text.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/atomic_file.hpp"
#include "pursuit/io/tensor_file.hpp"
#include "pursuit/objective/means.hpp"

namespace pursuit {
namespace {

/// Slice i along the first mode, a column for every place along the last: offsets, and the inverse of the
/// link.
template <class Values>
void to_means(Index i, const std::vector<Index>& shape, const Loss& loss, const OwnTerms& own,
              Values& values) {
  if (own.row_offsets.size() > 0) {
    std::vector<const Vector*> offsets{&own.row_offsets, &own.col_offsets};
    for (const Vector& each : own.further_offsets) offsets.push_back(&each);
    values.array() += own.row_offsets[i];
    values.rowwise() += offsets.back()->transpose();
    for (Index place = 0; place < values.rows(); ++place)
      for (std::size_t m = shape.size() - 2, rest = std::size_t(place); m > 0;
           rest /= std::size_t(shape[m]), --m)
        values.row(place).array() += (*offsets[m])[Index(rest) % shape[m]];
  }
  values = values.unaryExpr([&](double x) { return mean_of(loss, own, x); });
}

using Slice = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Calls visit(i, values) for every slice along the first mode, none of which needs the others: a row for
/// every place along the modes between, a column for every place along the last.
template <class Visit>
void for_slices(const Expansion& model, const std::vector<Index>& shape, const Loss& loss,
                const OwnTerms& own, const Visit& visit) {
  for (Index i = 0; i < shape[0]; ++i) {
    // One row per place so far, one column per atom.
    Matrix grown = model.factors[0].row(i).cwiseProduct(model.weights.transpose());
    for (Index m = 1; m + 1 < model.factors.modes(); ++m) {
      const Panel& factor = model.factors[m];
      Matrix next(grown.rows() * factor.rows(), grown.cols());
      for (Index place = 0; place < grown.rows(); ++place)
        next.middleRows(place * factor.rows(), factor.rows()) = factor * grown.row(place).asDiagonal();
      grown = std::move(next);
    }
    Slice values = grown * model.factors[model.factors.modes() - 1].transpose();
    to_means(i, shape, loss, own, values);
    visit(i, values);
  }
}

/// An id as a cell of a table.
std::string id_cell(const std::string& id) {
  if (id.find_first_of(",;\t\" \r\n") == std::string::npos) return id;
  std::string cell = "\"";
  for (const char c : id) cell.append(c == '"' ? 2 : 1, c);
  return cell + '"';
}

/// On every line the ids of an entry, which are numbers counted from 1 where a mode has no names, and its
/// value.
class TensorTableWriter {
 public:
  TensorTableWriter(const std::vector<Index>& shape, const ModeNames& names,
                    const std::vector<std::string>& labels)
      : shape_(shape) {
    for (std::size_t m = 0; m < shape.size(); ++m) {
      header_ += (m < labels.size() ? id_cell(labels[m]) : fmt::format("mode_{}", m)) + ',';
      std::vector<std::string>& cells = cells_.emplace_back();
      cells.reserve(std::size_t(shape[m]));
      for (Index i = 0; i < shape[m]; ++i)
        cells.push_back(m < names.size() && !names[m].empty() ? id_cell(names[m][std::size_t(i)])
                                                              : fmt::format("{}", i + 1));
    }
    header_ += "value\n";
  }

  const std::string& header() const { return header_; }

  std::string lines_of(Index i, const Slice& values) const {
    std::string text;
    const std::size_t last = shape_.size() - 1;
    for (Index place = 0; place < values.rows(); ++place) {
      std::string between;
      for (std::size_t m = last - 1, rest = std::size_t(place); m > 0; --m) {
        between.insert(0, 1, ',').insert(0, cells_[m][rest % std::size_t(shape_[m])]);
        rest /= std::size_t(shape_[m]);
      }
      for (Index j = 0; j < values.cols(); ++j) {
        text += cells_[0][std::size_t(i)] + ',' + between + cells_[last][std::size_t(j)] + ',';
        io::append_number(text, values(place, j));
        text += '\n';
      }
    }
    return text;
  }

 private:
  const std::vector<Index>& shape_;
  std::string header_;
  std::vector<std::vector<std::string>> cells_;
};

}  // namespace

void write_tensor(const std::filesystem::path& path, const Expansion& model, const Loss& loss,
                  const OwnTerms& own, const ModeNames& names, const std::vector<std::string>& labels) {
  std::vector<Index> shape;
  double entries = 1;
  for (Index m = 0; m < model.factors.modes(); ++m) {
    shape.push_back(model.factors[m].rows());
    entries *= double(shape.back());
  }
  if (entries > double(std::numeric_limits<Index>::max()) / sizeof(double))
    throw InvalidInput(fmt::format("the array of this model would have {:.3g} entries", entries));
  const bool named = std::any_of(names.begin(), names.end(), [](const auto& list) { return !list.empty(); });
  const bool table = named && path.string().ends_with(".csv");
  if (!table && !path.string().ends_with(".npy"))
    throw InvalidArgument(
        fmt::format("'{}': an array of {} modes is written as .npy; one whose modes have "
                    "names as .csv too, with the ids of an entry and its value on every line",
                    path.string(), model.factors.modes()));
  AtomicFile file(path);
  if (table) {
    const TensorTableWriter writer(shape, names, labels);
    file.write(writer.header());
    for_slices(model, shape, loss, own,
               [&](Index i, const Slice& values) { file.write(writer.lines_of(i, values)); });
  } else {
    file.write(io::format_npy_header(io::kNativeByteOrder == '<' ? "<f8" : ">f8", false, shape));
    for_slices(model, shape, loss, own, [&](Index, const Slice& values) {
      file.write({reinterpret_cast<const char*>(values.data()), std::size_t(values.size()) * sizeof(double)});
    });
  }
  file.commit();
}

}  // namespace pursuit
