#include "pursuit/io/write_lines.hpp"

#include "io/text_writer.hpp"

namespace pursuit {

void write_lines(Index count, Index cells, int threads,
                 const std::function<void(std::string&, Index)>& append,
                 const std::function<void(std::string_view)>& write) {
  io::TextWriter(write, threads).write_lines(count, cells, append);
}

}  // namespace pursuit
