#include "report/subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "pursuit/algorithms/explained_variance.hpp"
#include "pursuit/algorithms/path.hpp"
#include "pursuit/base/run.hpp"

namespace pursuit {
namespace {

std::string value_in(const std::map<std::string, std::string>& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  return found != metadata.end() ? found->second : "";
}

std::string shape_of(const std::vector<report::SubjectMode>& modes) {
  std::vector<Index> sizes;
  sizes.reserve(modes.size());
  for (const auto& mode : modes) sizes.push_back(mode.factors.rows());
  return fmt::format("{}", fmt::join(sizes, " x "));
}

bool is_pca(const ModelFile& file) {
  return value_in(file.metadata, "centered") == "true" || file.column_means.size() > 0;
}

/// Words of the metadata that everybody asks for, in their order; the rest stands at the end of the page.
void add_known_facts(const std::map<std::string, std::string>& metadata, std::vector<report::Fact>& facts) {
  for (const auto& [key, word] :
       std::initializer_list<std::pair<const char*, const char*>>{{"estimator", "estimator"},
                                                                  {"left", "atom set of rows"},
                                                                  {"right", "atom set of columns"},
                                                                  {"modes", "atom sets of modes"},
                                                                  {"weights", "weights"},
                                                                  {"seed", "seed"},
                                                                  {"command", "command"},
                                                                  {"version", "written by version"}}) {
    const std::string value = value_in(metadata, key);
    if (!value.empty()) facts.push_back({word, value});
  }
}

std::vector<std::string> words_between_commas(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ',') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

}  // namespace

std::string mean_in_words(const ModelFile& file) {
  std::string x = "X";
  if (file.own_terms.row_offsets.size() > 0) x += " + row offset + column offset";
  std::string mean = x;
  if (file.loss.kind == Loss::bernoulli) mean = fmt::format("1 / (1 + exp(-({})))", x);
  if (file.loss.kind == Loss::ordinal)
    mean = fmt::format("the expected grade, of P(grade <= k) = 1 / (1 + exp({} - threshold k))", x);
  if (file.loss.has_log_link()) mean = fmt::format("exp({})", x);
  return file.row_scale.size() > 0 ? fmt::format("row scale * {}", mean) : mean;
}

Vector component_shares(const ModelFile& file) {
  const std::string span = value_in(file.metadata, "explained_span");
  if (!is_pca(file) || file.model.factors.modes() != 2 || span.empty()) return Vector(0);
  const Matrix scores = file.model.scaled_left(), &loadings = file.model.right();
  const auto variances = [&](const Matrix& directions) {
    const Matrix projected = scores * (loadings.transpose() * directions);
    return Vector(projected.colwise().squaredNorm().transpose());
  };
  // The squared norm of the model itself, Z U^T, from inner products.
  const double total = ((scores.transpose() * scores).cwiseProduct(loadings.transpose() * loadings)).sum();
  return std::strtod(span.c_str(), nullptr) * explained_variance(variances, total, loadings).shares;
}

std::vector<Index> heaviest_entries(ConstVectorRef values, Index count) {
  std::vector<Index> order;
  order.reserve(std::size_t(values.size()));
  for (Index i = 0; i < values.size(); ++i)
    if (values[i] != 0) order.push_back(i);
  const auto heavier = [&](Index i, Index j) {
    const double a = std::abs(values[i]), b = std::abs(values[j]);
    return a != b ? a > b : i < j;
  };
  const auto kept = std::min<std::size_t>(order.size(), std::size_t(std::max<Index>(count, 0)));
  std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(kept), order.end(), heavier);
  order.resize(kept);
  return order;
}

