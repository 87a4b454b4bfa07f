/* The least that learning a sparse matrix can cost: one pass of the averaged perceptron over dense
 * arrays of weights (Daume, A Course in Machine Learning, algorithm 7, with its names), in plain C.
 * Nothing is checked, a column is its own place, one vector answers and nothing watches it. Sums
 * run in the order of the row, the intercept first, so the weights are those of streamptron to the
 * last bit.
 *
 * bench_matrix.py compiles it into a folder that is thrown away, with the flags of setup.py. */

#include <stdint.h>

/* Row r is columns[k], values[k] for k in starts[r] .. starts[r + 1]; labels are 0 or 1. w and u
 * are zeros, one for each column; b, beta and c are written, and the averaged weights are then
 * w - u / c and b - beta / c. Returns the number of updates. */
int64_t floor_pass(int64_t n_rows, const int32_t *starts, const int32_t *columns,
                   const double *values, const uint8_t *labels, double *w, double *u,
                   double *b_beta_c)
{
    double b = 0.0, beta = 0.0, c = 1.0;
    int64_t n_updates = 0;
    for (int64_t r = 0; r < n_rows; r++) {
        double y = labels[r] ? 1.0 : -1.0;
        double a = b;
        for (int32_t k = starts[r]; k < starts[r + 1]; k++)
            a += w[columns[k]] * values[k];
        if (y * a <= 0.0) {
            for (int32_t k = starts[r]; k < starts[r + 1]; k++) {
                double step = y * values[k];
                w[columns[k]] += step;
                u[columns[k]] += c * step;
            }
            b += y;
            beta += c * y;
            n_updates++;
        }
        c += 1.0;
    }
    b_beta_c[0] = b;
    b_beta_c[1] = beta;
    b_beta_c[2] = c;
    return n_updates;
}
