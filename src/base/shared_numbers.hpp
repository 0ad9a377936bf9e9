#pragma once
// Numbers of a process, or in memory that the ranks of a machine see as one: a table of which each of them
// writes a part stands there once.

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "base/aligned.hpp"
#include "pursuit/base/ranks.hpp"

namespace pursuit {

template <class Number>
class SharedNumbers {
 public:
  using value_type = Number;

  SharedNumbers() = default;
  SharedNumbers(AlignedVector<Number> own) : own_(std::move(own)) { look_at_own(); }
  /// A copy is its process's own, wherever the numbers are.
  SharedNumbers(const SharedNumbers& other)
      : SharedNumbers(AlignedVector<Number>(other.begin(), other.end())) {}
  SharedNumbers(SharedNumbers&& other) noexcept { swap(other); }
  SharedNumbers& operator=(SharedNumbers other) noexcept {
    swap(other);
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Number* data() { return data_; }
  const Number* data() const { return data_; }
  Number* begin() { return data_; }
  Number* end() { return data_ + size_; }
  const Number* begin() const { return data_; }
  const Number* end() const { return data_ + size_; }
  template <class Place>
  Number& operator[](Place place) {
    return data_[place];
  }
  template <class Place>
  const Number& operator[](Place place) const {
    return data_[place];
  }

  /// Shared memory stays in use while it is large enough.
  void resize(std::size_t size) {
    if (shared_ > 0 && size <= shared_)
      size_ = size;
    else
      change([&](AlignedVector<Number>& own) { own.resize(size); });
  }
  void assign(std::size_t size, Number value) { *this = AlignedVector<Number>(size, value); }

  /// From here on they are in memory that the ranks of a machine share under this number; nobody knows what
  /// they are. All ranks call it together.
  void share(Ranks& ranks, int number, std::size_t size) {
    data_ = static_cast<Number*>(ranks.shared(number, size * sizeof(Number)));
    shared_ = size_ = size;
    own_ = AlignedVector<Number>();  // {} would keep its memory
  }
  /// The same with what rank 0 has.
  void share_from_leader(Ranks& ranks, int number, std::size_t size) {
    if (ranks.leads()) take_back();  // sharing may move what there is
    const AlignedVector<Number> numbers = std::move(own_);
    share(ranks, number, size);
    if (ranks.leads()) std::copy(numbers.begin(), numbers.end(), data_);
    pursuit::share_from_leader(ranks, data_, size * sizeof(Number));
  }
  /// The numbers as this process's own again.
  void take_back() {
    if (shared_ > 0) *this = SharedNumbers(std::as_const(*this));
  }
  /// As a list of this process, which may have another length afterwards.
  template <class Change>
  void change(const Change& change) {
    take_back();
    change(own_);
    look_at_own();
  }

  friend bool operator==(const SharedNumbers& a, const SharedNumbers& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void look_at_own() {
    data_ = own_.data();
    size_ = own_.size();
    shared_ = 0;
  }
  void swap(SharedNumbers& other) noexcept {
    std::swap(own_, other.own_);  // vectors that are swapped keep their memory
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(shared_, other.shared_);
  }

  AlignedVector<Number> own_;
  Number* data_ = nullptr;
  std::size_t size_ = 0, shared_ = 0;  // how many there are, and room for them in shared memory
};

}  // namespace pursuit
