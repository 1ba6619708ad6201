// Matrix transposes, from the plain ones to the fastest: out (cols x rows) = transpose of in (rows x cols), both
// row-major and densely packed. The copies write out (rows x cols) = in.
//
// Everything is a template over the element type, the tile edge TILE and the number of thread rows ROWS: a block of
// TILE x ROWS threads owns one TILE x TILE tile. Rows and columns may have any size; elements outside the matrix are
// skipped. A transpose moves bits and computes nothing, so a 16-bit integer stands for half (and for bfloat16).
//
// Device code only, without host headers: nvcc and NVRTC both compile it.
#pragma once

namespace transpose {

using half_bits = unsigned short;

// ---------------------------------------------------------------------------------------------------------------
// The teaching variants. Lanes of a warp differ in threadIdx.x first, so what follows threadIdx.x in memory is
// what the hardware can coalesce.

// Unit stride both ways. The yardstick for kernels that use one element per access; a vectorised copy is faster.
template <typename T, int TILE, int ROWS>
__device__ __forceinline__ void copy(T* __restrict__ out, const T* __restrict__ in, int rows, int cols) {
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS) {
        if (x < cols && y + k < rows) {
            out[size_t(y + k) * cols + x] = in[size_t(y + k) * cols + x];
        }
    }
}

// Loads along rows, stores along columns: each store of a warp touches 32 rows of out, one sector each.
template <typename T, int TILE, int ROWS>
__device__ __forceinline__ void naive(T* __restrict__ out, const T* __restrict__ in, int rows, int cols) {
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS) {
        if (x < cols && y + k < rows) {
            out[size_t(x) * rows + y + k] = in[size_t(y + k) * cols + x];
        }
    }
}

// The twin of naive: stores along rows, loads along columns. Each load of a warp touches 32 rows of in. Faster than
// naive where L1 keeps the sectors until the neighbouring columns are read.
template <typename T, int TILE, int ROWS>
__device__ __forceinline__ void strided_load(T* __restrict__ out, const T* __restrict__ in, int rows, int cols) {
    const int x = blockIdx.y * TILE + threadIdx.x;  // row of in, column of out
    const int y = blockIdx.x * TILE + threadIdx.y;  // column of in, row of out
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS) {
        if (x < rows && y + k < cols) {
            out[size_t(y + k) * rows + x] = in[size_t(x) * cols + y + k];
        }
    }
}

