#pragma once
// Text that came from outside (titles, captions, names of files), made safe to draw in a known number of
// columns.

#include <cstddef>
#include <string>
#include <string_view>

namespace pursuit::report {

/// `text` as valid UTF-8 on one line: control characters become spaces, every other byte that no UTF-8
/// decoder accepts (and U+FFFE, U+FFFF, which XML forbids) becomes '?'.
std::string printable(std::string_view text);

/// How many characters `text`, which is valid UTF-8, holds.
std::size_t length(std::string_view text);

/// The first `columns` characters of `text`, which is valid UTF-8; ends in "..." where something was cut off
/// and there is room to say so.
std::string clipped(std::string_view text, std::size_t columns);
/// The same, with what is left out in the middle.
std::string clipped_inside(std::string_view text, std::size_t columns);

/// `text` made printable, with the characters that mean something in XML escaped: fit for content and
/// attributes.
std::string xml_escaped(std::string_view text);

}  // namespace pursuit::report
