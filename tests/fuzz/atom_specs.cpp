// Specs of atom sets are arbitrary text, and the files behind them arbitrary bytes. Whatever they are, there
// is a set whose spec is read back, or InvalidArgument or InvalidInput. The first byte says what the rest is:
// a spec, groups, a tree, a graph or a mask.

#include <string>

#include "fuzz/target.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/catalogue/index_files.hpp"

namespace pursuit::fuzz {
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

}  // namespace

void read_atom_specs(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string_view rest = bytes.substr(1);
  try {
    switch (bytes[0]) {
      case 'g': return read_groups_soundly(MemoryFile(rest).path());
      case 't': return read_tree_soundly(MemoryFile(rest).path());
      case 'e': return read_graph_soundly(MemoryFile(rest).path());
      case 'm':
        for (const unsigned char mark : read_mask(MemoryFile(rest).path())) require(mark <= 1, "0 or 1");
        return;
      default: return read_spec(std::string(rest));
    }
  } catch (const InvalidArgument&) {
  } catch (const InvalidInput&) {
  }
}

}  // namespace pursuit::fuzz
