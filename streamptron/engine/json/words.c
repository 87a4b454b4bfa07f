#include "json/words.h"

#include <string.h>

SP_PRIVATE int sp_fault_add_bytes(sp_fault *fault, const void *p, size_t n)
{
    size_t room = SP_WHY_ROOM - 1 - fault->n;
    bool cut = n > room;
    if (cut)
        n = room;
    memcpy(fault->text + fault->n, p, n);
    fault->n += n;
    if (cut)
        memcpy(fault->text + SP_WHY_ROOM - 4, "...", 3);
    fault->text[fault->n] = 0;
    return fault->kind;
}

SP_PRIVATE int sp_fault_add(sp_fault *fault, const char *words)
{
    return sp_fault_add_bytes(fault, words, strlen(words));
}

SP_APART SP_PRIVATE int sp_fault_say(sp_fault *fault, int kind, const char *words)
{
    fault->kind = kind;
    fault->n = 0;
    return sp_fault_add(fault, words);
}

SP_PRIVATE int sp_fault_add_number(sp_fault *fault, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    return sp_fault_add_bytes(fault, digits + at, sizeof(digits) - at);
}

SP_PRIVATE int sp_fault_memory(sp_fault *fault)
{
    return sp_fault_say(fault, SP_WHY_MEMORY, "no memory for the model");
}
