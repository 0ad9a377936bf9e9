#include "pursuit/base/checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pursuit/base/error.hpp"
#include "pursuit/base/version.hpp"

namespace pursuit {
namespace {

constexpr const char* kRun = "run";  // the section of what is about the run as a whole
constexpr int kFormat = 1;

/// FNV-1a, eight bytes at a time.
std::uint64_t hash_of(const void* bytes, std::size_t count) {
  constexpr std::uint64_t kOffset = 0xcbf29ce484222325U, kPrime = 0x100000001b3U;
  std::uint64_t hash = kOffset ^ (count * kPrime);
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (std::size_t done = 0; done < count;) {
    const std::size_t part = std::min(sizeof(std::uint64_t), count - done);
    std::uint64_t word = 0;
    std::copy_n(at + done, part, reinterpret_cast<unsigned char*>(&word));
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
    done += part;
  }
  return hash;
}

}  // namespace

void Identity::add(const std::string& name, double value) {
  add(name, fmt::format("{}", value));
}

void Identity::add_bytes(const std::string& name, const void* bytes, std::size_t count) {
  std::string text = fmt::format("{:016x}", hash_of(bytes, count));
  if (!parts_.empty() && parts_.back().first == name) {
    const std::string both = parts_.back().second + text;
    parts_.back().second = fmt::format("{:016x}", hash_of(both.data(), both.size()));
  } else {
    add(name, std::move(text));
  }
}

void Checkpoints::resume(Snapshot snapshot, std::string file) {
  resumed_ = std::move(snapshot);
  file_ = std::move(file);
}

void Checkpoints::begin(const Identity& identity) {
  identity_ = identity;
  open_ = true;
  steps_ = 0;
  last_seconds_ = seconds_before_ = held_seconds_ = 0;
  if (resumed_.empty()) {
    held_ = snapshot(0);
    return;
  }
  StateArchive archive(resumed_, kRun, file_);
  int format = 0;
  archive("format", format, kFormat, kFormat);
  std::string written_by;
  archive("version", written_by);
  if (written_by != version())
    throw InvalidInput(
        fmt::format("{}: written by version {}; this is {}, whose numbers may differ: "
                    "go on with the version that wrote it",
                    file_, written_by, version()));
  for (const auto& [name, here] : identity.parts()) {
    std::string there;
    archive.in("of")(name, there);
    if (there != here)
      throw InvalidInput(fmt::format("{}: a checkpoint of another run: {} is {} there and {} here", file_,
                                     name, there, here));
  }
  archive("seconds", seconds_before_);
  archive.require(seconds_before_ >= 0, "its seconds are negative");
  last_seconds_ = seconds_before_;
}

bool Checkpoints::resumes(const std::string& part) const {
  const auto found = resumed_.lower_bound(part + '.');
  return found != resumed_.end() && found->first.starts_with(part + '.');
}

void Checkpoints::step(double seconds, bool last) {
  if (!open_ || !writer_) return;
  ++steps_;
  const bool due = last || steps_ >= rhythm_.steps || seconds - last_seconds_ >= rhythm_.seconds;
  if (due) {
    write(snapshot(seconds), seconds, last);
  } else if (holds_) {
    held_ = snapshot(seconds);
    held_seconds_ = seconds;
  }
}

void Checkpoints::leave() {
  if (open_ && writer_ && !held_.empty()) write(Snapshot(std::move(held_)), held_seconds_, true);
  open_ = false;
}

void Checkpoints::write(const Snapshot& snapshot, double seconds, bool last) {
  writer_(snapshot);
  held_.clear();
  steps_ = 0;
  last_seconds_ = seconds;
  open_ = !last;
}

Snapshot Checkpoints::snapshot(double seconds) const {
  Snapshot snapshot;
  StateArchive archive(snapshot, kRun);
  int format = kFormat;
  std::string written_by = version();
  archive("format", format);
  archive("version", written_by);
  archive("seconds", seconds);
  StateArchive of = archive.in("of");
  for (auto [name, value] : identity_.parts()) of(name, value);
  for (const Kept* part : at_work_) {
    StateArchive own(snapshot, part->part_);
    bool there = true;
    own("kept", there);  // a part may have nothing else to say
    part->visit_(own);
  }
  return snapshot;
}

Kept::Kept(Checkpoints* checkpoints, std::string part, std::function<void(StateArchive&)> visit)
    : checkpoints_(checkpoints), part_(std::move(part)), visit_(std::move(visit)) {
  if (!checkpoints_) return;
  if (checkpoints_->resumes(part_)) {
    StateArchive archive(checkpoints_->resumed_, part_, checkpoints_->file_);
    visit_(archive);
    resumed_ = true;
    Snapshot& rest = checkpoints_->resumed_;  // for this once
    rest.erase(rest.lower_bound(part_ + '.'), rest.lower_bound(part_ + '/'));
  }
  checkpoints_->at_work_.push_back(this);
}

Kept::~Kept() {
  if (checkpoints_) std::erase(checkpoints_->at_work_, this);
}

}  // namespace pursuit
