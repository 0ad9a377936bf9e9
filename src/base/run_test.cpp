#include "pursuit/base/run.hpp"

#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test_support.hpp"

namespace pursuit {
namespace {

using Phase = Moment::Phase;

TEST(Run, TellsTheObserverWhatItWasToldAndTheTime) {
  std::vector<Moment> seen;
  pursuit::Run run({}, [&](const Moment& moment) {
    seen.push_back(moment);
    return true;
  });
  EXPECT_TRUE(run.go_on({.phase = Phase::polish, .rank = 2, .target_rank = 5, .sweep = 3, .max_sweeps = 7}));
  EXPECT_TRUE(run.go_on({.phase = Phase::sampling, .noise = 0.5, .validation = 0.25}));
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].phase, Phase::polish);
  EXPECT_EQ(seen[0].rank, 2);
  EXPECT_EQ(seen[0].target_rank, 5);
  EXPECT_EQ(seen[0].sweep, 3);
  EXPECT_EQ(seen[0].max_sweeps, 7);
  EXPECT_TRUE(std::isnan(seen[0].relative_error)) << "what is not known is no number";
  EXPECT_EQ(seen[1].noise, 0.5);
  EXPECT_EQ(seen[1].validation, 0.25);
  EXPECT_GT(seen[0].seconds, 0);
  EXPECT_GE(seen[1].seconds, seen[0].seconds);
  EXPECT_FALSE(run.finished());
  EXPECT_EQ(run.stop(), Stop::rank_reached);
}

TEST(Run, AnObserverThatSaysNoStopsItForGoodAndIsAskedNoMore) {
  int asked = 0;
  pursuit::Run run({}, [&](const Moment& moment) {
    ++asked;
    return moment.sweep < 2;
  });
  EXPECT_TRUE(run.go_on({.sweep = 1}));
  EXPECT_FALSE(run.go_on({.sweep = 2}));
  EXPECT_FALSE(run.go_on({.sweep = 1}));
  EXPECT_FALSE(run.tell({.sweep = 1}));
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(run.stopped() && run.finished());
  EXPECT_EQ(run.stop(), Stop::interrupted);
}

TEST(Run, StopsAtTheTargetExceptInIterationsThatHaveNoResultYet) {
  pursuit::Run run({.target_error = 0.1});
  EXPECT_TRUE(run.go_on({.phase = Phase::atom, .relative_error = 0.2}));
  EXPECT_TRUE(run.go_on({.phase = Phase::iteration, .relative_error = 0.05}));
  EXPECT_TRUE(run.go_on({.phase = Phase::growing})) << "an unknown error reaches no target";
  EXPECT_TRUE(run.tell({.phase = Phase::atom, .relative_error = 0.05}));
  EXPECT_FALSE(run.go_on({.phase = Phase::atom, .relative_error = 0.1}));
  EXPECT_EQ(run.stop(), Stop::target_error);

  EXPECT_FALSE(pursuit::Run().go_on({.phase = Phase::atom, .relative_error = 0})) << "nothing is left to do";
  EXPECT_TRUE(pursuit::Run({.target_error = -1}).go_on({.phase = Phase::atom, .relative_error = 0}));
}

TEST(Run, StopsWhenTheTimeIsOverButResultsMayStillBeTold) {
  pursuit::Run run({.time_limit = 1e-9});
  EXPECT_TRUE(run.tell({}));
  EXPECT_FALSE(run.go_on({}));
  EXPECT_EQ(run.stop(), Stop::time_limit);
  for (const double limit : {0.0, -1.0, std::nan("")})
    EXPECT_THAT(message_of<InvalidArgument>([&] { pursuit::Run({.time_limit = limit}); }),
                testing::HasSubstr("must be above 0"));
}

