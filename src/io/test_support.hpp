#pragma once
// What the tests of this room share.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <stdlib.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/zip_writer.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit::io {

/// A directory of its own under the system's temporary directory, removed with all it holds.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "pursuit-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot create " + pattern);
    path_ = pattern;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& file) const { return path_ / file; }

  /// A new file with this content.
  std::filesystem::path with(const std::string& file, std::string_view content) const {
    std::ofstream(path_ / file, std::ios::binary) << content;
    return path_ / file;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The message of the exception that `action` must throw.
template <class Exception, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no exception";
  return "";
}

/// Equal shape and equal bits, so that -0 differs from 0.
template <class Left, class Right>
bool same_bits(const Left& left, const Right& right) {
  using Bits = std::conditional_t<sizeof(typename Left::Scalar) == 4, std::uint32_t, std::uint64_t>;
  if (left.rows() != right.rows() || left.cols() != right.cols()) return false;
  for (Index j = 0; j < left.cols(); ++j) {
    for (Index i = 0; i < left.rows(); ++i) {
      if (std::bit_cast<Bits>(left.coeff(i, j)) != std::bit_cast<Bits>(right.coeff(i, j))) return false;
    }
  }
  return true;
}

/// Any finite number, of every magnitude.
template <class Scalar>
rc::Gen<Scalar> any_finite() {
  using Bits = std::conditional_t<sizeof(Scalar) == 4, std::uint32_t, std::uint64_t>;
  const auto from_bits = rc::gen::map(rc::gen::inRange<Bits>(0, ~Bits{0}),
                                      [](Bits bits) { return std::bit_cast<Scalar>(bits); });
  const auto simple =
      rc::gen::map(rc::gen::inRange(-20, 20), [](int k) { return static_cast<Scalar>(k) / 4; });
  return rc::gen::suchThat(rc::gen::oneOf(from_bits, simple), [](Scalar x) { return std::isfinite(x); });
}

template <class Scalar>
Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> any_dense() {
  Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> matrix(*rc::gen::inRange<Index>(1, 40),
                                                               *rc::gen::inRange<Index>(1, 8));
  const auto values =
      *rc::gen::container<std::vector<Scalar>>(static_cast<std::size_t>(matrix.size()), any_finite<Scalar>());
  std::copy(values.begin(), values.end(), matrix.data());
  return matrix;
}

/// With explicit zeros, empty rows and empty columns now and then.
template <class Scalar>
SparseMatrixOf<Scalar> any_sparse() {
  SparseMatrixOf<Scalar> matrix(*rc::gen::inRange<Index>(1, 12), *rc::gen::inRange<Index>(1, 12));
  const auto count = *rc::gen::inRange(0, 30);
  for (int k = 0; k < count; ++k) {
    matrix.coeffRef(*rc::gen::inRange<Index>(0, matrix.rows()), *rc::gen::inRange<Index>(0, matrix.cols())) =
        *any_finite<Scalar>();
  }
  matrix.makeCompressed();
  return matrix;
}

/// A zip archive of these contents.
inline std::string zip(const std::map<std::string, std::string>& contents, int threads = 1) {
  ZipPieces pieces;
  for (const auto& [name, content] : contents) pieces[name] = {content};
  std::string archive;
  write_zip(
      pieces, [&](std::string_view bytes) { archive += bytes; }, threads);
  return archive;
}

/// The array of test_fixtures.hpp.
inline Matrix sample_matrix() {
  Matrix matrix(2, 3);
  matrix << 1.5, 0, -2, 0, 3, 0.25;
  return matrix;
}

}  // namespace pursuit::io
