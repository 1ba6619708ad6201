// barrier: most of the time goes to __syncthreads.
#include "harness.cuh"

constexpr int refinements = 32;

__device__ float relax(float value, int warp, int phase) {
    return chain(value, warp == phase % 32 ? 1024 : 16);  // in each phase another warp has the difficult region
}

// In each phase one warp works long and 31 wait at the barrier for it, although a warp only touches its own values.
extern "C" __global__ void __launch_bounds__(1024) barrier_nobody_needs(const float* in, float* out) {
    float value = in[thread_index()];
    for (int phase = 0; phase < refinements; ++phase) {
        value = relax(value, threadIdx.x / 32, phase);
        __syncthreads();
    }
    out[thread_index()] = value;
}

// Twin: no barrier; each warp works long in one phase of 32, and the others do not wait for it.
extern "C" __global__ void __launch_bounds__(1024) barrier_removed(const float* in, float* out) {
    float value = in[thread_index()];
    for (int phase = 0; phase < refinements; ++phase) value = relax(value, threadIdx.x / 32, phase);
    out[thread_index()] = value;
}

constexpr int phases = 48;

// Thread 0 adds up the block's 256 values while seven warps and 31 lanes wait at the barrier.
extern "C" __global__ void barrier_one_worker(const float* in, float* out) {
    __shared__ float shared[256];
    __shared__ float total;
    float value = in[thread_index()];
    for (int p = 0; p < phases; ++p) {
        shared[threadIdx.x] = value;
        __syncthreads();
        if (threadIdx.x == 0) {
            float sum = 0;
            for (int t = 0; t < 256; ++t) sum += shared[t];
            total = sum;
        }
        __syncthreads();
        value = 0.5f * value + total / 512;
    }
    out[thread_index()] = value;
}

// Twin: all warps add, by shuffles; the barriers are still there but nobody waits long.
extern "C" __global__ void barrier_all_workers(const float* in, float* out) {
    __shared__ float partial[2][8];
    float value = in[thread_index()];
    for (int p = 0; p < phases; ++p) {
        float sum = value;
        for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
        if (threadIdx.x % 32 == 0) partial[p % 2][threadIdx.x / 32] = sum;
        __syncthreads();
        float total = 0;
        for (int w = 0; w < 8; ++w) total += partial[p % 2][w];
        value = 0.5f * value + total / 512;
    }
    out[thread_index()] = value;
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        unsigned blocks = bench.sms * (bench.threads_per_sm / 1024) * bench.scaled(4);
        size_t n = size_t(blocks) * 1024;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, barrier_nobody_needs, blocks, 1024, 0, Bench::view(out, n), in, out);
        LAUNCH(bench, barrier_removed, blocks, 1024, 0, Bench::view(out, n), in, out);
        bench.same("barrier_nobody_needs", "barrier_removed");
    }
    {
        unsigned blocks = bench.sms * (bench.threads_per_sm / 256) * bench.scaled(2);
        size_t n = size_t(blocks) * 256;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, barrier_one_worker, blocks, 256, 0, Bench::view(out, n), in, out);
        LAUNCH(bench, barrier_all_workers, blocks, 256, 0, Bench::view(out, n), in, out);
        bench.same("barrier_one_worker", "barrier_all_workers", 1e-3);
    }
    return bench.finish();
}
