#include <fmt/format.h>
#include <glob.h>

#include <algorithm>

#include "io/defect.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit {
namespace {

namespace fs = std::filesystem;

/// By name; empty ones are what a job that had nothing to write leaves behind.
std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with('.') || name.starts_with('_')) continue;
    if (entry->is_regular_file(error) && entry->file_size(error) > 0) files.push_back(entry->path());
  }
  if (error) io::refuse(folder.string(), fmt::format("the folder cannot be read: {}", error.message()));
  if (files.empty()) io::refuse(folder.string(), "the folder holds no file that is not empty");
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> matches_of(const std::string& pattern) {
  glob_t found{};
  const int status = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<fs::path> files(found.gl_pathv, found.gl_pathv + (status == 0 ? found.gl_pathc : 0));
  ::globfree(&found);
  std::erase_if(files, [](const fs::path& file) {
    std::error_code none;
    return fs::is_directory(file, none) || fs::is_empty(file, none);
  });
  if (files.empty()) io::refuse(pattern, "no file that is not empty matches this pattern");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<fs::path> parts_of(const fs::path& path) {
  std::error_code none;
  if (fs::is_directory(path, none)) return files_in(path);
  const std::string text = path.string();
  if (fs::exists(path, none)) return {path};
  if (text.find_first_of("*?[") != std::string::npos) return matches_of(text);
  std::vector<fs::path> files;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    files.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  const auto exists = [](const fs::path& file) {
    std::error_code ignored;
    return fs::exists(file, ignored);
  };
  if (files.size() == 1 || std::none_of(files.begin(), files.end(), exists)) return {path};
  return files;
}

}  // namespace pursuit
