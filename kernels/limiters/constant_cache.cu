// constant-cache: constant reads that diverge within a warp, or a constant working set that the constant caches cannot hold.
#include "harness.cuh"

constexpr int entries = 16384;  // 64 KB, all the constant memory there is
__constant__ float constants[entries];

__device__ unsigned scramble(unsigned x) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
}

constexpr int small_entries = 1024;
constexpr int look_ups = 64;

// The constant cache serves one address a cycle; 32 lanes with 32 different indices take 32 turns.
extern "C" __global__ void constant_divergent(const unsigned* seeds, const float* table, float* out) {
    unsigned x = seeds[thread_index()] | 1u;
    float sum = 0;
    for (int k = 0; k < look_ups; ++k) {
        x = scramble(x);
        sum += constants[x % small_entries];
    }
    out[thread_index()] = sum;
}

// Twin: the table is copied to shared memory, where lanes may read different banks at once.
extern "C" __global__ void constant_divergent_to_shared(const unsigned* seeds, const float* table, float* out) {
    __shared__ float local[small_entries];
    for (int i = threadIdx.x; i < small_entries; i += blockDim.x) local[i] = table[i];
    __syncthreads();
    unsigned x = seeds[thread_index()] | 1u;
    float sum = 0;
    for (int k = 0; k < look_ups; ++k) {
        x = scramble(x);
        sum += local[x % small_entries];
    }
    out[thread_index()] = sum;
}

constexpr int steps = 512;

// All lanes read the same constant, but every warp walks its own way through all 64 KB, in jumps: nothing stays cached.
extern "C" __global__ void constant_large_set(const unsigned* starts, const float* table, float* out) {
    unsigned place = starts[thread_index() / 32];
    float sum = 0;
#pragma unroll 4
    for (int s = 0; s < steps; ++s) {
        sum = sum * 0.5f + constants[place % entries];
        place += 1543;
    }
    out[thread_index()] = sum;
}

// Twin: the same table in global memory; it fits the L1, which serves a broadcast in one go.
extern "C" __global__ void constant_large_set_to_global(const unsigned* starts, const float* __restrict__ table,
                                                        float* out) {
    unsigned place = starts[thread_index() / 32];
    float sum = 0;
#pragma unroll 4
    for (int s = 0; s < steps; ++s) {
        sum = sum * 0.5f + table[place % entries];
        place += 1543;
    }
    out[thread_index()] = sum;
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    std::vector<float> values = Bench::random_floats(entries);
    CUDA_OK(cudaMemcpyToSymbol(constants, values.data(), sizeof(float) * entries));
    float* table = bench.upload(values);
    unsigned blocks = bench.sms * (bench.threads_per_sm / 256) * bench.scaled(2);
    size_t n = size_t(blocks) * 256;
    unsigned* words = bench.words(n);
    float* out = bench.allocate<float>(n);
    LAUNCH(bench, constant_divergent, blocks, 256, 0, Bench::view(out, n), words, table, out);
    LAUNCH(bench, constant_divergent_to_shared, blocks, 256, 0, Bench::view(out, n), words, table, out);
    bench.same("constant_divergent", "constant_divergent_to_shared");
    LAUNCH(bench, constant_large_set, blocks, 256, 0, Bench::view(out, n), words, table, out);
    LAUNCH(bench, constant_large_set_to_global, blocks, 256, 0, Bench::view(out, n), words, table, out);
    bench.same("constant_large_set", "constant_large_set_to_global");
    return bench.finish();
}
