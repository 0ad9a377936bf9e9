// The catalogue on paper: what there is, what a spec means, and whether a set keeps its promises.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "apps/console.hpp"
#include "apps/session.hpp"
#include "pursuit/atoms/laws.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/catalogue/catalogue.hpp"

namespace pursuit::app {
namespace {

struct AtomsCommand {
  std::string spec;
  std::optional<Index> length;
  int trials = 40;
  std::uint64_t seed = 0;
  bool json = false;
};

constexpr const char* kAtomsExamples =
    R"(Sets combine with '+' (members of all of them), and ranges of entries may have a set each:
  nonneg+sparse:40           non-negative with at most 40 non-zeros
  support:mask.npy+sparse:5  at most 5 non-zeros, all inside the mask
  0-99:nonneg|100-:sparse:5  the first 100 entries non-negative, the others with at most 5 non-zeros
  sparse:300,200,100         300 non-zeros for the first atom, 200 for the second, 100 for all others
  group:"a+b.txt":2          a file whose name holds one of : + | , stands in quotes

Examples:
  pursuit atoms                          list all sets
  pursuit atoms nonneg+unimodal          explain one and check its laws on random input
  pursuit atoms plugin:./mine.so:hats    check a set of your own)";

/// Words cut into lines.
std::string wrapped(const std::string& text, std::size_t width, const std::string& indent) {
  std::string lines = indent, line;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines.append(line).append("\n").append(indent);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return lines + line;
}

int list(bool json) {
  if (json) {
    Json all = Json::array();
    for (const CatalogueEntry& entry : catalogue())
      all.push_back({{"name", entry.name},
                     {"form", entry.form},
                     {"summary", entry.summary},
                     {"description", entry.description}});
    print_json(all);
    return success;
  }
  for (const CatalogueEntry& entry : catalogue()) say("{:<20} {}\n", entry.form, entry.summary);
  say("\n'pursuit atoms SPEC' explains one; sets combine with '+', see 'pursuit atoms --help'.\n");
  return success;
}

/// The entries of the catalogue that a spec mentions, in its order.
std::vector<const CatalogueEntry*> mentioned(const std::string& spec) {
  std::vector<std::pair<std::size_t, const CatalogueEntry*>> found;
  for (const CatalogueEntry& entry : catalogue())
    for (std::size_t at = spec.find(entry.name); at != std::string::npos;
         at = spec.find(entry.name, at + 1)) {
      const std::size_t end = at + entry.name.size();
      const bool starts = at == 0 || spec[at - 1] == '+' || spec[at - 1] == '|' || spec[at - 1] == ':';
      const bool ends = end == spec.size() || spec[end] == '+' || spec[end] == '|' || spec[end] == ':';
      if (!starts || !ends) continue;
      found.emplace_back(at, &entry);
      break;
    }
  std::sort(found.begin(), found.end());
  std::vector<const CatalogueEntry*> entries;
  entries.reserve(found.size());
  for (const auto& [at, entry] : found) entries.push_back(entry);
  return entries;
}

/// A length that the set accepts: 24 where it takes any, its own where it is about particular entries.
Index fitting_length(const AtomSet& set) {
  const auto fits = [&](Index n) {
    try {
      set.require_dimension(n);
    } catch (const InvalidArgument&) {
      return false;
    }
    return true;
  };
  constexpr Index kUsual = 24, kMost = 100000;
  if (fits(kUsual)) return kUsual;
  for (Index n = 1; n <= kMost; ++n)
    if (fits(n)) return n;
  set.require_dimension(kUsual);  // says what is wrong
  return kUsual;
}

std::string describe_oracle(const AtomSet& set) {
  const double factor = set.traits().oracle_factor;
  if (factor == 1) return "exact";
  if (factor == 0) return "inexact, without a stated share of the best";
  return fmt::format("inexact, reaches at least {:.3g} of the best", factor);
}

int explain(const AtomsCommand& command) {
  const Atoms atoms = parse_atoms(command.spec);
  const AtomSet& set = atoms.of(0);
  const Index n = command.length ? *command.length : fitting_length(set);
  const auto broken =
      check_atom_laws(set, n, {.seed = command.seed, .trials = command.trials, .parse = parse_atoms});
  if (command.json) {
    Json laws = Json::object();
    for (const auto& [law, detail] : broken) laws.set(law, detail);
    print_json({{"spec", atoms.spec()},
                {"symmetric", set.traits().symmetric},
                {"unit_norms", set.traits().unit_norm},
                {"oracle_factor", set.traits().oracle_factor},
                {"exact_fit", set.traits().exact_fit},
                {"length", n},
                {"trials", command.trials},
                {"broken_laws", laws}});
  } else {
    say("{}\n", atoms.spec());
    for (const CatalogueEntry* entry : mentioned(command.spec))
      say("\n  {}: {}\n{}\n", entry->form, entry->summary, wrapped(entry->description, 96, "    "));
    say("\n  members    {}, {}\n", set.traits().unit_norm ? "unit vectors" : "of any norm",
        set.traits().symmetric ? "u with -u" : "-u need not be one with u");
    say("  maximize   {}\n", describe_oracle(set));
    say("  fit        {}\n", set.traits().exact_fit && set.traits().oracle_factor == 1
                                 ? "exact"
                                 : "exact for equal curvatures, otherwise a local optimum");
    if (broken.empty()) say("  laws       all kept on {} random vectors of {} entries\n", command.trials, n);
    for (const auto& [law, detail] : broken) say("  broken     the law of {}: {}\n", law, detail);
  }
  return broken.empty() ? success : bad_input;
}

}  // namespace

void add_atoms(Command& program) {
  auto command = std::make_shared<AtomsCommand>();
  Command sub = program.add_command("atoms", "List the atom sets, or explain one and check its laws");
  sub.footer(kAtomsExamples);
  sub.add_option("SPEC", command->spec, "The set to explain; without it all are listed");
  sub.add_option("--length", command->length, "Entries of the vectors to check with; by default what fits");
  sub.add_option("--trials", command->trials, "Random vectors to check with").show_default();
  sub.add_option("--seed", command->seed, "Of the random vectors").show_default();
  add_json_option(sub, command->json);
  sub.runs([command] { return command->spec.empty() ? list(command->json) : explain(*command); });
}

}  // namespace pursuit::app
