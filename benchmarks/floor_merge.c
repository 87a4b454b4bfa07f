/* The least that a merge has to do: the mean of the weights of those who differ from the base, and
   the averaging term that goes with it, over plain arrays of [w, v]. */

#include <stddef.h>

void merge(const double *base, const double *const *shards, int k, double *to, ptrdiff_t n)
{
    const double c0 = 1000.0, c = 1800.0, c_k = 1100.0, n_k = 100.0, N = 800.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double w0 = base[2 * i], v0 = base[2 * i + 1], S0 = c0 * w0 - v0;
        double total = 0.0, sums = 0.0, seen = 0.0, last = 0.0;
        int count = 0;
        for (int j = 0; j < k; j++) {
            const double w = shards[j][2 * i], v = shards[j][2 * i + 1];
            if (w == w0 && v == v0) continue;
            total += w;
            sums += (c_k * w - v) - S0;
            seen += n_k;
            last = w;
            count++;
        }
        if (count == 0) {
            to[2 * i] = w0;
            to[2 * i + 1] = v0;
            continue;
        }
        to[2 * i] = count == 1 ? last : total / count;
        to[2 * i + 1] = c * to[2 * i] - (S0 + (N * sums) / seen);
    }
}
