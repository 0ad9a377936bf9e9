#include "pursuit/algorithms/trace.hpp"

#include <array>

namespace pursuit {

/// A row of numbers for every step: those that are counts are far below what a double holds.
void visit(StateArchive& archive, const std::string& name, Trace& trace) {
  const auto numbers = [](const auto& each, auto& step) {
    each(step.rank), each(step.objective), each(step.relative_error), each(step.lmo_value), each(step.gain);
    each(step.spread), each(step.iterations), each(step.sweeps), each(step.seconds);
    each(step.left_support), each(step.right_support), each(step.last_sweep);
  };
  Index steps = Index(trace.size());
  archive(name + ".steps", steps, 0, 1 << 24);
  std::vector<double> list;
  for (Step& step : trace) numbers([&](auto& number) { list.push_back(double(number)); }, step);
  constexpr Index kNumbers = 12;
  archive(name + ".numbers", list, kNumbers * steps);
  if (!archive.reads()) return;
  trace.assign(std::size_t(steps), {});
  auto next = list.begin();
  for (Step& step : trace)
    numbers([&](auto& number) { number = static_cast<std::remove_reference_t<decltype(number)>>(*next++); },
            step);
}

}  // namespace pursuit
