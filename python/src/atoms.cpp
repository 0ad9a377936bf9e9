// Atom sets, named ones and Python functions.
//
// A Python function gets a view of the engine's vector, which lives as long as the call: nothing is copied on
// the way in. Should the function keep the view, it is told to keep a copy instead.

#include "atoms.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "interpreter.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/catalogue/index_files.hpp"
#include "watch.hpp"

namespace pursuit::python {
namespace {

py::array view_of(ConstVectorRef x) {
  py::array_t<double> view({x.size()}, {py::ssize_t(sizeof(double))}, x.data(), py::none());
  py::detail::array_proxy(view.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return view;
}

/// A Python object that C++ may copy and drop on any thread, with or without the interpreter's lock.
std::shared_ptr<py::object> shared(py::object object) {
  return {new py::object(std::move(object)), [](py::object* held) {
            const Locked lock;
            delete held;
          }};
}

/// What the function says to g. The one interrupt that a run keeps for the end of a step may arrive in here;
/// the answer is then asked for again.
py::object answer_to(const py::object& function, const py::array& g) {
  try {
    return call(function, g);
  } catch (py::error_already_set& error) {
    if (!Watch::keep_interrupt(error)) throw;
  }
  return call(function, g);
}

/// The answer as the engine takes it: as many finite numbers as were asked about.
Vector vector_from(const py::object& answer, const std::string& name, Index size) {
  const auto array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(answer);
  if (!array) {
    PyErr_Clear();
    throw py::type_error("atom function '" + name + "' answered a " +
                         std::string(py::str(py::type::of(answer).attr("__name__"))) +
                         "; a vector of numbers is needed");
  }
  if (array.ndim() != 1 || array.shape(0) != size)
    throw py::value_error("atom function '" + name + "' answered an array of shape " +
                          std::string(py::str(array.attr("shape"))) + " to a vector of " +
                          std::to_string(size) + " entries");
  return Eigen::Map<const Vector>(array.data(), size);
}

/// Gives a view that outlives its call (in a traceback, say) numbers of its own.
void detach(py::array& view) {
  py::array copy = py::array_t<double>(view.size(), static_cast<const double*>(view.data()));
  auto* proxy = py::detail::array_proxy(view.ptr());
  proxy->data = static_cast<char*>(copy.mutable_data());
  Py_XDECREF(std::exchange(proxy->base, copy.release().ptr()));
}

Vector maximize_by(const py::object& function, const std::string& name, ConstVectorRef g) {
  const Locked lock;
  py::array view = view_of(g);
  Vector u;
  try {
    u = vector_from(answer_to(function, view), name, g.size());
  } catch (...) {
    detach(view);
    throw;
  }
  if (view.ref_count() == 1) return u;
  detach(view);
  throw py::value_error("atom function '" + name +
                        "' kept its argument, which lives only as long as the call; keep a copy: g.copy()");
}

Atoms custom_atoms(const std::string& name, const py::function& maximize, const py::object& contains,
                   bool symmetric) {
  CustomSet set{name, {}, {}, symmetric};
  set.maximize = [function = shared(maximize), name](ConstVectorRef g) {
    return maximize_by(*function, name, g);
  };
  if (!contains.is_none())
    set.contains = [function = shared(contains)](ConstVectorRef u, double tolerance) {
      const Locked lock;
      return call(*function, view_of(u), tolerance).cast<bool>();
    };
  return custom(std::move(set));
}

using Columns = std::variant<Matrix, Eigen::SparseMatrix<double>>;

Atoms dictionary_atoms(const std::string& set, Columns columns, std::optional<Index> k) {
  const Dictionary given{.columns = std::move(columns)};
  if (set == "dictionary") return dictionary(given);
  if (set == "span") return span(given);
  return sparse_in(given, k.value());
}

/// Sets about particular entries, from what the files of their specs hold; `source` is such a file.
void bind_sets_of_data(py::module_& m) {
  m.def(
      "group_atoms",
      [](std::vector<Index> group_of, Index active, std::optional<Index> within, std::string source) {
        return group({std::move(group_of), std::move(source)}, active,
                     within.value_or(std::numeric_limits<Index>::max()));
      },
      py::arg("group_of"), py::arg("active"), py::arg("within"), py::arg("source") = "");
  m.def(
      "sets_atoms",
      [](Index entries, std::vector<std::vector<Index>> members, Index active, std::string source) {
        return entry_sets({entries, std::move(members), std::move(source)}, active);
      },
      py::arg("entries"), py::arg("members"), py::arg("active"), py::arg("source") = "");
  m.def(
      "tree_atoms",
      [](std::vector<Index> parent, Index k, std::string source) {
        return tree({std::move(parent), std::move(source)}, k);
      },
      py::arg("parent"), py::arg("k"), py::arg("source") = "");
  m.def(
      "graph_atoms",
      [](Index vertices, std::vector<std::pair<Index, Index>> edges, Index k, Index components,
         std::string source) {
        return graph({vertices, std::move(edges), std::move(source)}, k, components);
      },
      py::arg("vertices"), py::arg("edges"), py::arg("k"), py::arg("components"), py::arg("source") = "");
  m.def(
      "support_atoms",
      [](std::vector<unsigned char> mask, const std::string& source) {
        return support(std::move(mask), source);
      },
      py::arg("mask"), py::arg("source") = "");
  m.def(
      "per_atom_atoms", [](const std::vector<Atoms>& sets) { return per_atom(sets); }, py::arg("sets"));
  m.def("dictionary_atoms", &dictionary_atoms, py::arg("set"), py::arg("columns"), py::arg("k"));
}

/// What the files of such sets hold.
void bind_index_files(py::module_& m) {
  namespace fs = std::filesystem;
  m.def("read_names", &read_names, py::arg("path"));
  m.def(
      "read_groups", [](const fs::path& path) { return read_groups(path).group_of; }, py::arg("path"));
  m.def(
      "read_sets", [](const fs::path& path) { return read_sets(path).members; }, py::arg("path"));
  m.def(
      "read_tree", [](const fs::path& path) { return read_tree(path).parent; }, py::arg("path"));
  m.def(
      "read_graph",
      [](const fs::path& path) {
        const Graph graph = read_graph(path);
        return std::pair(graph.vertices, graph.edges);
      },
      py::arg("path"));
  m.def(
      "read_mask", [](const fs::path& path) { return read_mask(path); }, py::arg("path"));
}

/// Whether the set has vectors of so many entries.
bool has_dimension(const Atoms& set, Index n) {
  if (n == 0) return false;
  try {
    set.require_dimension(n);
  } catch (const InvalidArgument&) {
    return false;
  }
  return true;
}

Vector maximize(const Atoms& set, const ConstVectorRef& g) {
  if (g.size() > 0) set.require_dimension(g.size());  // what has no entries is refused by the oracle
  Vector u(g.size());
  set->maximize(g, u);
  return u;
}

std::pair<double, Vector> fit(const Atoms& set, const ConstVectorRef& a, const ConstVectorRef& b,
                              bool nonnegative) {
  if (a.size() != b.size()) throw InvalidArgument("fit: curvatures and targets differ in length");
  if (a.size() > 0 && a.minCoeff() < 0) throw InvalidArgument("fit: a curvature is negative");
  if (b.size() > 0) set.require_dimension(b.size());
  Vector u(b.size());
  const double t = set->fit(a, b, nonnegative ? Sign::nonnegative : Sign::free, u);
  return {t, std::move(u)};
}

}  // namespace

void bind_atoms(py::module_& m) {
  // A named set does its work without the lock; a Python function takes it back.
  using WithoutLock = py::call_guard<Unlocked>;
  py::class_<Atoms>(m, "Atoms", "The engine's atom set, or one for every atom.")
      .def("spec", &Atoms::spec)
      .def("symmetric", [](const Atoms& set) { return set.traits().symmetric; })
      .def(
          "contains",
          [](const Atoms& set, const ConstVectorRef& u, double tolerance) {
            return has_dimension(set, u.size()) && set.contains(u, tolerance);
          },
          WithoutLock(), py::arg("u"), py::arg("tolerance"))
      .def("maximize", &maximize, WithoutLock(), py::arg("g"))
      .def("fit", &fit, WithoutLock(), py::arg("a"), py::arg("b"), py::arg("nonnegative"))
      .def(
          "combine", [](const Atoms& a, const Atoms& b) { return a + b; }, py::arg("other"));
  m.def("parse_atoms", &parse_atoms_by_name, py::arg("spec"), py::arg("names") = std::vector<std::string>{});
  bind_sets_of_data(m);
  bind_index_files(m);
  m.def("catalogue", [] {
    py::list entries;
    for (const CatalogueEntry& entry : catalogue())
      entries.append(py::make_tuple(entry.name, entry.form, entry.summary, entry.example_file));
    return entries;
  });
  m.def("custom_atoms", &custom_atoms, py::arg("name"), py::arg("maximize"), py::arg("contains"),
        py::arg("symmetric"));
}

}  // namespace pursuit::python
