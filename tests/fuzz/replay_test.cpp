// Every target holds on its seeds, what fuzzing found among them, and on some thousand inputs made of them at
// random.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>

#include "fuzz/mutation.hpp"
#include "fuzz/target.hpp"
#include "places.hpp"

namespace pursuit::fuzz {
namespace {

std::vector<std::string> seeds_of(const Target& target) {
  const std::filesystem::path fuzz = std::filesystem::path(PURSUIT_SOURCE_DIR) / "tests" / "fuzz";
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(fuzz / "seeds" / target.name))
    files.push_back(file.path());
  if (target.name == "models") {  // those of earlier versions are seeds as well
    for (const auto& file : std::filesystem::directory_iterator(fuzz / ".." / "models"))
      if (file.path().extension() == ".npz") files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  seeds.reserve(files.size());
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  if (target.made_seeds) {
    for (std::string& seed : target.made_seeds()) seeds.push_back(std::move(seed));
  }
  return seeds;
}

class Changes {
 public:
  std::string operator()(const std::string& bytes) {
    static const std::string kTelling = "0123456789-+.eE,;|:\t \"\n\r%()'{}\xFF\x80\x7F\x00";
    std::string changed = bytes;
    for (std::size_t changes = 1 + below(4); changes > 0 && !changed.empty(); --changes) {
      const std::size_t at = below(changed.size());
      switch (below(5)) {
        case 0: changed[at] = static_cast<char>(below(256)); break;
        case 1: changed[at] = kTelling[below(kTelling.size())]; break;
        case 2: changed.erase(at, 1 + below(4)); break;
        case 3: changed.resize(at); break;
        default: changed.insert(at, changed.substr(below(changed.size()), 1 + below(8)));
      }
    }
    return changed;
  }
  std::size_t below(std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most - 1)(random_);
  }

 private:
  std::mt19937 random_{20240229};
};

class EveryTarget : public testing::TestWithParam<Target> {};

TEST_P(EveryTarget, HoldsOnItsSeedsAndOnWhatIsMadeOfThem) {
  const std::vector<std::string> seeds = seeds_of(GetParam());
  ASSERT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) GetParam().feed(seed);
  Changes changes;
  for (int round = 0; round < 3000; ++round) {
    const std::string& seed = seeds[changes.below(seeds.size())];
    GetParam().feed(mutated(seed, unsigned(changes.below(1 << 20)), std::ref(changes)));
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, EveryTarget, testing::ValuesIn(targets()),
                         [](const auto& target) { return target.param.name; });

}  // namespace
}  // namespace pursuit::fuzz
