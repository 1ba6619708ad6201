// issue-slots: the schedulers issue nearly every cycle, and the instructions are so mixed that no single pipe is full.
#include "harness.cuh"

// Per step: seven multiply-adds, four integer operations, two shared loads and a special function.
__device__ float mixed(unsigned key, const float* table, int steps) {
    float a = key * 1e-9f, b = a + 0.1f, c = a + 0.2f, d = a + 0.3f;
    unsigned h = key | 1u, g = ~key;
#pragma unroll 4
    for (int s = 0; s < steps; ++s) {
        a = a * 0.9f + table[threadIdx.x % 32 + 32 * (s % 8)];
        b = b * 0.9f + table[threadIdx.x % 32 + 32 * ((s + 3) % 8)];
        c = c * 0.9f + a;
        d = d * 0.9f + b;
        a = a * 0.5f + d;
        b = b * 0.5f + c;
        c += __int_as_float((h & 0x007FFFFFu) | 0x3F800000u) * 0.25f;
        h ^= h << 13;
        g ^= h >> 7;
        h ^= g;
        d = d * 0.5f + rsqrtf(c);
    }
    return a + b + c + d + (h & 1) + (g & 1);
}

__device__ const float* small_table() {
    __shared__ float table[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) table[i] = i * 1e-3f;
    __syncthreads();
    return table;
}

// Every pixel computes the value of its key, although sixteen neighbours share a key.
extern "C" __global__ void mixed_per_pixel(const unsigned* key, float* out, int steps) {
    const float* table = small_table();
    out[thread_index()] = mixed(key[thread_index() / 16], table, steps);
}

// Twin: one thread a key writes sixteen pixels: a sixteenth of the instructions. The limiter stays.
extern "C" __global__ void mixed_per_key(const unsigned* key, float* out, int steps) {
    const float* table = small_table();
    float value = mixed(key[thread_index()], table, steps);
    float4* mine = reinterpret_cast<float4*>(out) + size_t(thread_index()) * 4;
    for (int k = 0; k < 4; ++k) mine[k] = make_float4(value, value, value, value);
}

// Four bytes of a word are scaled and added one by one: extract, multiply, add, clamp, insert.
extern "C" __global__ void bytes_one_by_one(const unsigned* in, unsigned* out, int rounds) {
    unsigned word = in[thread_index()], other = in[thread_index()] * 2654435761u;
#pragma unroll 2
    for (int r = 0; r < rounds; ++r) {
        unsigned result = 0;
#pragma unroll
        for (int b = 0; b < 4; ++b) {
            unsigned x = word >> (8 * b) & 255u, y = other >> (8 * b) & 255u;
            result |= ((x + y + 1) >> 1) << (8 * b);
        }
        word = result;
        other = other * 1664525u + 1013904223u;
    }
    out[thread_index()] = word;
}

// Twin: the rounded average of four bytes at once: (x | y) - (((x ^ y) & 0xFEFEFEFE) >> 1).
extern "C" __global__ void bytes_four_at_once(const unsigned* in, unsigned* out, int rounds) {
    unsigned word = in[thread_index()], other = in[thread_index()] * 2654435761u;
#pragma unroll 2
    for (int r = 0; r < rounds; ++r) {
        word = (word | other) - (((word ^ other) & 0xFEFEFEFEu) >> 1);
        other = other * 1664525u + 1013904223u;
    }
    out[thread_index()] = word;
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.sms * (bench.threads_per_sm / 256) * bench.scaled(2) * 16;
    size_t n = size_t(blocks) * 256;
    unsigned* key = bench.words(n);
    float* out = bench.allocate<float>(n);
    LAUNCH(bench, mixed_per_pixel, blocks, 256, 0, Bench::view(out, n), key, out, 64);
    LAUNCH(bench, mixed_per_key, blocks / 16, 256, 0, Bench::view(out, n), key, out, 64);
    bench.same("mixed_per_pixel", "mixed_per_key");
    unsigned* words = reinterpret_cast<unsigned*>(out);
    LAUNCH(bench, bytes_one_by_one, blocks / 8, 256, 0, Bench::view(words, n / 8), key, words, 256);
    LAUNCH(bench, bytes_four_at_once, blocks / 8, 256, 0, Bench::view(words, n / 8), key, words, 256);
    bench.same("bytes_one_by_one", "bytes_four_at_once", 0);
    return bench.finish();
}
