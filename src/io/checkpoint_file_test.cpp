#include "pursuit/io/checkpoint_file.hpp"

#include <fstream>

#include "io/npz_archive.hpp"
#include "io/test_support.hpp"

namespace pursuit {
namespace {

using io::message_of;
using io::ScratchDirectory;
using testing::HasSubstr;

struct Counting {
  Index done = 0;
  double share = 0.1;
  Vector numbers = Vector::LinSpaced(5, 0, 1);
  std::vector<float> floats{1, 2.5F};
  std::uint64_t seed = ~std::uint64_t(0);
  bool odd = false;

  void visit(StateArchive& archive) {
    archive("done", done);
    archive("share", share);
    archive("numbers", numbers, 5);
    archive("floats", floats);
    archive("seed", seed);
    archive("odd", odd);
  }
};

/// Counts to ten; returns how many steps it took.
int count_to_ten(const CheckpointsPtr& checkpoints, Counting& state, const std::string& of = "ten") {
  Identity identity;
  identity.add("to", of);
  checkpoints->begin(identity);
  const Kept kept(checkpoints.get(), "counting", [&](StateArchive& archive) { state.visit(archive); });
  int steps = 0;
  while (state.done < 10) {
    ++state.done;
    state.share *= 1.1;
    state.numbers *= 1.01;
    state.odd = !state.odd;
    ++steps;
    checkpoints->step(steps, false);
  }
  return steps;
}

TEST(CheckpointFile, GoesOnFromWhatWasWrittenLast) {
  const ScratchDirectory scratch;
  const std::string file = scratch / "state.npz";
  Counting whole, resumed;
  EXPECT_EQ(count_to_ten(checkpoints_in(file, {.steps = 4}), whole), 10);
  resumed.numbers.setZero();
  resumed.seed = 0;
  EXPECT_EQ(count_to_ten(checkpoints_in(file, {.steps = 1}, file), resumed), 2) << "8 were written";
  EXPECT_EQ(resumed.share, whole.share);
  EXPECT_EQ(resumed.numbers, whole.numbers);
  EXPECT_EQ(resumed.floats, whole.floats);
  EXPECT_EQ(resumed.seed, whole.seed);
  EXPECT_EQ(resumed.odd, whole.odd);
  EXPECT_THAT(scratch.files(), testing::ElementsAre("state.npz"));
}

TEST(CheckpointFile, IsWrittenByTheClockToo) {
  int written = 0;
  auto checkpoints =
      std::make_shared<Checkpoints>(Checkpoints::Rhythm{.seconds = 3}, [&](const Snapshot&) { ++written; });
  Counting state;
  count_to_ten(checkpoints, state);  // a second each
  EXPECT_EQ(written, 3);
}

TEST(CheckpointFile, OfAnotherRunVersionOrKindIsRefused) {
  const ScratchDirectory scratch;
  const std::string file = scratch / "state.npz";
  Counting state;
  count_to_ten(checkpoints_in(file, {.steps = 4}), state);
  EXPECT_THAT(message_of<InvalidInput>([&] { count_to_ten(checkpoints_in({}, {}, file), state, "eleven"); }),
              HasSubstr("state.npz: a checkpoint of another run: to is ten there and eleven here"));
  Snapshot snapshot = read_checkpoint(file);
  const auto refusal = [&](const std::string& name, StoredArray array) {
    Snapshot changed = snapshot;
    changed[name] = std::move(array);
    write_checkpoint(scratch / "changed.npz", changed);
    return message_of<InvalidInput>(
        [&] { count_to_ten(checkpoints_in({}, {}, scratch / "changed.npz"), state); });
  };
  EXPECT_THAT(refusal("run.version", {{}, std::vector<std::string>{"0.0.1"}}),
              HasSubstr("written by version 0.0.1"));
  EXPECT_THAT(refusal("run.format", {{}, std::vector<std::int64_t>{9}}),
              HasSubstr("'run.format' is 9; allowed are 1 to 1"));
  EXPECT_THAT(refusal("counting.done", {{}, std::vector<std::int64_t>{-3}}),
              HasSubstr("'counting.done' is -3"));
  EXPECT_THAT(refusal("counting.done", {{}, std::vector<double>{3}}), HasSubstr("wrong type"));
  EXPECT_THAT(refusal("counting.odd", {{}, std::vector<std::int64_t>{2}}), HasSubstr("allowed are 0 to 1"));
  EXPECT_THAT(refusal("counting.numbers", {{4}, std::vector<double>(4, 1.0)}),
              HasSubstr("array 'counting.numbers' has 4 entries along dimension 0 instead of 5"));
  EXPECT_THAT(refusal("counting.numbers", {{5}, std::vector<double>(5, std::nan(""))}),
              HasSubstr("not finite"));
  std::ofstream(scratch / "text") << "not an archive";
  EXPECT_THAT(message_of<InvalidInput>([&] { read_checkpoint(scratch / "text"); }), HasSubstr("text"));
  write_npz(scratch / "model.npz", {{"left", {{1}, std::vector<double>{1}}}});
  EXPECT_THAT(message_of<InvalidInput>([&] { read_checkpoint(scratch / "model.npz"); }),
              HasSubstr("model.npz: not a checkpoint of a run"));
}

TEST(CheckpointFile, RhythmsAreStepsOrSeconds) {
  EXPECT_EQ(rhythm_of("20").steps, 20);
  EXPECT_EQ(rhythm_of("90s").seconds, 90);
  EXPECT_EQ(rhythm_of("0.5s").seconds, 0.5);
  for (const char* text : {"", "s", "0", "-1", "1.5", "1m", "-1s", "nans", "infs", "1 s", "20x"})
    EXPECT_THAT(message_of<InvalidArgument>([&] { rhythm_of(text); }),
                HasSubstr(std::string("checkpoint every '") + text + "'"));
}

}  // namespace
}  // namespace pursuit
