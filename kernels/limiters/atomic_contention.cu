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

// Up to 16 bins, one private copy a thread in shared memory; the copies meet once a block.
__device__ void private_histogram(const unsigned* key, unsigned* bins, size_t n, unsigned mask) {
    __shared__ unsigned copy[16][257];
    for (int b = 0; b < 16; ++b) copy[b][threadIdx.x] = 0;
    for (size_t i = thread_index(); i < n; i += thread_count()) ++copy[key[i] & mask][threadIdx.x];
    __syncthreads();
    for (unsigned b = threadIdx.x / 32; b <= mask; b += blockDim.x / 32) {
        unsigned sum = 0;
        for (unsigned t = threadIdx.x % 32; t < blockDim.x; t += 32) sum += copy[b][t];
        for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (threadIdx.x % 32 == 0 && sum) atomicAdd(&bins[b], sum);
    }
}

// Twins: count in private copies, then one global atomic a bin and block.
extern "C" __global__ void atomic_one_bin_private(const unsigned* key, unsigned* bins, size_t n, unsigned mask) {
    private_histogram(key, bins, n, mask);
}
extern "C" __global__ void atomic_few_bins_private(const unsigned* key, unsigned* bins, size_t n, unsigned mask) {
    private_histogram(key, bins, n, mask);
}

// A dot product in which every thread adds its product to one float.
extern "C" __global__ void atomic_float_dot(const float* a, const float* b, float* sum, size_t n) {
    for (size_t i = thread_index(); i < n; i += thread_count()) atomicAdd(sum, a[i] * b[i]);
}

// Twin: sum in a register, then in the warp, then in the block; one atomic a block.
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

// Shared-memory atomics on four bins: eight lanes of each warp meet in a bin, and all warps of the block too.
extern "C" __global__ void atomic_shared_bins(const unsigned* keys, unsigned* bins, size_t n) {
    __shared__ unsigned local[4];
    if (threadIdx.x < 4) local[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = thread_index(); i < n; i += thread_count()) {
        unsigned word = keys[i];
        for (int k = 0; k < 16; ++k) atomicAdd(&local[word >> (2 * k) & 3], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// Twin: four counters in registers; the atomics come once a warp.
extern "C" __global__ void atomic_shared_bins_in_registers(const unsigned* keys, unsigned* bins, size_t n) {
    __shared__ unsigned local[4];
    if (threadIdx.x < 4) local[threadIdx.x] = 0;
    __syncthreads();
    unsigned count[4] = {0, 0, 0, 0};
    for (size_t i = thread_index(); i < n; i += thread_count()) {
        unsigned low = keys[i] & 0x55555555u, high = keys[i] >> 1 & 0x55555555u;
        count[0] += __popc(~low & ~high & 0x55555555u);
        count[1] += __popc(low & ~high);
        count[2] += __popc(~low & high);
        count[3] += __popc(low & high);
    }
    for (int b = 0; b < 4; ++b) {
        for (int step = 16; step; step /= 2) count[b] += __shfl_down_sync(~0u, count[b], step);
        if (threadIdx.x % 32 == 0) atomicAdd(&local[b], count[b]);
    }
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.sms * (bench.threads_per_sm / 256);
    unsigned* bins = bench.allocate<unsigned>(16);
    size_t n = bench.scaled(bench.sms * 2048.0 * 8, 4096);
    {
        unsigned* keys = bench.words(n);
        LAUNCH(bench, atomic_one_bin, blocks, 256, 0, Bench::view(bins, 16), keys, bins, n, 0u);
        LAUNCH(bench, atomic_one_bin_private, blocks, 256, 0, Bench::view(bins, 16), keys, bins, n, 0u);
        bench.same("atomic_one_bin", "atomic_one_bin_private", 0);
        LAUNCH(bench, atomic_few_bins, blocks, 256, 0, Bench::view(bins, 16), keys, bins, n, 15u);
        LAUNCH(bench, atomic_few_bins_private, blocks, 256, 0, Bench::view(bins, 16), keys, bins, n, 15u);
        bench.same("atomic_few_bins", "atomic_few_bins_private", 0);
    }
    {
        size_t m = n / 4;
        float *a = bench.floats(m, 1), *b = bench.floats(m, 2), *sum = bench.allocate<float>(1);
        LAUNCH(bench, atomic_float_dot, blocks, 256, 0, Bench::view(sum, 1), a, b, sum, m);
        LAUNCH(bench, atomic_float_dot_reduced, blocks, 256, 0, Bench::view(sum, 1), a, b, sum, m);
        bench.same("atomic_float_dot", "atomic_float_dot_reduced", 1e-2);
    }
    {
        size_t m = n * 2;
        unsigned* keys = bench.words(m);
        LAUNCH(bench, atomic_shared_bins, blocks, 256, 0, Bench::view(bins, 4), keys, bins, m);
        LAUNCH(bench, atomic_shared_bins_in_registers, blocks, 256, 0, Bench::view(bins, 4), keys, bins, m);
        bench.same("atomic_shared_bins", "atomic_shared_bins_in_registers", 0);
    }
    return bench.finish();
}