namespace report {

std::string SubjectMode::name(Index i) const {
  return names.empty() ? fmt::format("{}", i) : names[std::size_t(i)];
}

std::string end_of(const std::map<std::string, std::string>& metadata) {
  std::string stop = value_in(metadata, "stop");
  for (int each = int(Stop::rank_reached); each <= int(Stop::interrupted); ++each)
    if (stop == name(Stop(each))) return fmt::format("{} ({})", explanation(Stop(each)), stop);
  return stop;
}

Subject subject_of(const ModelFile& file) {
  Subject subject;
  const Index modes = file.model.factors.modes();
  subject.weights = file.model.weights;
  subject.metadata = file.metadata;
  subject.trace = path_by_rank(file.trace);
  subject.squares = file.loss.kind == Loss::squares;
  subject.shares = component_shares(file);
  const bool pca = is_pca(file) && modes == 2;
  const std::string silhouette = value_in(file.metadata, "silhouette");
  if (pca) subject.atom_word = "component";
  subject.kind = modes > 2                ? fmt::format("array of {} modes", modes)
                 : pca                    ? "principal components"
                 : file.model.symmetric() ? "symmetric factorization"
                 : !silhouette.empty()    ? "parts that random starts agree on"
                                          : "factorization";
  const auto labels = words_between_commas(value_in(file.metadata, "labels"));
  for (Index mode = 0; mode < modes; ++mode) {
    const bool shared = mode > 0 && file.model.symmetric();
    if (shared) break;  // atoms u u^T are shown once
    SubjectMode each{"", file.model.factors[mode], {}};
    if (modes == 2) {
      each.title = file.model.symmetric() ? "rows and columns" : mode == 0 ? "rows" : "columns";
      each.names = mode == 0 ? file.row_names : file.column_names;
    } else {
      each.title = Index(labels.size()) >= modes ? labels[std::size_t(mode)] : fmt::format("mode {}", mode);
      if (std::size_t(mode) < file.mode_names.size()) each.names = file.mode_names[std::size_t(mode)];
    }
    subject.modes.push_back(std::move(each));
  }
  std::vector<Index> sizes;
  sizes.reserve(std::size_t(modes));
  for (Index mode = 0; mode < modes; ++mode) sizes.push_back(file.model.factors[mode].rows());
  const std::string shape = fmt::format("{}", fmt::join(sizes, " x "));
  subject.cards = {{pca ? "components" : "atoms", fmt::format("{}", file.model.rank())}, {"shape", shape}};
  if (subject.shares.size() > 0) {
    subject.cards.push_back({"of the variance explained", number(subject.shares.sum())});
  } else if (!subject.trace.empty()) {
    const double error = subject.trace.back().relative_error;
    subject.cards.push_back(subject.squares ? Fact{"relative error", number(error)}
                                            : Fact{"of the deviance explained", number(1 - error * error)});
  }
  if (!silhouette.empty())
    subject.cards.push_back({"silhouette", number(std::strtod(silhouette.c_str(), nullptr))});
  if (!subject.trace.empty()) {
    subject.cards.push_back({"seconds", number(subject.trace.back().seconds)});
  }
  subject.facts = {{"model", subject.kind}, {"shape", shape}};
  if (!end_of(file.metadata).empty()) subject.facts.push_back({"how it ended", end_of(file.metadata)});
  subject.facts.push_back({"loss", file.loss.spec()});
  if (!subject.squares || file.own_terms.row_offsets.size() > 0 || file.row_scale.size() > 0)
    subject.facts.push_back({"mean of an entry", mean_in_words(file)});
  if (file.column_means.size() > 0)
    subject.facts.push_back({"data", file.column_deviations.size() > 0
                                         ? "columns centred and scaled to unit variance"
                                         : "columns centred"});
  add_known_facts(file.metadata, subject.facts);
  return subject;
}

Subject subject_of(const CompletionFile& file) {
  const CompletionModel& model = file.model;
  Subject subject;
  subject.kind = model.is_implicit()      ? "completed matrix of implicit feedback"
                 : model.atoms.rank() > 0 ? "completed matrix of structured atoms"
                                          : "completed matrix";
  subject.metadata = file.metadata;
  subject.squares = model.loss.kind == Loss::squares;
  // Self-tuned factors are known up to a rotation and share their size between both sides; they are shown as
  // unit vectors, like atoms.
  const Index tuned = std::max<Index>(model.rows.mean.cols() - 1, 0), rank = model.rank();
  SubjectMode rows{"rows", Matrix(model.row_count(), rank), file.rows.names()};
  SubjectMode cols{"columns", Matrix(model.column_count(), rank), file.cols.names()};
  subject.weights = Vector::Zero(rank);
  for (Index k = 0; k < tuned; ++k) {
    rows.factors.col(k) = model.rows.mean.col(k + 1).cast<double>();
    cols.factors.col(k) = model.cols.mean.col(k + 1).cast<double>();
    const double left = rows.factors.col(k).norm(), right = cols.factors.col(k).norm();
    subject.weights[k] = model.scale * left * right;
    if (left > 0) rows.factors.col(k) /= left;
    if (right > 0) cols.factors.col(k) /= right;
    Index largest = 0;  // signs are nobody's choice: of columns the largest entry is positive
    if (cols.factors.rows() > 0) cols.factors.col(k).cwiseAbs().maxCoeff(&largest);
    if (cols.factors.rows() > 0 && cols.factors(largest, k) < 0) {
      rows.factors.col(k) *= -1;
      cols.factors.col(k) *= -1;
    }
  }
  if (model.atoms.rank() > 0) {
    rows.factors.rightCols(rank - tuned) = model.atoms.left();
    cols.factors.rightCols(rank - tuned) = model.atoms.right();
    subject.weights.tail(rank - tuned) = model.atoms.weights;
  }
  subject.modes = {std::move(rows), std::move(cols)};
  subject.weight_word = tuned > 0 ? "size" : "weight";
  const std::string shape = shape_of(subject.modes);
  subject.cards = {{"atoms beside offsets", fmt::format("{}", rank)}, {"shape", shape}};
  subject.facts = {{"model", subject.kind}, {"shape", shape}};
  if (file.keeps_entries) {
    subject.cards.push_back({"entries", fmt::format("{}", file.seen.index.size())});
    if (!file.held_out.index.empty())
      subject.facts.push_back({"entries held out", fmt::format("{}", file.held_out.index.size())});
  } else {
    subject.facts.push_back({"entries", "not kept in the model"});
  }
  if (std::isfinite(model.noise()) && !model.is_implicit())
    subject.cards.push_back({"noise (sd of an entry)", number(model.noise())});
  if (!end_of(file.metadata).empty()) subject.facts.push_back({"how it ended", end_of(file.metadata)});
  subject.facts.push_back({"loss", model.loss.spec()});
  if (model.is_implicit()) {
    subject.facts.push_back({"weight of what was not seen", number(model.implicit.zeros)});
    subject.facts.push_back({"ridge", number(model.implicit.ridge)});
    subject.facts.push_back({"confidence", model.implicit.confidence.spec()});
  } else {
    subject.facts.push_back({"mean", number(model.mean)});
    subject.facts.push_back(
        {"range of predictions", fmt::format("{} to {}", number(model.lowest), number(model.highest))});
  }
  if (!model.samples.empty())
    subject.facts.push_back({"posterior draws kept", fmt::format("{}", model.samples.size())});
  if (file.row_features)
    subject.facts.push_back({"features of rows", fmt::format("{}", model.rows.features.rows())});
  if (file.col_features)
    subject.facts.push_back({"features of columns", fmt::format("{}", model.cols.features.rows())});
  add_known_facts(file.metadata, subject.facts);
  return subject;
}

}  // namespace report
}  // namespace pursuit
