// low-occupancy: registers, shared memory or the number of block slots leave too few warps to hide latency.
#include "harness.cuh"

constexpr int weights = 160;
constexpr int hops = 96;

// Follow a linked list of 128-byte nodes; the node number is stored in every lane's word. One load in flight a warp.
__device__ float walk(const unsigned* nodes, unsigned count, float start) {
    unsigned node = __shfl_sync(~0u, __float_as_uint(start), 0) % count;
    for (int h = 0; h < hops; ++h) node = nodes[size_t(node) * 32 + threadIdx.x % 32];
    return node * 1e-9f;
}

// The 160 weights of a thread are needed before the walk, to find its start, and again after it. Kept in registers all the
// while, they leave room for two warps a scheduler, too few to hide the latency of the walk. (`volatile`: the compiler
// shall not read them again.)
extern "C" __global__ void __launch_bounds__(256)
    occupancy_by_registers(const unsigned* nodes, unsigned count, const float* weight, float* out) {
    const volatile float* mine = weight + thread_index();
    float w[weights], start = 0, sum = 0;
#pragma unroll
    for (int k = 0; k < weights; ++k) w[k] = mine[size_t(k) * thread_count()];
#pragma unroll
    for (int k = 0; k < weights; ++k) start += w[k];
    float x = walk(nodes, count, start);
#pragma unroll
    for (int k = 0; k < weights; ++k) sum = sum * x + w[k];
    out[thread_index()] = sum;
}

// Twin: the weights are read a second time when they are needed again. A few registers, a full SM of warps.
extern "C" __global__ void __launch_bounds__(256)
    occupancy_by_registers_read_twice(const unsigned* nodes, unsigned count, const float* weight, float* out) {
    const volatile float* mine = weight + thread_index();
    float start = 0, sum = 0;
#pragma unroll 8
    for (int k = 0; k < weights; ++k) start += mine[size_t(k) * thread_count()];
    float x = walk(nodes, count, start);
#pragma unroll 8
    for (int k = 0; k < weights; ++k) sum = sum * x + mine[size_t(k) * thread_count()];
    out[thread_index()] = sum;
}

// A lookup table in shared memory, of which two copies fit an SM, and a stream through it.
__device__ void look_up(const float* in, const float* table, float* out, size_t n, unsigned entries) {
    float* local = reinterpret_cast<float*>(dynamic_shared);
    for (unsigned i = threadIdx.x; i < entries; i += blockDim.x) local[i] = table[i];
    __syncthreads();
    size_t chunk = n / gridDim.x, begin = blockIdx.x * chunk;
#pragma unroll 1
    for (size_t i = begin + threadIdx.x; i < begin + chunk; i += blockDim.x) {
        float x = in[i];
        out[i] = x + local[static_cast<unsigned>(x * entries) % entries];
    }
}

// Every 128 threads bring their own copy of the table: eight warps an SM.
extern "C" __global__ void occupancy_by_shared(const float* in, const float* table, float* out, size_t n,
                                               unsigned entries) {
    look_up(in, table, out, n, entries);
}

// Twin: 1024 threads share a copy.
extern "C" __global__ void __launch_bounds__(1024)
    occupancy_by_shared_1024(const float* in, const float* table, float* out, size_t n, unsigned entries) {
    look_up(in, table, out, n, entries);
}

__device__ void scale_chunk(const float* in, float* out, int items) {
    size_t begin = size_t(blockIdx.x) * blockDim.x * items + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < items; ++k) out[begin + size_t(k) * blockDim.x] = 2 * in[begin + size_t(k) * blockDim.x] + 1;
}

// One warp a block: the slots for blocks run out when half or a third of the warps are resident.
extern "C" __global__ void occupancy_by_block_slots(const float* in, float* out, int items) {
    scale_chunk(in, out, items);
}

// Twin: eight warps a block.
extern "C" __global__ void occupancy_by_block_slots_256(const float* in, float* out, int items) {
    scale_chunk(in, out, items);
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        unsigned count = bench.beyond_l2(2, 128);
        std::vector<unsigned> order(count), nodes(size_t(count) * 32);
        std::vector<uint32_t> random = Bench::random_words(count);
        for (unsigned i = 0; i < count; ++i) order[i] = i;
        for (unsigned i = count - 1; i > 0; --i) std::swap(order[i], order[random[i] % i]);
        for (size_t i = 0; i < nodes.size(); ++i) nodes[i] = order[i / 32];
        unsigned* list = bench.upload(nodes);
        size_t n = bench.sms * (bench.threads_per_sm / 256) * bench.scaled(1) * 256;
        float *weight = bench.floats(n * weights), *out = bench.allocate<float>(n);
        LAUNCH(bench, occupancy_by_registers, n / 256, 256, 0, Bench::view(out, n), list, count, weight, out);
        LAUNCH(bench, occupancy_by_registers_read_twice, n / 256, 256, 0, Bench::view(out, n), list, count, weight, out);
        bench.same("occupancy_by_registers", "occupancy_by_registers_read_twice");
    }
    {
        unsigned entries = std::min(bench.shared_per_block, bench.shared_per_sm / 2 - 2048) * 9 / 10 / 4;
        unsigned blocks = bench.sms * 2;
        size_t n = bench.beyond_l2(2, 4, size_t(blocks) * 1024);
        float *in = bench.floats(n), *table = bench.floats(entries, 2), *out = bench.allocate<float>(n);
        Output view = Bench::view(out, n);
        LAUNCH(bench, occupancy_by_shared, blocks, 128, entries * 4, view, in, table, out, n, entries);
        LAUNCH(bench, occupancy_by_shared_1024, blocks, 1024, entries * 4, view, in, table, out, n, entries);
        bench.same("occupancy_by_shared", "occupancy_by_shared_1024");
    }
    {
        int items = 32;
        size_t n = bench.beyond_l2(16, 4, 256 * 32);
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, occupancy_by_block_slots, n / 32 / items, 32, 0, Bench::view(out, n), in, out, items);
        LAUNCH(bench, occupancy_by_block_slots_256, n / 256 / items, 256, 0, Bench::view(out, n), in, out, items);
        bench.same("occupancy_by_block_slots", "occupancy_by_block_slots_256");
    }
    return bench.finish();
}
