// Lets libFuzzer invent the bytes, for the target that PURSUIT_FUZZ_TARGET names; scripts/fuzz builds and
// runs it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

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

}  // namespace

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
