#pragma once
// What a page is about: atoms over modes with names, whatever kind of model they come from.

#include <map>
#include <string>
#include <vector>

#include "pursuit/algorithms/trace.hpp"
#include "pursuit/report/report_page.hpp"
#include "report/html.hpp"

namespace pursuit::report {

struct SubjectMode {
  std::string title;               // "rows", "columns", "mode 2"
  Matrix factors;                  // one column per atom
  std::vector<std::string> names;  // may be empty: then indices are called 0, 1, ...

  std::string name(Index i) const;
};

struct Subject {
  std::string kind;         // "factorization", ...
  std::vector<Fact> cards;  // what is seen first
  std::vector<Fact> facts;
  std::map<std::string, std::string> metadata;
  std::vector<SubjectMode> modes;
  Vector weights;
  std::string atom_word = "atom", weight_word = "weight";
  Vector shares = Vector(0);  // of the variance, by atom; or empty
  Trace trace = {};
  bool squares = true;
};

Subject subject_of(const ModelFile& file);
Subject subject_of(const CompletionFile& file);

/// Why a run ended, in words.
std::string end_of(const std::map<std::string, std::string>& metadata);

// Parts of a page; without content where there is nothing to show.
Section fit_section(const Subject& subject);
Section path_section(const Subject& subject);
Section weights_section(const Subject& subject);
Section overlap_section(const Subject& subject);
Section atoms_section(const Subject& subject, const ReportOptions& options);
Section labels_section(const Subject& subject, const ReportOptions& options);
std::vector<Section> completion_sections(const CompletionFile& file, const ReportOptions& options);

}  // namespace pursuit::report
