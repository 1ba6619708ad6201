// Runs the transposes on the host: every CUDA thread of a block is a thread, __syncthreads is a barrier. Slow, but it
// needs no GPU, and with -fsanitize=thread it finds what the barriers do not order.
//
//     driver_cpu SYMBOL ELEMENT_BYTES TRANSPOSES ROWS COLS GRID_X GRID_Y BLOCK_X BLOCK_Y   (for each line of stdin)
//
// prints the number of elements that differ from the reference, one line a launch.
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

struct uint4 { unsigned x, y, z, w; };
struct uint3 { unsigned x, y, z; };

static thread_local uint3 threadIdx;
static uint3 blockIdx;
static std::barrier<>* block_barrier;
static thread_local bool left_early;

static void __syncthreads() { block_barrier->arrive_and_wait(); }
template <typename T> static T __ldcs(const T* p) { return *p; }
template <typename T> static void __stcs(T* p, T v) { *p = v; }

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define __CUDACC_RTC__  // leaves the host part of transpose.cu out
#define asm             // hold_queue is not run here
#define volatile(...) (void)0
#include "transpose.cu"
#undef volatile
#undef asm

using Launch = void (*)(void*, const void*, int, int);

static const std::map<std::string, Launch>& kernels() {
    static const std::map<std::string, Launch> all = {
#define KERNEL(NAME) {#NAME, reinterpret_cast<Launch>(&NAME)},
#include "driver_kernels.inc"
    };
    return all;
}

int main() {
    char name[64];
    int bytes, transposes, rows, cols;
    unsigned gx, gy, bx, by;
    while (std::scanf("%63s %d %d %d %d %u %u %u %u", name, &bytes, &transposes, &rows, &cols, &gx, &gy, &bx, &by) == 9) {
        const Launch kernel = kernels().at(name);
        const size_t count = size_t(rows) * cols;
        // aligned as device memory is
        unsigned char* in = static_cast<unsigned char*>(std::aligned_alloc(64, (count * bytes + 63) / 64 * 64));
        unsigned char* out = static_cast<unsigned char*>(std::aligned_alloc(64, (count * bytes + 63) / 64 * 64));
        std::memset(out, 0xFF, count * bytes);
        uint64_t state = 88172645463325252ull;
        for (size_t i = 0; i < count * bytes; ++i) {
            state ^= state << 13; state ^= state >> 7; state ^= state << 17;
            in[i] = static_cast<unsigned char>(state % 255);
        }
        for (unsigned y = 0; y < gy; ++y) {
            for (unsigned x = 0; x < gx; ++x) {
                blockIdx = {x, y, 0};
                std::barrier<> barrier(bx * by);
                block_barrier = &barrier;
                std::vector<std::thread> threads;
                for (unsigned t = 0; t < bx * by; ++t) {
                    threads.emplace_back([=, &barrier] {
                        threadIdx = {t % bx, t / bx, 0};
                        kernel(out, in, rows, cols);
                        barrier.arrive_and_drop();  // a thread that has left no longer counts, as on the GPU
                    });
                }
                for (std::thread& thread : threads) thread.join();
            }
        }
        size_t wrong = 0;
        for (int r = 0; r < rows; ++r) {
            for (int c = 0; c < cols; ++c) {
                const size_t from = size_t(r) * cols + c, to = transposes ? size_t(c) * rows + r : from;
                wrong += std::memcmp(out + to * bytes, in + from * bytes, bytes) != 0;
            }
        }
        std::printf("%zu\n", wrong);
        std::fflush(stdout);
        std::free(in);
        std::free(out);
    }
}
