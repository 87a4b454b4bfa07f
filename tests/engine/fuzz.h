/* A target for libFuzzer. Without it the program reads the files that are named, or runs for some
   seconds on random changes of inputs of its own: fuzz_x SECONDS [SEED], fuzz_x FILE ... */

#ifndef FUZZ_H
#define FUZZ_H

#include "kit.h"

#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Read whole numbers off the front of an input; 0 where it has ended. */
typedef struct fuzz_input {
    const uint8_t *p;
    size_t n;
} fuzz_input;

static inline uint32_t fuzz_byte(fuzz_input *input)
{
    if (input->n == 0)
        return 0;
    input->n--;
    return *input->p++;
}

#if !defined(FUZZ_LIBFUZZER)
static int fuzz_file(const char *name)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(name, "rb");
    if (file == NULL) {
        perror(name);
        return 1;
    }
    size_t n = fread(data, 1, sizeof(data), file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, n);
    return 0;
}

int main(int argc, char **argv)
{
    uint8_t data[512];
    char *end;
    double seconds = argc > 1 ? strtod(argv[1], &end) : 2.0;
    if (argc > 1 && *end != 0) {
        int failed = 0;
        for (int i = 1; i < argc; i++)
            failed |= fuzz_file(argv[i]);
        return failed;
    }
    check_begin(argc - 1, argv + 1);
    clock_t stop = clock() + (clock_t)(seconds * (double)CLOCKS_PER_SEC);
    while (clock() < stop) {
        uint64_t from = check_state; /* the seed with which this input comes first */
        size_t n = check_below(sizeof(data) + 1);
        for (size_t i = 0; i < n; i++)
            data[i] = (uint8_t)check_random();
        check_seed = from;
        LLVMFuzzerTestOneInput(data, n);
    }
    return 0;
}
#endif

#endif
