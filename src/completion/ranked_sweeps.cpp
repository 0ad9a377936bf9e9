// Sweeps that ranks share. Each rank has the entries of its own members of either side, and updates them;
// what it has found goes to all. Between runs of sweeps rank 0 has everything: it alone widens, keeps, starts
// and decides. Numbers that all ranks have come out of a collective and are rank 0's anew with every sweep.

#include <algorithm>
#include <cstring>
#include <memory>

#include "completion/bayesian_factors.hpp"
#include "data/dealt_entries.hpp"
#include "data/ranked_rows.hpp"

namespace pursuit {
namespace {

/// What a rank that follows has of the entries of a side.
struct OwnEntries {
  DealtEntries dealt;
  std::unique_ptr<EntryTasks> tasks;
};

/// Every rank gets the entries of its own members; rank 0 keeps all.
std::shared_ptr<const EntryTasks> dealt(Ranks& ranks, std::shared_ptr<const EntryTasks> all) {
  std::vector<Index> cuts;
  if (all) cuts = all->shares().cuts();
  tell_all(ranks, cuts);
  std::int64_t weighted = all && all->weights();
  ranks.broadcast(&weighted, sizeof weighted);
  const MemberShares shares(cuts, &ranks);
  auto own = std::make_shared<OwnEntries>();
  own->dealt = deal_groups(ranks, all ? &all->entries() : nullptr, all ? all->weights() : nullptr,
                           shares.first_members());
  if (all) return all;
  own->tasks =
      std::make_unique<EntryTasks>(own->dealt.entries, weighted ? &own->dealt.weights : nullptr, shares);
  return {own, own->tasks.get()};
}

}  // namespace

BayesianFactors::BayesianFactors(Ranks& ranks, Data data) : ranks_(&ranks), mean_(0), scale_(1), random_(0) {
  bind(std::move(data));
  begin_together();
}

void BayesianFactors::follow(SweepOrder order, const ObservedEntries& held_back) {
  std::vector<Moments> none;
  switch (order) {
    case SweepOrder::bind: break;
    case SweepOrder::say: say_all(); break;
    case SweepOrder::take_state: deal_state(); break;
    case SweepOrder::sweep:
    case SweepOrder::draw:
      agree();
      advance(order == SweepOrder::draw);
      break;
    case SweepOrder::judge: judge_all(held_back, false, none); break;
    case SweepOrder::give_state: collect_state(); break;
  }
}

void BayesianFactors::ask(SweepOrder order, const std::function<void()>& own_part) {
  team_->ask({.order = Order::complete, .columns = std::int64_t(order)}, own_part);
}

void BayesianFactors::bind_all() {
  if (!bound_) ask(SweepOrder::bind, [&] { begin_together(); });
  bound_ = true;
}

void BayesianFactors::lead(SweepOrder order) {
  bind_all();
  if (!state_dealt_) ask(SweepOrder::take_state, [&] { deal_state(); });
  state_dealt_ = true;
  ask(order, [&] {
    agree();
    advance(order == SweepOrder::draw);
  });
}

void BayesianFactors::gather() {
  if (!team_ || !state_dealt_) return;
  ask(SweepOrder::give_state, [&] { collect_state(); });
  state_dealt_ = false;  // whatever happens to it now, others do not hear of it
}

/// Followers have been made of their entries: what they need besides.
void BayesianFactors::begin_together() {
  struct Head {
    Loss::Kind loss;
    bool use_pattern;
    int threads;
    double mean, scale;
    std::size_t regressions[2];
  } head{loss_.kind, use_pattern_, threads_,
         mean_,      scale_,       {rows_.regressions.size(), cols_.regressions.size()}};
  ranks_->broadcast(&head, sizeof head);
  if (!ranks_->leads()) {
    loss_.kind = head.loss;
    use_pattern_ = head.use_pattern;
    threads_ = head.threads;
    mean_ = head.mean;
    scale_ = head.scale;
    for (FactorSide* side : {&rows_, &cols_}) side->squared_error.resize(std::size_t(side->size()));
    set_width(kFactorLanes);
  }
  count_entries();
  entries_together_ = false;
  for (const bool of_rows : {true, false}) {
    FactorSide &side = of_rows ? rows_ : cols_, &other = of_rows ? cols_ : rows_;
    for (std::size_t r = 0; r < head.regressions[of_rows ? 0 : 1]; ++r) {
      Features features;
      if (ranks_->leads()) features = side.regressions[r].features();
      if (use_pattern_ && r == 0)
        features.by_feature = other.entries, features.by_member = side.entries;
      else
        for (auto* entries : {&features.by_feature, &features.by_member}) *entries = dealt(*ranks_, *entries);
      tell_all(*ranks_, features.scale);
      if (!ranks_->leads()) add_features(of_rows, std::move(features));
    }
  }
}

/// What weights that rank 0 takes up say of all members.
void BayesianFactors::say() {
  if (team_) bind_all();
  team_ ? ask(SweepOrder::say, [&] { say_all(); }) : say_all();
}

void BayesianFactors::say_all() {
  if (ranks_) {
    int width = width_;
    ranks_->broadcast(&width, sizeof width);
    if (!ranks_->leads()) set_width(width);
  }
  int shared = 0;
  for (FactorSide* side : {&rows_, &cols_})
    for (PriorRegression& regression : side->regressions) regression.say(ranks_, shared, threads_);
}

/// Weights of patterns are drawn by rank 0, which needs all entries for that, once.
void BayesianFactors::bring_entries_together() {
  if (entries_together_ || !use_pattern_ || !ranks_) return;
  entries_together_ = true;
  struct Whole {
    GroupedEntries by_row, by_col;
    std::unique_ptr<EntryTasks> rows, cols;
  };
  const auto whole = std::make_shared<Whole>();
  const auto gathered = [&](const FactorSide& side) {
    const EntryTasks& tasks = *side.entries;
    return gather_groups(*ranks_, tasks.entries(), tasks.start_of_all(), tasks.shares().first_members());
  };
  whole->by_row = gathered(rows_);
  whole->by_col = gathered(cols_);
  if (!ranks_->leads()) return;
  whole->rows = std::make_unique<EntryTasks>(whole->by_row);
  whole->cols = std::make_unique<EntryTasks>(whole->by_col);
  const std::shared_ptr<const EntryTasks> rows(whole, whole->rows.get()), cols(whole, whole->cols.get());
  PriorRegression &of_rows = rows_.regressions.front(), &of_cols = cols_.regressions.front();
  of_rows.take_whole({cols, rows, of_rows.features().scale}, threads_);
  of_cols.take_whole({rows, cols, of_cols.features().scale}, threads_);
}

std::vector<Moments> BayesianFactors::at(const ObservedEntries& places, bool with_variances) {
  std::vector<Moments> moments;
  if (team_ && state_dealt_)
    ask(SweepOrder::judge, [&] { judge_all(places, with_variances, moments); });
  else
    moments_at(places, 0, places.size(), with_variances, moments);
  return moments;
}

/// Everyone looks at some of the places; rank 0 gets all.
void BayesianFactors::judge_all(const ObservedEntries& places, bool with_variances,
                                std::vector<Moments>& moments) {
  ranks_->broadcast(&with_variances, sizeof with_variances);
  const auto first = [&](int rank) { return places.size() * rank / ranks_->size(); };
  std::vector<Moments> own;
  moments_at(places, first(ranks_->rank()), first(ranks_->rank() + 1), with_variances, own);
  moments.resize(ranks_->leads() ? std::size_t(places.size()) : 0);
  std::vector<Parcel> incoming;
  for (int rank = 0; rank < ranks_->size() && ranks_->leads(); ++rank)
    incoming.push_back(
        {rank, moments.data() + first(rank), std::size_t(first(rank + 1) - first(rank)) * sizeof(Moments)});
  ranks_->exchange({{0, own.data(), own.size() * sizeof(Moments)}}, incoming);
}

/// What is not of single members and the same on all ranks.
template <class Visit>
void BayesianFactors::visit_common(const Visit& visit) {
  const auto visit_all = [&](auto& numbers) { visit(numbers.data(), numbers.size() * sizeof(numbers[0])); };
  visit(&random_, sizeof random_);
  visit(&noise_variance_, sizeof noise_variance_);
  visit(&sweeps_, sizeof sweeps_);
  for (FactorSide* side : {&rows_, &cols_}) {
    visit(&side->noise_shape, sizeof side->noise_shape);
    visit_all(side->prior_variance);
    visit_all(side->intercept);
    for (PriorRegression& regression : side->regressions) visit_all(regression.prior_variance());
  }
}

void BayesianFactors::agree() {
  std::vector<char> bytes;
  visit_common([&](const void* data, std::size_t count) {
    bytes.insert(bytes.end(), static_cast<const char*>(data), static_cast<const char*>(data) + count);
  });
  ranks_->broadcast(bytes.data(), bytes.size());
  const char* next = bytes.data();
  visit_common([&](void* data, std::size_t count) {
    std::memcpy(data, next, count);
    next += count;
  });
}

void BayesianFactors::deal_state() {
  int widths[] = {width_, atoms_};
  ranks_->broadcast(widths, sizeof widths);
  if (!ranks_->leads()) set_width(widths[0]);
  atoms_ = widths[1];
  agree();
  int shared = 0;  // tables in memory that machines share
  for (FactorSide* side : {&rows_, &cols_}) {
    const MemberShares& shares = side->entries->shares();
    const auto numbers = std::size_t(side->size() * width_);
    side->mean.share_from_leader(*ranks_, shared++, numbers);
    side->variance.share_from_leader(*ranks_, shared++, numbers);
    side->noise_weight.share_from_leader(*ranks_, shared++, std::size_t(side->size()));
    shares.deal({{side->prior_mean.data(), width_}, {side->squared_error.data(), 1}});
    for (PriorRegression& regression : side->regressions) regression.deal(shared);
  }
  const auto longest = std::size_t(std::max(rows_.size(), cols_.size()));
  Regressors& held = scratch_->held;
  for (auto* table : {&held.scaled, &held.spread})
    table->share(*ranks_, shared++, longest * std::size_t(width_));
  held.offset.share(*ranks_, shared++, longest);
}

void BayesianFactors::collect_state() {
  for (FactorSide* side : {&rows_, &cols_}) {
    if (ranks_->leads())
      for (auto* numbers : {&side->mean, &side->variance, &side->noise_weight}) numbers->take_back();
    side->entries->shares().collect({{side->prior_mean.data(), width_}, {side->squared_error.data(), 1}});
    for (PriorRegression& regression : side->regressions) regression.collect();
  }
}

}  // namespace pursuit
