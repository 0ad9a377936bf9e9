#pragma once
// How readers say no: one wording for the place and one for the value, so that every message reads alike.

#include <cstddef>
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

}  // namespace pursuit::io
