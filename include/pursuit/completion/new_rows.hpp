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
// bernoulli the same prior stands beside the loss, and Newton's method finds where both are lowest. Where no
// row of the structured atoms is negative by their sets, none of these is either.

#include "pursuit/completion/model.hpp"

namespace pursuit {

/// InvalidInput where an entry lies in no column of the model or is no value that it takes.
void require_new_entries(const CompletionModel& model, const GroupedEntries& entries);

/// n x width posterior means x_i of the rows of `entries`: offset, factors, structured atoms, as far as the
/// model has them. The entries are as require_new_entries() wants them.
Matrix new_row_factors(const CompletionModel& model, const GroupedEntries& entries, int threads = 1);

/// The model with these rows in the place of its own, to predict and recommend for them; InvalidInput as
/// above, and for a row without entries. Where a model has draws, new rows do without.
CompletionModel with_new_rows(const CompletionModel& model, const GroupedEntries& entries, int threads = 1);

/// n x columns predictions for rows with these factors, within the model's range.
Matrix predict_rows(const CompletionModel& model, const Matrix& factors);

/// The error (error_name) on entries of rows with these factors.
double error_of_rows(const CompletionModel& model, const Matrix& factors, const ObservedEntries& entries);

/// Number of factors of a row.
Index row_width(const CompletionModel& model);

}  // namespace pursuit
