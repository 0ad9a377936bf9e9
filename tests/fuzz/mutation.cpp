#include "fuzz/mutation.hpp"

#include <iterator>

#include "io/zip_bytes.hpp"
#include "io/zip_writer.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::fuzz {
namespace {

std::map<std::string, std::string> unpacked(const std::string& archive) {
  std::map<std::string, std::string> entries;
  try {
    constexpr std::uint64_t kMostBytes = 1 << 20;
    for (const auto& [name, bytes] : io::unzip({archive, nullptr}, "archive", kMostBytes))
      entries.emplace(name, bytes.view);
  } catch (const InvalidInput&) {
    entries.clear();
  }
  return entries;
}

std::string packed(const std::map<std::string, std::string>& entries) {
  io::ZipPieces pieces;
  for (const auto& [name, bytes] : entries) pieces[name] = {bytes};
  std::string archive;
  io::write_zip(
      pieces, [&](std::string_view piece) { archive += piece; }, 1);
  return archive;
}

}  // namespace

std::string mutated(const std::string& bytes, unsigned choice, const Mutate& mutate) {
  constexpr unsigned kOutside = 16;  // once in so many times the archive itself is changed
  if (!io::is_zip(bytes) || choice % kOutside == 0) return mutate(bytes);
  auto entries = unpacked(bytes);
  if (entries.empty()) return mutate(bytes);
  const auto entry = std::next(entries.begin(), choice / kOutside % entries.size());
  if (choice / kOutside % 31 == 0) {
    entries.erase(entry);
  } else {
    entry->second = mutate(entry->second);
  }
  return packed(entries);
}

}  // namespace pursuit::fuzz
