// atomic-contention: atomics to few addresses are served one after another, and every other unit is idle.
#include "harness.cuh"

// A histogram of an image in which nearly everything falls into one bin; the compiler cannot know that, the unit must
// serialise it.
extern "C" __global__ void atomic_one_bin(const unsigned* key, unsigned* bins, size_t n, unsigned mask) {
    for (size_t i = thread_index(); i < n; i += thread_count()) atomicAdd(&bins[key[i] & mask], 1u);
}

// The same kernel over sixteen bins: they share one L2 line.
extern "C" __global__ void atomic_few_bins(const unsigned* key, unsigned* bins, size_t n, unsigned mask) {
    for (size_t i = thread_index(); i < n; i += thread_count()) atomicAdd(&bins[key[i] & mask], 1u);
}

// Up to 16 bins, one private copy a thread in shared memory; `add` gets the sum of each bin of the block, from one lane.
template <class Add>
__device__ void private_histogram(const unsigned* key, size_t n, unsigned mask, Add add) {
    __shared__ unsigned copy[16][257];
    for (int b = 0; b < 16; ++b) copy[b][threadIdx.x] = 0;
    for (size_t i = thread_index(); i < n; i += thread_count()) ++copy[key[i] & mask][threadIdx.x];
    __syncthreads();
    for (unsigned b = threadIdx.x / 32; b <= mask; b += blockDim.x / 32) {
        unsigned sum = 0;
        for (unsigned t = threadIdx.x % 32; t < blockDim.x; t += 32) sum += copy[b][t];
        for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (threadIdx.x % 32 == 0 && sum) add(b, sum);
    }
}

// Twins: count in private copies, then one global atomic a bin and block. With one bin that is the end of it. Sixteen bins
// make sixteen requests a block for one sector, which the L2 serves long after the last block has left.
extern "C" __global__ void atomic_one_bin_private(const unsigned* key, unsigned* bins, size_t n, unsigned mask) {
    private_histogram(key, n, mask, [&](unsigned b, unsigned sum) { atomicAdd(&bins[b], sum); });
}
extern "C" __global__ void atomic_few_bins_private(const unsigned* key, unsigned* bins, size_t n, unsigned mask) {
    private_histogram(key, n, mask, [&](unsigned b, unsigned sum) { atomicAdd(&bins[b], sum); });
}

// Twin: sixteen lanes add the sixteen sums of the block with one instruction, which is one request.
extern "C" __global__ void atomic_few_bins_one_request(const unsigned* key, unsigned* bins, size_t n, unsigned mask) {
    __shared__ unsigned total[16];
    if (threadIdx.x < 16) total[threadIdx.x] = 0;
    private_histogram(key, n, mask, [&](unsigned b, unsigned sum) { total[b] = sum; });
    __syncthreads();
    if (threadIdx.x <= mask) atomicAdd(&bins[threadIdx.x], total[threadIdx.x]);
}

