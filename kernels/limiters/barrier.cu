// barrier: most of the time goes to __syncthreads.
#include "harness.cuh"

constexpr int reductions = 64;

// 64 sums over a block of 1024 threads, each by a tree with a barrier after every level: eleven barriers a sum, and from
// the sixth level on one warp works while 31 wait.
extern "C" __global__ void __launch_bounds__(1024) barrier_every_level(const float* in, float* out) {
    __shared__ float tree[1024];
    float value = in[thread_index()];
    for (int r = 0; r < reductions; ++r) {
        tree[threadIdx.x] = value;
        __syncthreads();
        for (int half = 512; half; half /= 2) {
            if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) out[blockIdx.x * reductions + r] = tree[0];
        value *= 0.99f;
    }
}

// Twin: shuffles within a warp need no barrier; the 64 sums of a warp are stored and one barrier serves them all.
extern "C" __global__ void __launch_bounds__(1024) barrier_once(const float* in, float* out) {
    __shared__ float partial[reductions][33];
    float value = in[thread_index()];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int r = 0; r < reductions; ++r) {
        float sum = value;
        for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (lane == 0) partial[r][warp] = sum;
        value *= 0.99f;
    }
    __syncthreads();
    for (int r = warp; r < reductions; r += 32) {
        float sum = partial[r][lane];
        for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (lane == 0) out[blockIdx.x * reductions + r] = sum;
    }
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
        float *in = bench.floats(size_t(blocks) * 1024), *out = bench.allocate<float>(size_t(blocks) * reductions);
        Output view = Bench::view(out, size_t(blocks) * reductions);
        LAUNCH(bench, barrier_every_level, blocks, 1024, 0, view, in, out);
        LAUNCH(bench, barrier_once, blocks, 1024, 0, view, in, out);
        bench.same("barrier_every_level", "barrier_once", 1e-3);
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
