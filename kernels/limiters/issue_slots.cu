// issue-slots: the schedulers issue nearly every cycle, and the instructions are so mixed that no single pipe is full.
#include "harness.cuh"

// A table of 256 floats in shared memory; all lanes read the same word at a time.
__device__ const float* shared_table() {
    __shared__ float table[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) table[i] = i * 1e-3f;
    __syncthreads();
    return table;
}

// Of sixteen instructions nine go to the multiply-add pipe, four to the integer pipe, two to shared memory and one to the
// special-function unit: about half of what each of the four can take.
__device__ float mixed(unsigned key, const float* table, int steps) {
    float a = key * 1e-9f, b = a + 0.1f, c = a + 0.2f, d = a + 0.3f;
    unsigned h = key | 1u, g = ~key;
#pragma unroll 8
    for (int s = 0; s < steps; ++s) {
        a = a * 0.5f + table[2 * s];
        b = b * 0.5f + table[255 - 2 * s];
        c = c * 0.25f + a;
        d = d * 0.25f + b;
        a = a * 0.5f + d;
        b = b * 0.5f + c;
        c = c * 0.75f + 0.125f;
        d = d * 0.5f + __sinf(c);
        h ^= h << 13;
        g ^= h >> 7;
    }
    return a + b + c + d + (h & 1u) + (g & 1u);
}

// Every pixel computes the value of its key, although 32 neighbours share a key.
extern "C" __global__ void mixed_per_pixel(const unsigned* key, float* out, int steps) {
    const float* table = shared_table();
    out[thread_index()] = mixed(key[thread_index() / 32], table, steps);
}

// Twin: one thread a key; the warp then writes the pixels of its keys together. A 32nd of the instructions; the limiter
// stays until the stores are all that is left.
extern "C" __global__ void mixed_per_key(const unsigned* key, float* out, int steps) {
    const float* table = shared_table();
    float value = mixed(key[thread_index()], table, steps);
    float* warp_out = out + size_t(thread_index() / 32) * 1024 + threadIdx.x % 32;
    for (int k = 0; k < 32; ++k) warp_out[k * 32] = __shfl_sync(~0u, value, k);
}

// Two hashes and a score of a text: integer multiply-adds, logic, float multiply-adds and table look-ups in turn.
__device__ float score(unsigned key, const float* table, int steps) {
    float a = 0.1f, b = 0.2f, c = 0.3f, d = key * 1e-9f;
    unsigned first = key, second = ~key;
#pragma unroll 8
    for (int s = 0; s < steps; ++s) {
        float letter = table[2 * s], weight = table[255 - 2 * s];
        first = first * 31u + __float_as_uint(letter);
        second = (second ^ __float_as_uint(weight)) * 16777619u;
        first ^= second;
        a = a * 0.5f + letter;
        b = b * 0.5f + weight;
        c = c * 0.25f + a;
        d = d * 0.25f + b;
        a = a * 0.5f + d;
        b = b * 0.5f + c;
        second = (second << 5 | second >> 27) ^ first;
    }
    return a + b + c + d + (first & 1u) + (second & 1u);
}

extern "C" __global__ void score_per_occurrence(const unsigned* key, float* out, int steps) {
    const float* table = shared_table();
    out[thread_index()] = score(key[thread_index() / 32], table, steps);
}

// Twin: each distinct text is scored once.
extern "C" __global__ void score_per_text(const unsigned* key, float* out, int steps) {
    const float* table = shared_table();
    float value = score(key[thread_index()], table, steps);
    float* warp_out = out + size_t(thread_index() / 32) * 1024 + threadIdx.x % 32;
    for (int k = 0; k < 32; ++k) warp_out[k * 32] = __shfl_sync(~0u, value, k);
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.sms * (bench.threads_per_sm / 256) * bench.scaled(1) * 32;
    size_t n = size_t(blocks) * 256;
    unsigned* key = bench.words(n / 32);
    float* out = bench.allocate<float>(n);
    Output view = Bench::view(out, n);
    LAUNCH(bench, mixed_per_pixel, blocks, 256, 0, view, key, out, 96);
    LAUNCH(bench, mixed_per_key, blocks / 32, 256, 0, view, key, out, 96);
    bench.same("mixed_per_pixel", "mixed_per_key");
    LAUNCH(bench, score_per_occurrence, blocks, 256, 0, view, key, out, 96);
    LAUNCH(bench, score_per_text, blocks / 32, 256, 0, view, key, out, 96);
    bench.same("score_per_occurrence", "score_per_text");
    return bench.finish();
}
