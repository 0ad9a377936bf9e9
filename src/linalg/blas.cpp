#include "linalg/blas.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <new>
#include <type_traits>

#include "pursuit/base/error.hpp"

// OpenBLAS exports its allocator without declaring it. Buffers that were freed stay, for the next caller.
extern "C" void* blas_memory_alloc(int position);
extern "C" void blas_memory_free(void* buffer);

namespace pursuit {

static_assert(sizeof(blasint) == sizeof(int));

namespace {

std::mutex setting;
int alive = 0;     // objects alive
int previous = 1;  // threads of OpenBLAS before the first of them
int calling = 0;   // threads that may be in OpenBLAS
int buffers = 0;   // that OpenBLAS is known to have

/// The first buffer is needed; the others must leave room for the work: two buffers.
bool has_room_for_a_buffer(bool first) {
  constexpr std::size_t kBuffer = (std::size_t{128} << 20) + (std::size_t{1} << 16);
  const std::size_t size = first ? kBuffer : 3 * kBuffer;
  void* room = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  ::munmap(room, size);
  return true;
}

/// Makes OpenBLAS have so many buffers, or as many as there is memory for.
void provide_buffers(int wanted) {
  constexpr std::size_t kMost = 64;  // half of those that OpenBLAS can keep account of
  std::array<void*, kMost> held;
  const std::size_t count = std::min(std::size_t(wanted), kMost);
  std::size_t had = 0;
  const auto one_is_free = [&] { return int(had) + calling < buffers; };
  while (had < count && (one_is_free() || has_room_for_a_buffer(had == 0)))
    held[had++] = blas_memory_alloc(0);
  for (std::size_t k = 0; k < had; ++k) blas_memory_free(held[k]);
  buffers = std::max(buffers, int(had));
}

}  // namespace

int blas_size(Index size) {
  if (size > std::numeric_limits<int>::max())
    throw InvalidInput(fmt::format("a dense matrix has {} rows or columns; this BLAS counts to {}", size,
                                   std::numeric_limits<int>::max()));
  return int(size);
}

SingleThreadedBlas::SingleThreadedBlas(int callers) : callers_(callers) {
  const std::lock_guard lock(setting);
  if (calling + callers > buffers) {
    provide_buffers(calling + callers);
    callers_ = std::min(callers, buffers - calling);
    if (callers > 0 && callers_ < 1) throw std::bad_alloc();
  }
  calling += callers_;
  if (alive++ > 0) return;
  previous = openblas_get_num_threads();
  if (previous != 1) openblas_set_num_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
  const std::lock_guard lock(setting);
  calling -= callers_;
  if (--alive == 0 && previous != 1) openblas_set_num_threads(previous);
}

template <class Scalar>
void block_product(const DenseView<Scalar>& A, const Scalar* V, Index columns, Scalar* out,
                   Index out_stride) {
  const auto n = blas_size(A.rows), m = blas_size(A.cols), k = blas_size(columns);
  const auto lda = blas_size(A.stride), ldv = blas_size(A.cols), ldo = blas_size(out_stride);
  const auto op =
      A.row_major ? CblasTrans : CblasNoTrans;  // a row-major matrix is its transpose, column-major
  if (columns == 1) {
    const blasint stored_rows = A.row_major ? m : n, stored_cols = A.row_major ? n : m;
    if constexpr (std::is_same_v<Scalar, double>)
      cblas_dgemv(CblasColMajor, op, stored_rows, stored_cols, 1.0, A.data, lda, V, 1, 0.0, out, 1);
    else
      cblas_sgemv(CblasColMajor, op, stored_rows, stored_cols, 1.0F, A.data, lda, V, 1, 0.0F, out, 1);
  } else {
    if constexpr (std::is_same_v<Scalar, double>)
      cblas_dgemm(CblasColMajor, op, CblasNoTrans, n, k, m, 1.0, A.data, lda, V, ldv, 0.0, out, ldo);
    else
      cblas_sgemm(CblasColMajor, op, CblasNoTrans, n, k, m, 1.0F, A.data, lda, V, ldv, 0.0F, out, ldo);
  }
}

Matrix transposed_product(const ConstMatrixRef& A, const ConstMatrixRef& B) {
  const SingleThreadedBlas single_threaded(1);
  Matrix result(A.cols(), B.cols());
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, blas_size(A.cols()), blas_size(B.cols()),
              blas_size(A.rows()), 1.0, A.data(), blas_size(A.outerStride()), B.data(),
              blas_size(B.outerStride()), 0.0, result.data(), blas_size(result.rows()));
  return result;
}

void subtract_product(const ConstMatrixRef& A, const ConstMatrixRef& B, MatrixRef out) {
  const SingleThreadedBlas single_threaded(1);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, blas_size(A.rows()), blas_size(B.cols()),
              blas_size(A.cols()), -1.0, A.data(), blas_size(A.outerStride()), B.data(),
              blas_size(B.outerStride()), 1.0, out.data(), blas_size(out.outerStride()));
}

template void block_product(const DenseView<double>&, const double*, Index, double*, Index);
template void block_product(const DenseView<float>&, const float*, Index, float*, Index);

}  // namespace pursuit
