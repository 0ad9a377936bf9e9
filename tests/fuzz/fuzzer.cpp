// Lets libFuzzer invent the bytes, for the target that PURSUIT_FUZZ_TARGET names; scripts/fuzz builds and
// runs it. Seeds that the target makes are put into the folder that PURSUIT_FUZZ_SEEDS names.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "fuzz/mutation.hpp"
#include "fuzz/target.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

const pursuit::fuzz::Target& chosen() {
  static const pursuit::fuzz::Target target = [] {
    const char* name = std::getenv("PURSUIT_FUZZ_TARGET");
    for (const auto& each : pursuit::fuzz::targets())
      if (name != nullptr && each.name == name) return each;
    std::fprintf(stderr, "PURSUIT_FUZZ_TARGET names no target\n");
    std::exit(2);
  }();
  return target;
}

std::string mutated_by_libfuzzer(const std::string& bytes) {
  constexpr std::size_t kMoreBytes = 4096;
  std::string changed = bytes;
  changed.resize(bytes.size() + kMoreBytes);
  changed.resize(
      LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(changed.data()), bytes.size(), changed.size()));
  return changed;
}

void put_made_seeds(const std::filesystem::path& folder) {
  if (!chosen().made_seeds) return;
  int number = 0;
  for (const std::string& seed : chosen().made_seeds())
    std::ofstream(folder / ("made" + std::to_string(number++)), std::ios::binary) << seed;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
  if (const char* folder = std::getenv("PURSUIT_FUZZ_SEEDS")) put_made_seeds(folder);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen().feed({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::string changed = pursuit::fuzz::mutated(bytes, seed, mutated_by_libfuzzer);
  if (changed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
