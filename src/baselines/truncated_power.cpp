#include "pursuit/baselines/truncated_power.hpp"

#include "linalg/lanczos.hpp"
#include "pursuit/oracle/find_atom.hpp"

namespace pursuit {

Component truncated_power(const LinearOperator& C, const Atoms& atoms, const Matrix& starts,
                          const PowerOptions& options) {
  const OracleOptions oracle{
      .max_iterations = options.max_iterations, .tolerance = options.tolerance, .sign = Sign::nonnegative};
  const MatrixForm form(C);
  const AtomSets sets(atoms, atoms, /*symmetric=*/true);
  Component best;
  for (Index s = 0; s < starts.cols(); ++s) {  // one by one: a block would drop starts on the way
    const FoundAtom atom = refine_atom(form, sets, 0, Factors::symmetric(starts.col(s)), oracle);
    if (s == 0 || atom.value > best.variance) best = {atom.factors[0].col(0), atom.value, atom.iterations};
  }
  return best;
}

Component truncated_power(const Covariance& C, const Atoms& atoms, PowerStart start,
                          const PowerOptions& options) {
  return truncated_power(C, atoms, power_starts(C, start), options);
}

Matrix power_starts(const Covariance& C, PowerStart start) {
  if (start == PowerStart::heaviest) return heaviest_coordinate(C).u;
  const Matrix leading = leading_eigenpairs(C, 1, true).vectors;
  if (leading.cols() == 0) return heaviest_coordinate(C).u;  // nothing varies
  Matrix both(C.rows(), 2);
  both << leading, -leading;
  return both;
}

Matrix correct_components(const Covariance& C, Matrix U, const Atoms& atoms, int sweeps, Deflation deflation,
                          const PowerOptions& options) {
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (Index i = 0; i < U.cols(); ++i) {
      Covariance rest = C;
      for (Index j = 0; j < U.cols(); ++j)
        if (j != i) rest = rest.deflated(U.col(j), deflation);
      U.col(i) = truncated_power(rest, atoms.shared(i), U.col(i), options).u;
    }
  return U;
}

}  // namespace pursuit
