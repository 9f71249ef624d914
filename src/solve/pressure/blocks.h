/* Loops of the pressure methods over a range of rows, cut where the row count says, whatever the threads: a block's
 * vector body and tail, and the order of its sums, are then the same for any thread count. */
#ifndef TL_SOLVE_PRESSURE_BLOCKS_H
#define TL_SOLVE_PRESSURE_BLOCKS_H

#include "base/parallel.h"

#define TL_ROWS_MIN 8000 /* rows below which a level stays on one thread; a row costs ten doubles */

/* `statement` sees its range as [from, to) and the block's number as block. */
#define TL_FOR_BLOCKS(begin, end, statement)                                                                           \
    do {                                                                                                               \
        const int32_t begin_ = (begin);                                                                                \
        const tl_blocks blocks_ = tl_blocks_of((end)-begin_);                                                          \
        _Pragma("omp parallel for schedule(static) if (blocks_.n >= TL_ROWS_MIN / 2)") for (int block = 0;             \
                                                                                            block < blocks_.count;     \
                                                                                            block++)                   \
        {                                                                                                              \
            const int32_t from = begin_ + (int32_t)tl_block_begin(blocks_, block);                                     \
            const int32_t to = begin_ + (int32_t)tl_block_end(blocks_, block);                                         \
            (void)block;                                                                                               \
            statement;                                                                                                 \
        }                                                                                                              \
    } while (0)

#endif
