#pragma once
// How readers say no: one wording for the place and one for the value, so that every message reads alike.

#include <cstddef>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace pursuit::io {

/// Throws InvalidInput("<where>: <defect>"). `where` is a file name or what at_line() and at_cell() make of
/// it.
[[noreturn]] void refuse(const std::string& where, const std::string& defect);

/// "data.mtx, line 7". Lines and columns count from 1.
std::string at_line(const std::string& name, std::size_t line);
/// "data.csv, line 7, column 2"
std::string at_cell(const std::string& name, std::size_t line, std::size_t column);

/// A value taken from a file, fit to stand in a message: quoted, cut short, nothing unprintable.
std::string shown(std::string_view value);

/// "there is", or the limit of this process where it has one: what a file may need no more memory than.
std::string memory_there_is();
[[noreturn]] void refuse_for_memory(const std::filesystem::path& path);

/// Calls read(), which takes a file in; one that runs out of memory has met a file that is too large for this
/// machine.
template <class Read>
auto within_memory(const std::filesystem::path& path, const Read& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    refuse_for_memory(path);
  } catch (const std::length_error&) {
    refuse_for_memory(path);
  }
}

}  // namespace pursuit::io
