#pragma once
// PURSUIT_KERNEL marks a plain loop to be compiled for several instruction sets, chosen when the program
// starts. The package is built for the baseline processor, so that Eigen's types mean the same to the library
// and to its users; the few loops that decide the speed get the wide vectors this way, and dense products get
// them from OpenBLAS.

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define PURSUIT_KERNEL __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PURSUIT_KERNEL
#endif
