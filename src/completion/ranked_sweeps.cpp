// Sweeps that ranks share. Each rank has the entries of its own members of either side, and updates them;
// what it has found goes to all. Between runs of sweeps rank 0 has everything: it alone widens, keeps, starts
// and decides. Numbers that all ranks have come out of a collective and are rank 0's anew with every sweep.

#include <cstring>

#include "completion/bayesian_factors.hpp"
#include "data/ranked_rows.hpp"

namespace pursuit {
namespace {

/// Numbers that rank 0 has and all need, as many everywhere.
template <class Number>
void tell_all(Ranks& ranks, std::vector<Number>& numbers) {
  auto count = std::int64_t(numbers.size());
  ranks.broadcast(&count, sizeof count);
  numbers.resize(std::size_t(count));
  ranks.broadcast(numbers.data(), numbers.size() * sizeof(Number));
}

/// What rank 0 has of a vector from before.. to after[rank] - 1, to each rank.
template <class Number>
void deal_slices(Ranks& ranks, const std::vector<Number>* all, const std::vector<std::int64_t>& ends,
                 std::vector<Number>& own) {
  std::vector<Parcel> outgoing, incoming;
  for (int rank = 1; rank < ranks.size() && ranks.leads(); ++rank) {
    const std::int64_t first = ends[std::size_t(rank)], last = ends[std::size_t(rank) + 1];
    outgoing.push_back(
        {rank, const_cast<Number*>(all->data() + first), std::size_t(last - first) * sizeof(Number)});
  }
  if (!ranks.leads()) {
    own.resize(std::size_t(ends[std::size_t(ranks.rank()) + 1] - ends[std::size_t(ranks.rank())]));
    incoming.push_back({0, own.data(), own.size() * sizeof(Number)});
  }
  ranks.exchange(outgoing, incoming);
}

/// What a rank that follows has of the entries of a side.
struct OwnEntries {
  GroupedEntries entries;
  std::vector<float> weights;
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
  std::vector<std::int64_t> member_ends, entry_ends;  // of the ranks, each from the end of the one before
  for (int rank = 0; rank <= ranks.size(); ++rank) member_ends.push_back(shares.first(rank));
  if (all)
    for (const std::int64_t member : member_ends) entry_ends.push_back(all->entries().start[member]);
  tell_all(ranks, entry_ends);

  auto own = std::make_shared<OwnEntries>();
  std::vector<std::int64_t> starts;
  const GroupedEntries* entries = all ? &all->entries() : nullptr;
  deal_slices(ranks, entries ? &entries->start : nullptr, member_ends, starts);
  deal_slices(ranks, entries ? &entries->index : nullptr, entry_ends, own->entries.index);
  deal_slices(ranks, entries ? &entries->value : nullptr, entry_ends, own->entries.value);
  if (weighted) deal_slices(ranks, all ? all->weights() : nullptr, entry_ends, own->weights);
  if (all) return all;
  auto& start = own->entries.start;
  start.assign(std::size_t(cuts.back()) + 1, std::int64_t(own->entries.index.size()));
  std::fill_n(start.begin(), shares.first(), 0);
  for (std::size_t i = 0; i < starts.size(); ++i)
    start[std::size_t(shares.first()) + i] = starts[i] - starts.front();
  own->tasks = std::make_unique<EntryTasks>(own->entries, weighted ? &own->weights : nullptr, shares);
  return {own, own->tasks.get()};
}

}  // namespace

BayesianFactors::BayesianFactors(Ranks& ranks) : ranks_(&ranks), mean_(0), scale_(1), random_(0) {
  deal_entries();
}

void BayesianFactors::follow(SweepOrder order) {
  switch (order) {
    case SweepOrder::take_entries: break;
    case SweepOrder::take_state: deal_state(); break;
    case SweepOrder::sweep:
    case SweepOrder::draw:
      agree();
      advance(order == SweepOrder::draw);
      break;
    case SweepOrder::give_state: collect_state(); break;
  }
}

void BayesianFactors::ask(SweepOrder order, const std::function<void()>& own_part) {
  team_->ask({.order = Order::complete, .columns = std::int64_t(order)}, own_part);
}

void BayesianFactors::lead(SweepOrder order) {
  if (!entries_dealt_) ask(SweepOrder::take_entries, [&] { deal_entries(); });
  if (!entries_dealt_ || !state_dealt_) ask(SweepOrder::take_state, [&] { deal_state(); });
  entries_dealt_ = state_dealt_ = true;
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

void BayesianFactors::deal_entries() {
  struct Head {
    Loss::Kind loss;
    bool use_pattern;
    int threads;
    double mean, scale, count;
    std::size_t regressions[2];
  } head{loss_.kind,
         use_pattern_,
         threads_,
         mean_,
         scale_,
         count_,
         {rows_.regressions.size(), cols_.regressions.size()}};
  ranks_->broadcast(&head, sizeof head);
  rows_.entries = dealt(*ranks_, rows_.entries);
  cols_.entries = dealt(*ranks_, cols_.entries);
  if (!ranks_->leads()) {
    loss_.kind = head.loss;
    use_pattern_ = head.use_pattern;
    threads_ = head.threads;
    mean_ = head.mean;
    scale_ = head.scale;
    count_entries();
    count_ = head.count;
    for (FactorSide* side : {&rows_, &cols_}) {
      side->noise_weight.resize(std::size_t(side->size()));
      side->squared_error.resize(std::size_t(side->size()));
    }
    set_width(kFactorLanes);
  }
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
  for (FactorSide* side : {&rows_, &cols_}) {
    const MemberShares& shares = side->entries->shares();
    for (auto* all : {&side->mean, &side->variance}) shares.from_leader(*all);
    shares.from_leader(side->noise_weight);
    shares.deal({{side->prior_mean.data(), width_}, {side->squared_error.data(), 1}});
    for (PriorRegression& regression : side->regressions) regression.deal();
  }
}

void BayesianFactors::collect_state() {
  for (FactorSide* side : {&rows_, &cols_}) {
    side->entries->shares().collect({{side->prior_mean.data(), width_}, {side->squared_error.data(), 1}});
    for (PriorRegression& regression : side->regressions) regression.collect();
  }
}

}  // namespace pursuit
