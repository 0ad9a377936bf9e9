/* A structure of your own for `pursuit`, in any language that can make a C function.
 *
 *   cc -shared -fPIC -O2 prefixes.c -o prefixes.so -lm
 *   pursuit atoms plugin:./prefixes.so:prefixes                      checks the laws on random vectors
 *   pursuit factor A.npy --rank 3 --left plugin:./prefixes.so:prefixes
 *
 * The set here: vectors that are constant up to some entry and zero after it, scaled to unit norm. All that
 * has to be said about a set is which member u has the largest inner product with a given g.
 */

#include <math.h>

/* Writes the best member for g into u, both of n entries. Returns 0, or any other number to report a failure. */
int prefixes(const double* g, double* u, long n) {
  double sum = 0, best = -INFINITY;
  long length = 1;
  for (long i = 0; i < n; ++i) {
    sum += g[i];
    if (sum / sqrt((double)(i + 1)) > best) {
      best = sum / sqrt((double)(i + 1));
      length = i + 1;
    }
  }
  for (long i = 0; i < n; ++i) u[i] = i < length ? 1 / sqrt((double)length) : 0.0;
  return 0;
}