TEST(Run, ThatClockOrObserverStopsLeavesACheckpointAndOneThatIsDoneDoesNot) {
  const auto written = [](const RunLimits& limits, const Observer& observer) {
    int count = 0;
    const Checkpoints::Rhythm rarely;
    pursuit::Run run(limits, observer, {},
                     std::make_shared<Checkpoints>(rarely, [&](const Snapshot&) { ++count; }));
    run.begin_checkpoints({});
    EXPECT_FALSE(run.step_done({.phase = Moment::Phase::atom, .relative_error = 0.5}));
    return count;
  };
  EXPECT_EQ(written({.time_limit = 1e-9}, {}), 1);
  EXPECT_EQ(written({}, [](const Moment&) { return false; }), 1);
  EXPECT_EQ(written({.target_error = 0.6}, {}), 0);
}

TEST(Run, ThatIsLeftInTheMiddleOfAStepKeepsWhatIsHeldOrElseItsBeginning) {
  for (const bool holds : {false, true}) {
    std::vector<double> kept;  // the work that was done by then
    bool wanted = true;
    double done = 0;
    auto checkpoints = std::make_shared<Checkpoints>(Checkpoints::Rhythm{}, [&](const Snapshot& snapshot) {
      const auto found = snapshot.find("work.done");
      kept.push_back(found == snapshot.end() ? -1 : std::get<std::vector<double>>(found->second.values)[0]);
    });
    pursuit::Run run(
        {}, [&](const Moment&) { return wanted; }, {}, checkpoints);
    run.begin_checkpoints({});
    if (holds) checkpoints->hold_states();
    const Kept state(checkpoints.get(), "work", [&](StateArchive& archive) { archive("done", done); });
    for (done = 1; done <= 3; ++done) EXPECT_TRUE(run.step_done({}));
    done = 3.5;
    wanted = false;
    EXPECT_FALSE(run.tell({}));
    EXPECT_FALSE(run.step_done({}));
    EXPECT_EQ(kept, std::vector<double>{holds ? 3.0 : -1.0});
  }
}

TEST(Run, AnEndOfItsOwnGivesWayToAStopAndNotTheOtherWayRound) {
  pursuit::Run run({}, [](const Moment& moment) { return moment.sweep < 1; });
  run.finish(Stop::no_ascent);
  EXPECT_TRUE(run.finished());
  EXPECT_FALSE(run.stopped());
  EXPECT_TRUE(run.go_on({.sweep = 0})) << "a polish may follow";
  EXPECT_EQ(run.stop(), Stop::no_ascent);
  EXPECT_FALSE(run.go_on({.sweep = 1}));
  run.finish(Stop::rank_reached);
  EXPECT_EQ(run.stop(), Stop::interrupted);
}

/// What the processes of one run say, one after the other in one: each decision is that of any of them.
TEST(Run, SeveralProcessesDecideTogetherByClockAndObserver) {
  bool another_wants_to_stop = false;
  std::vector<bool> own;
  const Agreement agreement = [&](bool stop) {
    own.push_back(stop);
    return stop || another_wants_to_stop;
  };
  pursuit::Run run({}, {}, agreement);
  EXPECT_TRUE(run.go_on({}));
  another_wants_to_stop = true;
  EXPECT_FALSE(run.go_on({}));
  EXPECT_EQ(run.stop(), Stop::interrupted);
  EXPECT_EQ(own, (std::vector<bool>{false, false})) << "without a time limit the clock decides nothing";

  pursuit::Run limited({.time_limit = 1e9}, {}, agreement);
  EXPECT_FALSE(limited.go_on({})) << "the clock of another has run out";
  EXPECT_EQ(limited.stop(), Stop::time_limit);
}

TEST(Stop, HasANameAndAnExplanation) {
  std::set<std::string> names;
  for (const Stop stop :
       {Stop::rank_reached, Stop::target_error, Stop::no_ascent, Stop::dependent_atom, Stop::no_gain,
        Stop::all_sweeps, Stop::not_converged, Stop::time_limit, Stop::interrupted}) {
    names.emplace(name(stop));
    EXPECT_GT(std::string(explanation(stop)).size(), 20U);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("rank_reached", "target_error", "no_ascent",
                                                   "dependent_atom", "no_gain", "all_sweeps", "not_converged",
                                                   "time_limit", "interrupted"));
}

}  // namespace
}  // namespace pursuit
