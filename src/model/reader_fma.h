/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_fma.h - a * b + c rounded once, for processors that have no such
 * instruction; the reader's "scalar" arithmetic there.
 *
 * The product of two floats is exact as a double. Their sum with the third is
 * made a double and what that lost; a sum that lost something and ends in an
 * even digit steps to the odd neighbour on the side of what was lost. A double
 * has far more than two digits beyond a float's, so that rounding such a sum
 * to a float gives what rounding the true one would: for every input, with
 * subnormals and what overflows, as no such product or sum leaves a double's
 * range. Of what is no number only the sign and payload are open.
 */
#ifndef MODEL_READER_FMA_H
#define MODEL_READER_FMA_H

#include <stdint.h>

typedef float reader_four __attribute__((vector_size(16), aligned(4)));
typedef float reader_two __attribute__((vector_size(8)));
typedef double reader_wide __attribute__((vector_size(16)));
typedef uint64_t reader_bits __attribute__((vector_size(16)));

static inline reader_two reader_fma_two(reader_two a, reader_two b,
                                        reader_two c)
{
    reader_wide product = __builtin_convertvector(a, reader_wide) *
                          __builtin_convertvector(b, reader_wide);
    reader_wide add = __builtin_convertvector(c, reader_wide);
    reader_wide sum = product + add;
    reader_wide added = sum - product;
    reader_wide lost = (product - (sum - added)) + (add - added);
    reader_bits is_even = ((reader_bits)sum & 1) - 1;
    /* not where it is no number, as after an infinite sum */
    reader_bits is_lost = (reader_bits)((lost > 0.0) | (lost < 0.0));
    reader_bits is_less = ((reader_bits)lost ^ (reader_bits)sum) >> 63;
    reader_bits step = (1 - 2 * is_less) & is_even & is_lost;

    sum = (reader_wide)((reader_bits)sum + step);
    return __builtin_convertvector(sum, reader_two);
}

static inline reader_four reader_fma(reader_four a, reader_four b,
                                     reader_four c)
{
    reader_two low =
        reader_fma_two((reader_two){a[0], a[1]}, (reader_two){b[0], b[1]},
                       (reader_two){c[0], c[1]});
    reader_two high =
        reader_fma_two((reader_two){a[2], a[3]}, (reader_two){b[2], b[3]},
                       (reader_two){c[2], c[3]});

    return (reader_four){low[0], low[1], high[0], high[1]};
}

#endif
