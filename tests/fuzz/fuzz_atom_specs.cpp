// Feeds arbitrary text to the specs of atom sets, and arbitrary bytes to the readers of the files behind
// them. Whatever they are given, they return a set whose spec is read back, or throw InvalidArgument or
// InvalidInput. The first byte says what the rest is: a spec, groups, a tree, a graph or a mask.
//
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I include -I src -isystem <eigen>
//     tests/fuzz/fuzz_atom_specs.cpp $(ls src/{atoms,catalogue,io}/*.cpp | grep -vE "_test|_bench")
//     build/release/libpursuit.a -lopenblas -lfmt -lz -o fuzz_atom_specs
//   mkdir corpus
//   ./fuzz_atom_specs -dict=tests/fuzz/atom_specs.dict -max_total_time=180 corpus tests/fuzz/seeds_atom_specs

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "catalogue/index_files.hpp"
#include "memory_file.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/catalogue/catalogue.hpp"

namespace pursuit {
namespace {

/// Sets that come from files are left to the readers: specs could name any file of the machine.
bool names_a_file(const std::string& spec) {
  for (const char* name : {"group", "tree", "graph", "support", "dictionary", "span", "sparse-in", "plugin"})
    if (spec.find(name) != std::string::npos) return true;
  return false;
}

void read_spec(const std::string& text) {
  if (names_a_file(text)) return;
  const Atoms set = parse_atoms(text);
  const std::string spec = set.spec();
  if (!spec.starts_with("custom:")) require(parse_atoms(spec).spec() == spec, "a spec is read back");
  constexpr Index kEntries = 12;
  set.require_dimension(kEntries);
  const Vector g = Vector::LinSpaced(kEntries, -1, 2);
  Vector u(kEntries);
  set.of(0).maximize(g, u);
  require(u.allFinite(), "members are finite");
}

void read_groups_soundly(const std::string& path) {
  const Groups groups = read_groups(path);
  require(!groups.group_of.empty(), "there is an entry");
  group(groups, 1);  // refuses gaps
}

void read_tree_soundly(const std::string& path) {
  const Tree nodes = read_tree(path);
  const Atoms set = tree(nodes, 1);
  set->require_dimension(Index(nodes.parent.size()));
}

void read_graph_soundly(const std::string& path) {
  const Graph edges = read_graph(path);
  require(edges.vertices > 0, "there is a vertex");
  if (edges.vertices < 100'000) graph(edges, 1)->require_dimension(edges.vertices);
}

void read_anything(char what, const std::string& rest) {
  try {
    switch (what) {
      case 'g': return read_groups_soundly(MemoryFile(rest.data(), rest.size()).path());
      case 't': return read_tree_soundly(MemoryFile(rest.data(), rest.size()).path());
      case 'e': return read_graph_soundly(MemoryFile(rest.data(), rest.size()).path());
      case 'm':
        for (const unsigned char mark : read_mask(MemoryFile(rest.data(), rest.size()).path()))
          require(mark <= 1, "0 or 1");
        return;
      default: return read_spec(rest);
    }
  } catch (const InvalidArgument&) {
  } catch (const InvalidInput&) {
  }
}

}  // namespace
}  // namespace pursuit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto* text = reinterpret_cast<const char*>(data);
  pursuit::read_anything(text[0], {text + 1, size - 1});
  return 0;
}
