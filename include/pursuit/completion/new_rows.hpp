#pragma once
// Rows that a completed matrix was not made from: a new user with a few ratings. The columns are held, and a
// row gets its posterior from its own entries, by the step that fitted the rows of the model
// (row_posteriors.hpp),
//
//   y_ij = mean + scale * (b_j + x_i . z_j) + noise,     z_j = (1, v_j, r_j / scale),     x_i ~ N(p_i, diag
//   tau)
//
// with v_j the factors of column j and r_j its entries in the structured atoms. p_i and tau are those of the
// model's rows: for structured atoms the mean and variance of their weighted left entries. Noise weights of
// new rows are 1. Cost: O(rank^2) per entry and O(rank^3) per row. Under other losses than squares and
// bernoulli the same prior stands beside the loss, and Newton's method finds where both are lowest.

#include "pursuit/completion/model.hpp"

namespace pursuit {

/// n x width posterior means x_i of the rows of `entries`: offset, factors, structured atoms, as far as the
/// model has them. InvalidInput where an entry lies in no column of the model or is not finite.
Matrix new_row_factors(const CompletionModel& model, const GroupedEntries& entries, int threads = 1);

/// n x columns predictions for rows with these factors, within the model's range.
Matrix predict_rows(const CompletionModel& model, const Matrix& factors);

/// The error (error_name) on entries of rows with these factors.
double error_of_rows(const CompletionModel& model, const Matrix& factors, const ObservedEntries& entries);

/// Number of factors of a row.
Index row_width(const CompletionModel& model);

}  // namespace pursuit
