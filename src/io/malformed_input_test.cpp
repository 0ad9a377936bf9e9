// Whatever bytes a reader is given, it returns a sound matrix or throws InvalidInput.

#include <random>

#include "io/byte_source.hpp"
#include "io/matrix_test_support.hpp"
#include "io/npy.hpp"
#include "io/parse_matrix.hpp"
#include "io/test_fixtures.hpp"
#include "io/test_support.hpp"

namespace pursuit::io {
namespace {

struct Sample {
  std::string name, bytes;
};

std::vector<Sample> samples() {
  return {
      {"coordinate.mtx",
       "%%MatrixMarket matrix coordinate real general\n% note\n2 3 3\n1 1 1.5\n2 3 -2e1\n2 1 7\n"},
      {"symmetric.mtx", "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n"},
      {"names.csv", "name,\"a \"\"b\"\"\",c\nx,1,2.5\ny,-3e2,4\n"},
      {"table.csv.gz", gzip("1,2\n3,4\n5,6\n")},
      {"dense.npy", format_npy(sample_matrix())},
      {"float.npy", kNumpyBigEndianFortran},
      {"dense.npz", kNumpyDense},
      {"csr.npz", kScipyCsr},
      {"csc.npz", kScipyCscFloat},
  };
}

void expect_sound(const std::string& bytes, const std::string& name) {
  try {
    EXPECT_EQ(broken_invariant(parse_matrix(bytes, name)), "") << name;
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), testing::StartsWith(name));
  }
}

TEST(MalformedInput, FilesCutShortAnywhereAreRefusedOrSound) {
  for (const auto& [name, bytes] : samples()) {
    EXPECT_NO_THROW(parse_matrix(bytes, name));
    for (std::size_t size = 0; size < bytes.size(); ++size) expect_sound(bytes.substr(0, size), name);
  }
}

TEST(MalformedInput, FilesWithRandomBytesAreRefusedOrSound) {
  std::mt19937 random(20240229);
  const auto below = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most - 1)(random);
  };
  const std::string telling = "0123456789-+.eE,;\t \"\n\r%()'\xFF\x80\x7F";
  for (const auto& [name, bytes] : samples()) {
    for (int round = 0; round < 2000; ++round) {
      std::string changed = bytes;
      for (std::size_t changes = 1 + below(4); changes > 0 && !changed.empty(); --changes) {
        const std::size_t at = below(changed.size());
        switch (below(4)) {
          case 0: changed[at] = static_cast<char>(below(256)); break;
          case 1: changed[at] = telling[below(telling.size())]; break;
          case 2: changed.erase(at, 1 + below(4)); break;
          default: changed.insert(at, changed.substr(below(changed.size()), 1 + below(8)));
        }
      }
      expect_sound(changed, name);
    }
  }
}

}  // namespace
}  // namespace pursuit::io
