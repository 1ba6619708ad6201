// sleep: warps are resident but have put themselves to sleep.
#include "harness.cuh"

__device__ void polish(const float* in, float* out, size_t n, int k) {
    size_t i = size_t(k) * n + thread_index();
    out[i] = chain(in[i], 16);
}

// A pause after every item, as code does that wants to leave bandwidth to others.
extern "C" __global__ void sleep_between_items(const float* in, float* out, size_t n, int items) {
    for (int k = 0; k < items; ++k) {
        polish(in, out, n, k);
        __nanosleep(2000);
    }
}

// Twin: no pause.
extern "C" __global__ void sleep_never(const float* in, float* out, size_t n, int items) {
    for (int k = 0; k < items; ++k) polish(in, out, n, k);
}

__device__ void normalise(const float* in, float* out, size_t n, float norm) {
    for (size_t i = thread_index(); i < n; i += thread_count()) out[i] = in[i] / norm;
}

// All blocks poll a flag, with naps, until one thread of block 0 has added up the weights. All blocks are resident.
extern "C" __global__ void sleep_until_flag(const float* weights, int count, const float* in, float* out, size_t n,
                                            volatile float* norm) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        float sum = 0;
#pragma unroll 8
        for (int i = 0; i < count; ++i) sum += weights[i];
        *norm = sum;
    }
    while (*norm == 0) __nanosleep(20000);
    normalise(in, out, n, *norm);
}

// Twin: every block adds up the weights itself, with all of its threads; nobody waits for another block.
extern "C" __global__ void sleep_flag_removed(const float* weights, int count, const float* in, float* out, size_t n,
                                              volatile float* norm) {
    __shared__ float partial[8];
    float sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) sum += weights[i];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    float total = 0;
    for (int w = 0; w < 8; ++w) total += partial[w];
    normalise(in, out, n, total);
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        unsigned blocks = bench.sms * (bench.threads_per_sm / 256);
        int items = static_cast<int>(bench.scaled(64));
        size_t n = size_t(blocks) * 256;
        float *in = bench.floats(n * items), *out = bench.allocate<float>(n * items);
        LAUNCH(bench, sleep_between_items, blocks, 256, 0, Bench::view(out, n * items), in, out, n, items);
        LAUNCH(bench, sleep_never, blocks, 256, 0, Bench::view(out, n * items), in, out, n, items);
        bench.same("sleep_between_items", "sleep_never");
    }
    {
        unsigned blocks = bench.sms * (bench.threads_per_sm / 256);
        size_t n = bench.beyond_l2(0.75, 4);
        int count = bench.scaled(16384);
        float *weights = bench.floats(count, 5), *in = bench.floats(n), *out = bench.allocate<float>(n);
        float* norm = bench.allocate<float>(1);
        bench.before_each([=] { CUDA_OK(cudaMemset(norm, 0, sizeof(float))); });
        LAUNCH(bench, sleep_until_flag, blocks, 256, 0, Bench::view(out, n), weights, count, in, out, n, norm);
        LAUNCH(bench, sleep_flag_removed, blocks, 256, 0, Bench::view(out, n), weights, count, in, out, n, norm);
        bench.same("sleep_until_flag", "sleep_flag_removed", 1e-3);
    }
    return bench.finish();
}
