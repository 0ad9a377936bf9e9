#pragma once
// Small positive definite systems solved side by side, one per lane of a vector register, which makes their
// width^3 / 6 cheap. Of every number there are kSystems, next to each other; matrices are column-major, their
// lower triangles are read, and arrays are aligned to 64 bytes.

namespace pursuit {

constexpr int kSystems = 16;

/// A = L L^T, in place; pivots are kept as their inverses.
void factor_systems(float* factor, float* inverse_pivot, int width);

/// solution := A^-1 solution, or where `normal` is given A^-1 solution + L^-T normal, a draw around it.
void solve_systems(const float* factor, const float* inverse_pivot, const float* normal, int width,
                   float* solution);

/// solution: min over x >= 0 of 1/2 x^T A x - right . x, by coordinate descent from where it is, until a pass
/// gains next to nothing; each system ends on its own. A becomes all of the matrix, not its triangle alone,
/// and right the slopes there.
void solve_nonnegative_systems(float* matrix, int width, float* right, float* solution);

/// variance := diagonal of A^-1, the squared columns of L^-1. `columns` is room for 4 * width numbers.
void inverse_diagonals(const float* factor, const float* inverse_pivot, int width, float* columns,
                       float* variance);

/// form := x^T A x = |L^T x|^2, x the solution.
void quadratic_forms(const float* factor, const float* inverse_pivot, int width, const float* solution,
                     float* form);

}  // namespace pursuit
