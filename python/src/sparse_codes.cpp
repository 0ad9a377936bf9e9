// Codes over a dictionary from inner products: paths of matching pursuits, the lasso, least angles.

#include "sparse_codes.hpp"

#include <pybind11/eigen.h>
#include <pybind11/numpy.h>

#include "interpreter.hpp"
#include "pursuit/algorithms/sparse_codes.hpp"

namespace pursuit::python {
namespace {

namespace py = pybind11;

/// Per signal: atoms in the order of their choice, weights after every step as the rows of a triangle, the
/// squared error, and why it ended.
py::list as_list(const std::vector<OmpPath>& paths) {
  py::list out;
  for (const OmpPath& path : paths) {
    const Index steps = Index(path.weights.size());
    Matrix weights = Matrix::Zero(steps, steps);
    for (Index i = 0; i < steps; ++i) weights.row(i).head(i + 1) = path.weights[std::size_t(i)].transpose();
    py::array_t<std::int64_t> atoms(py::ssize_t(path.atoms.size()));
    std::copy(path.atoms.begin(), path.atoms.end(), atoms.mutable_data());
    out.append(py::make_tuple(atoms, std::move(weights), path.squared_error, name(path.stop)));
  }
  return out;
}

py::list omp_paths_of(const Matrix& matrix, bool is_gram, const Matrix& products, const Vector& squared_norms,
                      Index atoms, const Vector& squared_errors, int threads) {
  std::vector<OmpPath> paths;
  {
    const Unlocked unlocked;
    paths = omp_paths(is_gram ? gram_columns(matrix) : gram_columns_of(matrix), products, squared_norms,
                      atoms, squared_errors, threads);
  }
  return as_list(paths);
}

py::tuple lasso_codes(const Matrix& gram, const Matrix& products, const Vector& squared_norms, double alpha,
                      bool nonnegative, int max_sweeps, double tolerance, const Matrix& start, int threads) {
  LassoResult result;
  {
    const Unlocked unlocked;
    result =
        lasso(gram, products, squared_norms, {alpha, nonnegative, max_sweeps, tolerance, threads}, start);
  }
  const bool all = std::all_of(result.converged.begin(), result.converged.end(), [](bool c) { return c; });
  return py::make_tuple(std::move(result.codes), std::move(result.gaps), all);
}

}  // namespace

void bind_sparse_codes(py::module_& m) {
  m.def("omp_paths", &omp_paths_of, py::arg("matrix"), py::kw_only(), py::arg("is_gram"), py::arg("products"),
        py::arg("squared_norms"), py::arg("atoms"), py::arg("squared_errors"), py::arg("threads"));
  m.def("lasso", &lasso_codes, py::arg("gram"), py::arg("products"), py::arg("squared_norms"), py::kw_only(),
        py::arg("alpha"), py::arg("nonnegative"), py::arg("max_sweeps"), py::arg("tolerance"),
        py::arg("start"), py::arg("threads"));
  m.def("least_angle_codes", &least_angle_codes, py::call_guard<Unlocked>(), py::arg("gram"),
        py::arg("products"), py::arg("atoms"), py::arg("threads"));
}

}  // namespace pursuit::python
