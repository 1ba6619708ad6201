// local-memory: registers that were spilled, or arrays that are indexed at run time, travel through L1 and L2.
#include "harness.cuh"

constexpr int states = 96;

// A bank of 96 filters a thread, all updated for every sample.
__device__ void filter_bank(const float* in, float* out, int samples) {
    float state[states];
#pragma unroll
    for (int f = 0; f < states; ++f) state[f] = 0;
#pragma unroll 1
    for (int t = 0; t < samples; ++t) {
        float sample = in[size_t(t) * thread_count() + thread_index()];
#pragma unroll
        for (int f = 0; f < states; ++f) state[f] = state[f] * (0.25f + 0.007f * f) + sample;
    }
#pragma unroll
    for (int f = 0; f < states; ++f) out[size_t(f) * thread_count() + thread_index()] = state[f];
}

// The promise of 1024 threads a block leaves at most 64 registers, so a third of the states is spilled and reloaded for
// every sample.
extern "C" __global__ void __launch_bounds__(1024) spills(const float* in, float* out, int samples) {
    filter_bank(in, out, samples);
}

// Twin: the same block of 256 threads without the promise: everything stays in registers.
extern "C" __global__ void __launch_bounds__(256) spills_removed(const float* in, float* out, int samples) {
    filter_bank(in, out, samples);
}

constexpr int bins = 32;

// A private histogram in a local array: the index is known only at run time, so it cannot live in registers.
extern "C" __global__ void indexed_local_array(const unsigned* words, unsigned* out, size_t n) {
    unsigned count[bins];
    for (int b = 0; b < bins; ++b) count[b] = 0;
    for (size_t i = thread_index(); i < n; i += thread_count()) {
        unsigned word = words[i];
#pragma unroll
        for (int k = 0; k < 6; ++k) ++count[word >> (5 * k) & (bins - 1)];
    }
    for (int b = 0; b < bins; ++b) out[size_t(b) * thread_count() + thread_index()] = count[b];
}

// Twin: the private histogram lies in shared memory, every lane in its own bank.
extern "C" __global__ void indexed_shared_array(const unsigned* words, unsigned* out, size_t n) {
    __shared__ unsigned count[bins][128];
    for (int b = 0; b < bins; ++b) count[b][threadIdx.x] = 0;
    for (size_t i = thread_index(); i < n; i += thread_count()) {
        unsigned word = words[i];
#pragma unroll
        for (int k = 0; k < 6; ++k) ++count[word >> (5 * k) & (bins - 1)][threadIdx.x];
    }
    for (int b = 0; b < bins; ++b) out[size_t(b) * thread_count() + thread_index()] = count[b][threadIdx.x];
}

constexpr int order = 8;

// LU with pivoting of one 8 x 8 matrix a thread, in loops: the pivot's row is known only at run time and so is every index,
// so the matrix lies in local memory. No unit is full, the warps just wait for it.
extern "C" __global__ void lu_in_loops(const float* in, float* out, size_t m) {
    float a[order * order];
    size_t me = thread_index();
#pragma unroll 1
    for (int e = 0; e < order * order; ++e) a[e] = in[e * m + me];
#pragma unroll 1
    for (int k = 0; k < order; ++k) {
        int pivot = k;
#pragma unroll 1
        for (int i = k + 1; i < order; ++i)
            if (fabsf(a[i * order + k]) > fabsf(a[pivot * order + k])) pivot = i;
#pragma unroll 1
        for (int j = 0; j < order; ++j) {
            float held = a[k * order + j];
            a[k * order + j] = a[pivot * order + j];
            a[pivot * order + j] = held;
        }
#pragma unroll 1
        for (int i = k + 1; i < order; ++i) {
            float factor = a[i * order + k] = a[i * order + k] / a[k * order + k];
#pragma unroll 1
            for (int j = k + 1; j < order; ++j) a[i * order + j] -= factor * a[k * order + j];
        }
    }
#pragma unroll 1
    for (int e = 0; e < order * order; ++e) out[e * m + me] = a[e];
}

// Twin: unrolled, and the pivot's row is exchanged by selects; the matrix stays in registers.
extern "C" __global__ void __launch_bounds__(128) lu_unrolled(const float* in, float* out, size_t m) {
    float a[order][order];
    size_t me = thread_index();
#pragma unroll
    for (int e = 0; e < order * order; ++e) a[e / order][e % order] = in[e * m + me];
#pragma unroll
    for (int k = 0; k < order; ++k) {
        int pivot = k;
        float most = fabsf(a[k][k]);
#pragma unroll
        for (int i = k + 1; i < order; ++i) {
            bool more = fabsf(a[i][k]) > most;
            pivot = more ? i : pivot;
            most = more ? fabsf(a[i][k]) : most;
        }
#pragma unroll
        for (int i = k + 1; i < order; ++i)
#pragma unroll
            for (int j = 0; j < order; ++j) {
                float upper = a[k][j], lower = a[i][j];
                a[k][j] = pivot == i ? lower : upper;
                a[i][j] = pivot == i ? upper : lower;
            }
#pragma unroll
        for (int i = k + 1; i < order; ++i) {
            float factor = a[i][k] = a[i][k] / a[k][k];
#pragma unroll
            for (int j = k + 1; j < order; ++j) a[i][j] -= factor * a[k][j];
        }
    }
#pragma unroll
    for (int e = 0; e < order * order; ++e) out[e * m + me] = a[e / order][e % order];
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        unsigned blocks = bench.sms * 4 * bench.scaled(2);
        int samples = 64;
        size_t threads = size_t(blocks) * 256;
        float *in = bench.floats(threads * samples), *out = bench.allocate<float>(threads * states);
        LAUNCH(bench, spills, blocks, 256, 0, Bench::view(out, threads * states), in, out, samples);
        LAUNCH(bench, spills_removed, blocks, 256, 0, Bench::view(out, threads * states), in, out, samples);
        bench.same("spills", "spills_removed");
    }
    {
        unsigned blocks = bench.sms * (bench.threads_per_sm / 128);
        size_t threads = size_t(blocks) * 128, n = threads * bench.scaled(64);
        unsigned *words = bench.words(n), *out = bench.allocate<unsigned>(threads * bins);
        LAUNCH(bench, indexed_local_array, blocks, 128, 0, Bench::view(out, threads * bins), words, out, n);
        LAUNCH(bench, indexed_shared_array, blocks, 128, 0, Bench::view(out, threads * bins), words, out, n);
        bench.same("indexed_local_array", "indexed_shared_array", 0);
    }
    {
        unsigned blocks = bench.sms * (bench.threads_per_sm / 128) * bench.scaled(2);
        size_t m = size_t(blocks) * 128, n = m * order * order;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, lu_in_loops, blocks, 128, 0, Bench::view(out, n), in, out, m);
        LAUNCH(bench, lu_unrolled, blocks, 128, 0, Bench::view(out, n), in, out, m);
        bench.same("lu_in_loops", "lu_unrolled", 1e-2);
    }
    return bench.finish();
}
