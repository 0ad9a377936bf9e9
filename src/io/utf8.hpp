#pragma once
// UTF-8 to and from code points, refusing what is not well formed (overlong forms, surrogates, beyond
// U+10FFFF).

#include <optional>
#include <string>
#include <string_view>

namespace pursuit::io {

/// Empty where `text` is not well-formed UTF-8.
std::optional<std::u32string> decode_utf8(std::string_view text);

bool is_utf8(std::string_view text);

/// Whether a character can have this number: no surrogate, at most U+10FFFF.
bool is_code_point(char32_t code);

/// Appends one character, for which is_code_point() must hold.
void append_utf8(std::string& text, char32_t code);

}  // namespace pursuit::io