// A histogram of 256 bins in shared memory, by so many small blocks that adding them up takes longer than counting.
__device__ void block_histogram(const unsigned* key, unsigned* bins, size_t n) {
    __shared__ unsigned mine[256];
    if (threadIdx.x < 256) mine[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = thread_index(); i < n; i += thread_count()) atomicAdd(&mine[key[i] >> 24], 1u);
    __syncthreads();
    if (threadIdx.x < 256) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
extern "C" __global__ void atomic_merge_of_many_blocks(const unsigned* key, unsigned* bins, size_t n) {
    block_histogram(key, bins, n);
}

// Twin: as many threads as fit, in the largest blocks.
extern "C" __global__ void atomic_merge_of_few_blocks(const unsigned* key, unsigned* bins, size_t n) {
    block_histogram(key, bins, n);
}

// A dot product in which every thread adds its product to one float.
extern "C" __global__ void atomic_float_dot(const float* a, const float* b, float* sum, size_t n) {
    for (size_t i = thread_index(); i < n; i += thread_count()) atomicAdd(sum, a[i] * b[i]);
}

// The usual halfway: summed in the warp, and each warp adds to the one float. The blocks are gone long before the adds.
extern "C" __global__ void atomic_float_dot_by_warp(const float* a, const float* b, float* sum, size_t n) {
    float mine = 0;
    for (size_t i = thread_index(); i < n; i += thread_count()) mine += a[i] * b[i];
    for (int step = 16; step; step /= 2) mine += __shfl_xor_sync(~0u, mine, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

// Twin of both: sum in a register, then in the warp, then in the block; one atomic a block.
extern "C" __global__ void atomic_float_dot_reduced(const float* a, const float* b, float* sum, size_t n) {
    __shared__ float partial[8];
    float mine = 0;
    for (size_t i = thread_index(); i < n; i += thread_count()) mine += a[i] * b[i];
    for (int step = 16; step; step /= 2) mine += __shfl_xor_sync(~0u, mine, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) mine += partial[w];
        atomicAdd(sum, mine);
    }
}

// Weights are added to four bins in shared memory. Without an instruction for float sums in shared memory this is a loop of
// compare-and-swap, and eight lanes of each warp, and all warps of the block, meet in a bin.
extern "C" __global__ void atomic_shared_bins(const unsigned* key, const float* weight, float* bins, size_t n) {
    __shared__ float local[4];
    if (threadIdx.x < 4) local[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = thread_index(); i < n; i += thread_count()) atomicAdd(&local[key[i] >> 30], weight[i]);
    __syncthreads();
    if (threadIdx.x < 4) bins[blockIdx.x * 4 + threadIdx.x] = local[threadIdx.x];
}

// Twin: four sums in registers, then in the warp; eight atomics a bin and block are left.
extern "C" __global__ void atomic_shared_bins_in_registers(const unsigned* key, const float* weight, float* bins,
                                                           size_t n) {
    __shared__ float local[4];
    if (threadIdx.x < 4) local[threadIdx.x] = 0;
    __syncthreads();
    float sum[4] = {0, 0, 0, 0};
    for (size_t i = thread_index(); i < n; i += thread_count()) {
        unsigned k = key[i] >> 30;
        float w = weight[i];
#pragma unroll
        for (unsigned b = 0; b < 4; ++b) sum[b] += k == b ? w : 0.0f;
    }
#pragma unroll
    for (int b = 0; b < 4; ++b) {
        for (int step = 16; step; step /= 2) sum[b] += __shfl_down_sync(~0u, sum[b], step);
        if (threadIdx.x % 32 == 0) atomicAdd(&local[b], sum[b]);
    }
    __syncthreads();
    if (threadIdx.x < 4) bins[blockIdx.x * 4 + threadIdx.x] = local[threadIdx.x];
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.sms * (bench.threads_per_sm / 256);
    unsigned* bins = bench.allocate<unsigned>(16);
    size_t n = bench.scaled(bench.sms * 2048.0 * 16, 4096);
    {
        unsigned* keys = bench.words(n);
        LAUNCH(bench, atomic_one_bin, blocks, 256, 0, Bench::view(bins, 16), keys, bins, n, 0u);
        LAUNCH(bench, atomic_one_bin_private, blocks, 256, 0, Bench::view(bins, 16), keys, bins, n, 0u);
        bench.same("atomic_one_bin", "atomic_one_bin_private", 0);
        LAUNCH(bench, atomic_few_bins, blocks, 256, 0, Bench::view(bins, 16), keys, bins, n, 15u);
        LAUNCH(bench, atomic_few_bins_private, blocks, 256, 0, Bench::view(bins, 16), keys, bins, n, 15u);
        LAUNCH(bench, atomic_few_bins_one_request, blocks, 256, 0, Bench::view(bins, 16), keys, bins, n, 15u);
        bench.same("atomic_few_bins", "atomic_few_bins_one_request", 0);
        bench.same("atomic_few_bins_private", "atomic_few_bins_one_request", 0);
    }
    {
        size_t many = 4 * n;
        unsigned *keys = bench.words(many), *counts = bench.allocate<unsigned>(256);
        LAUNCH(bench, atomic_merge_of_many_blocks, 8 * blocks, 256, 0, Bench::view(counts, 256), keys, counts, many);
        unsigned few = bench.sms * (bench.threads_per_sm / 1024);
        LAUNCH(bench, atomic_merge_of_few_blocks, few, 1024, 0, Bench::view(counts, 256), keys, counts, many);
        bench.same("atomic_merge_of_many_blocks", "atomic_merge_of_few_blocks", 0);
    }
    {
        size_t m = n / 4;
        float *a = bench.floats(m, 1), *b = bench.floats(m, 2), *sum = bench.allocate<float>(1);
        LAUNCH(bench, atomic_float_dot, blocks, 256, 0, Bench::view(sum, 1), a, b, sum, m);
        LAUNCH(bench, atomic_float_dot_by_warp, blocks, 256, 0, Bench::view(sum, 1), a, b, sum, m);
        LAUNCH(bench, atomic_float_dot_reduced, blocks, 256, 0, Bench::view(sum, 1), a, b, sum, m);
        bench.same("atomic_float_dot", "atomic_float_dot_reduced", 1e-2);
        bench.same("atomic_float_dot_by_warp", "atomic_float_dot_reduced", 1e-2);
    }
    {
        unsigned* key = bench.words(n);
        float *weight = bench.floats(n, 3), *sums = bench.allocate<float>(blocks * 4);
        Output view = Bench::view(sums, blocks * 4);
        LAUNCH(bench, atomic_shared_bins, blocks, 256, 0, view, key, weight, sums, n);
        LAUNCH(bench, atomic_shared_bins_in_registers, blocks, 256, 0, view, key, weight, sums, n);
        bench.same("atomic_shared_bins", "atomic_shared_bins_in_registers", 1e-3);
    }
    return bench.finish();
}
