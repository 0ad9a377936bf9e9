#pragma once
// Checkpoints: what a run needs to go on from where it was, whenever it ends. Every part of it that iterates
// keeps its state (`Kept`) while it is at work; between two steps the states of all parts that are at work
// are one snapshot. A run that takes it up does what it did before up to there, finds each part's state where
// that begins its work, and gives what it would have given, bit for bit.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pursuit/base/state_archive.hpp"

namespace pursuit {

/// What a run is about, by name: a snapshot is of use only where all of it is the same.
class Identity {
 public:
  void add(const std::string& name, std::string value) { parts_.emplace_back(name, std::move(value)); }
  void add(const std::string& name, double value);
  /// A hash of bytes, of many calls where the name stays.
  void add_bytes(const std::string& name, const void* bytes, std::size_t count);
  void add(const std::string& name, const Matrix& numbers) {
    add_bytes(name, numbers.data(), std::size_t(numbers.size()) * sizeof(double));
  }
  template <class Number>
  void add_list(const std::string& name, const std::vector<Number>& list) {
    add_bytes(name, list.data(), list.size() * sizeof(Number));
  }
  const std::vector<std::pair<std::string, std::string>>& parts() const { return parts_; }

 private:
  std::vector<std::pair<std::string, std::string>> parts_;
};

class Kept;

class Checkpoints {
 public:
  /// A snapshot is written after so many steps or seconds, whichever comes first, and where a run is stopped.
  struct Rhythm {
    Index steps = std::numeric_limits<Index>::max();
    double seconds = std::numeric_limits<double>::infinity();
  };
  using Writer = std::function<void(const Snapshot&)>;

  Checkpoints(const Rhythm& rhythm, Writer writer) : rhythm_(rhythm), writer_(std::move(writer)) {}
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  /// The next run goes on from here; `file` is for messages.
  void resume(Snapshot snapshot, std::string file);

  /// A run begins. InvalidInput where it is to go on from a snapshot of another one: what differs.
  void begin(const Identity& identity);
  /// Of the runs that it goes on from.
  double seconds_before() const { return seconds_before_; }
  /// Whether a part of this name will find its state.
  bool resumes(const std::string& part) const;

  /// A step is done, and all states are whole. The run ends here where it is the last one.
  void step(double seconds, bool last);

  /// Steps of this run may be left half done: the state after every whole one is held until then.
  void hold_states() { holds_ = true; }
  /// The run is stopped in the middle of a step: what is held is written, which is the beginning of the run
  /// where nothing else has been.
  void leave();

 private:
  friend class Kept;

  Rhythm rhythm_;
  Writer writer_;
  Identity identity_;
  Snapshot resumed_;
  std::string file_;
  std::vector<const Kept*> at_work_;
  Snapshot snapshot(double seconds) const;
  void write(const Snapshot& snapshot, double seconds, bool last);

  bool holds_ = false;
  Snapshot held_;  // not written yet
  double held_seconds_ = 0;
  bool open_ = false;  // a run has begun and not ended
  Index steps_ = 0;    // since the last snapshot
  double seconds_before_ = 0, last_seconds_ = 0;
};

using CheckpointsPtr = std::shared_ptr<Checkpoints>;

/// The state of a part of a run for as long as this lives; `visit` names what belongs to it. Takes up the
/// state that a resumed run has for it.
class Kept {
 public:
  Kept(Checkpoints* checkpoints, std::string part, std::function<void(StateArchive&)> visit);
  ~Kept();
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  bool resumed() const { return resumed_; }

 private:
  friend class Checkpoints;

  Checkpoints* checkpoints_;  // may be null: nothing is kept then
  std::string part_;
  std::function<void(StateArchive&)> visit_;
  bool resumed_ = false;
};

}  // namespace pursuit
