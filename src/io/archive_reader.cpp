#include "io/archive_reader.hpp"

#include <nlohmann/json.hpp>

#include "pursuit/base/version.hpp"
#include "pursuit/io/model_file.hpp"

namespace pursuit {

NpyArray array_of_metadata(std::map<std::string, std::string> metadata) {
  metadata["version"] = version();
  // A byte of an argument that is not UTF-8 is no reason to lose a result; it is replaced.
  constexpr auto kLossy = nlohmann::json::error_handler_t::replace;
  return {{}, std::vector<std::string>{nlohmann::json(metadata).dump(-1, ' ', false, kLossy)}};
}

std::map<std::string, std::string> ArchiveReader::metadata() const {
  constexpr std::size_t kLongest = std::size_t(1) << 22;
  constexpr int kDeepest = 16;  // what is nested would be walked by recursion
  const std::string& text = values<std::string>(array("metadata", 0), "metadata").at(0);
  if (text.size() > kLongest)
    refuse(fmt::format("its metadata has {} bytes, allowed are {}", text.size(), kLongest));
  const auto bounded = [&](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
    if (depth > kDeepest) refuse(fmt::format("its metadata is nested more than {} deep", kDeepest));
    return true;
  };
  const auto parsed = nlohmann::json::parse(text, bounded, /*allow_exceptions=*/false);
  if (!parsed.is_object()) refuse("its metadata is not a JSON object");
  std::map<std::string, std::string> result;
  for (const auto& [key, value] : parsed.items())
    result[key] = value.is_string() ? value.get<std::string>() : value.dump();
  return result;
}

}  // namespace pursuit
