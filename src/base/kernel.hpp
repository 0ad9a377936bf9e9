#pragma once
// PURSUIT_KERNEL marks a plain loop to be compiled for several instruction sets, chosen when the program
// starts. The package is built for the baseline processor, so that Eigen's types mean the same to the library
// and to its users; the few loops that decide the speed get the wide vectors this way. Where a loop has to
// know how many vector registers there are, it is written for each KernelLevel and chosen by the caller.

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define PURSUIT_KERNEL __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PURSUIT_KERNEL
#endif

namespace pursuit {

enum class KernelLevel { baseline, v3, v4 };  // of x86-64

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define PURSUIT_KERNEL_V3 __attribute__((target("arch=x86-64-v3")))
#define PURSUIT_KERNEL_V4 __attribute__((target("arch=x86-64-v4")))
/// The best that this processor has.
inline KernelLevel kernel_level() {
  if (__builtin_cpu_supports("x86-64-v4")) return KernelLevel::v4;
  return __builtin_cpu_supports("x86-64-v3") ? KernelLevel::v3 : KernelLevel::baseline;
}
#else
#define PURSUIT_KERNEL_V3
#define PURSUIT_KERNEL_V4
inline KernelLevel kernel_level() {
  return KernelLevel::baseline;
}
#endif

}  // namespace pursuit