// Through a tile in shared memory, so that loads and stores both follow rows. PITCH is the length of a row of the
// tile: TILE puts a whole column into one bank (the unpadded variant), TILE + 1 spreads it over all of them.
template <typename T, int TILE, int ROWS, int PITCH>
__device__ __forceinline__ void tiled(T* __restrict__ out, const T* __restrict__ in, int rows, int cols) {
    __shared__ T tile[TILE][PITCH];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS) {
        if (x < cols && y + k < rows) {
            tile[threadIdx.y + k][threadIdx.x] = in[size_t(y + k) * cols + x];
        }
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;  // the block's coordinates are swapped for out
    y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS) {
        if (x < rows && y + k < cols) {
            out[size_t(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
        }
    }
}

// The tile is there, but nobody swapped the coordinates for the store: right, and as scattered as naive.
template <typename T, int TILE, int ROWS>
__device__ __forceinline__ void swap_forgotten(T* __restrict__ out, const T* __restrict__ in, int rows, int cols) {
    __shared__ T tile[TILE][TILE + 1];
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS) {
        if (x < cols && y + k < rows) {
            tile[threadIdx.y + k][threadIdx.x] = in[size_t(y + k) * cols + x];
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS) {
        if (x < cols && y + k < rows) {
            out[size_t(x) * rows + y + k] = tile[threadIdx.y + k][threadIdx.x];
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------
// Two wrong ones, kept to show that the check finds them. Only the thread rows from FIRST_WAITING on reach the barrier.
// ROWS leaves it out; ROWS / 2 is a barrier in a branch that half of the block takes: the first warps do not wait for
// what the last ones load (those wait in vain, until the others have left).
template <typename T, int TILE, int ROWS, int FIRST_WAITING>
__device__ __forceinline__ void racy(T* __restrict__ out, const T* __restrict__ in, int rows, int cols) {
    __shared__ T tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS) {
        if (x < cols && y + k < rows) {
            tile[threadIdx.y + k][threadIdx.x] = in[size_t(y + k) * cols + x];
        }
    }
    if (threadIdx.y >= FIRST_WAITING) {
        __syncthreads();
    }
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS) {
        if (x < rows && y + k < cols) {
            out[size_t(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------
// The fastest. A thread moves 16 bytes an access everywhere: V = 16 / sizeof(T) elements. The tile is M x M
// micro-blocks of V x V elements; a thread loads a micro-block as V chunks of 16 bytes, turns it in its registers,
// leaves it in shared memory as V chunks of the transposed tile, and after the barrier stores whole rows of that.
//
// * Swizzle: chunk i of row c of the transposed tile lies at i ^ (c / V mod 8). Eight lanes that leave the same chunk
//   of eight micro-columns cover all banks, and so do eight lanes that read a row: no padding, no replay.
// * Order of the tiles: consecutive blocks go down the rows of in, so that out is written in whole rows. DRAM
//   answers scattered reads better than scattered writes (0.97 against 0.94 of a device copy).
// * Streaming loads and stores (evict first): nothing is used twice (0.98 against 0.96).
// * 256-byte rows of the tile at M = 16: shorter ones cost DRAM bandwidth, longer ones gain nothing.
//
// Measured on an H200 and left out: cp.async into the tile (as fast here, 0.97 instead of 0.98 at 4096 x 4096); tiles
// that the bulk tensor copy engine loads (cp.async.bulk.tensor, 0.93) or loads and stores (0.90); panels of tiles in
// another order; larger tiles; persistent blocks. Shares are of a device copy of 16384 x 16384 floats in the same run.

template <typename T>
struct alignas(16) Chunk {
    static constexpr int V = 16 / sizeof(T);
    T e[V];
};

template <typename T>
__device__ __forceinline__ Chunk<T> load_streaming(const T* global) {
    const uint4 bits = __ldcs(reinterpret_cast<const uint4*>(global));
    return *reinterpret_cast<const Chunk<T>*>(&bits);
}

template <typename T>
__device__ __forceinline__ void store_streaming(T* global, const Chunk<T>& chunk) {
    __stcs(reinterpret_cast<uint4*>(global), *reinterpret_cast<const uint4*>(&chunk));
}

// The most blocks an SM should hold at once; 0: as many as fit. More than four scatter the accesses of an H200 over
// too many DRAM pages: 0.94 instead of 0.98 of a device copy when each launch finds a cold cache.
template <typename T, int M, int THREADS>
constexpr int RESIDENT = 0;
#if __CUDA_ARCH__ == 900
template <>
constexpr int RESIDENT<float, 16, 256> = 4;
#endif

// The same tile one element at a time, for matrices whose rows do not all start at a multiple of 16 bytes. Row r is
// rotated by r words, which frees the column reads of conflicts for every element size.
template <typename T, int TILE, int THREADS>
__device__ __forceinline__ void by_elements(T* __restrict__ out, const T* __restrict__ in, int rows, int cols,
                                            int row0, int col0, T* tile) {
    constexpr int WORD = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
#pragma unroll 4
    for (int e = threadIdx.x; e < TILE * TILE; e += THREADS) {
        const int r = e / TILE, c = e % TILE;
        if (row0 + r < rows && col0 + c < cols) {
            tile[r * TILE + (c + r * WORD) % TILE] = in[size_t(row0 + r) * cols + col0 + c];
        }
    }
    __syncthreads();
#pragma unroll 4
    for (int e = threadIdx.x; e < TILE * TILE; e += THREADS) {
        const int c = e / TILE, r = e % TILE;
        if (row0 + r < rows && col0 + c < cols) {
            out[size_t(col0 + c) * rows + row0 + r] = tile[r * TILE + (c + r * WORD) % TILE];
        }
    }
}

// One-dimensional grid: ceil(rows / TILE) * ceil(cols / TILE) blocks of THREADS threads, with TILE = M * V.
template <typename T, int M, int THREADS>
__device__ __forceinline__ void best(T* __restrict__ out, const T* __restrict__ in, int rows, int cols) {
    constexpr int V = Chunk<T>::V;
    constexpr int TILE = M * V;
    static_assert(M >= 8 && (M & (M - 1)) == 0, "the swizzle needs 8 chunks a row and a power of two");
    static_assert(M * M % THREADS == 0, "every thread turns the same number of micro-blocks");
    // An SM has 228 KiB for its blocks and reserves 1 KiB for each: this much keeps all but RESIDENT of them out.
    constexpr int MOST = RESIDENT<T, M, THREADS>;
    constexpr int CAP = MOST == 0 ? 0 : (228 * 1024 / (MOST + 1) - 1024) / 16 + 1;
    __shared__ Chunk<T> tile[CAP > TILE * M ? CAP : TILE * M];

    const int tile_rows = (rows + TILE - 1) / TILE;
    const int row0 = int(blockIdx.x % tile_rows) * TILE;
    const int col0 = int(blockIdx.x / tile_rows) * TILE;
    const size_t misaligned = (reinterpret_cast<size_t>(in) | reinterpret_cast<size_t>(out)) & 15;
    if (rows % V != 0 || cols % V != 0 || misaligned) {
        by_elements<T, TILE, THREADS>(out, in, rows, cols, row0, col0, reinterpret_cast<T*>(tile));
        return;
    }

#pragma unroll
    for (int p = 0; p < M * M / THREADS; ++p) {
        const int item = threadIdx.x + p * THREADS;
        const int i = item / M, j = item % M;  // micro-row and micro-column: lanes run along j, as rows of in do
        if (row0 + i * V < rows && col0 + j * V < cols) {
            Chunk<T> block[V];
#pragma unroll
            for (int k = 0; k < V; ++k) {
                block[k] = load_streaming(in + size_t(row0 + i * V + k) * cols + col0 + j * V);
            }
#pragma unroll
            for (int c = 0; c < V; ++c) {
                Chunk<T> turned;
#pragma unroll
                for (int k = 0; k < V; ++k) {
                    turned.e[k] = block[k].e[c];
                }
                tile[(j * V + c) * M + (i ^ (j & 7))] = turned;
            }
        }
    }
    __syncthreads();

#pragma unroll
    for (int q = 0; q < TILE * M / THREADS; ++q) {
        const int item = threadIdx.x + q * THREADS;
        const int c = item / M, i = item % M;  // row of the transposed tile and chunk in it: lanes run along i
        if (col0 + c < cols && row0 + i * V < rows) {
            store_streaming(out + size_t(col0 + c) * rows + row0 + i * V, tile[c * M + (i ^ (c / V & 7))]);
        }
    }
}

}  // namespace transpose

// ---------------------------------------------------------------------------------------------------------------
// Shells with plain names, so that a loaded module or a profile shows `padded_32_float` and not a mangled template.

#define TRANSPOSE_SHELL(NAME, T, THREADS, ...)                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                         \
        NAME(T* __restrict__ out, const T* __restrict__ in, int rows, int cols) {                                 \
        transpose::__VA_ARGS__(out, in, rows, cols);                                                              \
    }

// All right tile variants for one tile edge: SUFFIX is the rest of the name (`32_float`).
#define TRANSPOSE_TILE(SUFFIX, T, TILE, ROWS)                                                                      \
    TRANSPOSE_SHELL(copy_##SUFFIX, T, TILE * ROWS, copy<T, TILE, ROWS>)                                            \
    TRANSPOSE_SHELL(naive_##SUFFIX, T, TILE * ROWS, naive<T, TILE, ROWS>)                                          \
    TRANSPOSE_SHELL(strided_load_##SUFFIX, T, TILE * ROWS, strided_load<T, TILE, ROWS>)                            \
    TRANSPOSE_SHELL(shared_##SUFFIX, T, TILE * ROWS, tiled<T, TILE, ROWS, TILE>)                                   \
    TRANSPOSE_SHELL(padded_##SUFFIX, T, TILE * ROWS, tiled<T, TILE, ROWS, TILE + 1>)                               \
    TRANSPOSE_SHELL(swap_forgotten_##SUFFIX, T, TILE * ROWS, swap_forgotten<T, TILE, ROWS>)

#define TRANSPOSE_WRONG(SUFFIX, T, TILE, ROWS)                                                                     \
    TRANSPOSE_SHELL(missing_barrier_##SUFFIX, T, TILE * ROWS, racy<T, TILE, ROWS, ROWS>)                              \
    TRANSPOSE_SHELL(branch_barrier_##SUFFIX, T, TILE * ROWS, racy<T, TILE, ROWS, ROWS / 2>)

#define TRANSPOSE_BEST(NAME, T, M, THREADS) TRANSPOSE_SHELL(NAME, T, THREADS, best<T, M, THREADS>)

// Keeps the GPU busy for about `nanoseconds`, so that a slow launcher can queue timed launches behind it without gaps.
extern "C" __global__ void hold_queue(long long nanoseconds) {
    long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < nanoseconds);
}
