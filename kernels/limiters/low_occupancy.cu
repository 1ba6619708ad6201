// low-occupancy: registers, shared memory or the number of block slots leave too few warps to hide latency.
#include "harness.cuh"

// A bank of first-order filters over many signals: state = state * pole + sample. A thread holds `width` of the states.
template <int width>
__device__ void filter_bank(const float* in, float* out, unsigned signals, int samples, unsigned signal, int first) {
    float state[width];
#pragma unroll
    for (int f = 0; f < width; ++f) state[f] = 0;
#pragma unroll 1
    for (int t = 0; t < samples; ++t) {
        float sample = in[size_t(t) * signals + signal];
#pragma unroll
        for (int f = 0; f < width; ++f) state[f] = state[f] * (0.25f + 0.02f * (f % 20)) + sample;
    }
#pragma unroll
    for (int f = 0; f < width; ++f) out[size_t(first + f) * signals + signal] = state[f];
}

constexpr int filters = 160;

// All states of a signal live in one thread: about 200 registers, two warps a scheduler, one load in flight each.
extern "C" __global__ void __launch_bounds__(256)
    occupancy_by_registers(const float* in, float* out, unsigned signals, int samples) {
    filter_bank<filters>(in, out, signals, samples, thread_index(), 0);
}

// Twin: eight warps of a block share 32 signals, each with an eighth of the states: an eighth of the registers, so that
// several times as many warps fit. The samples that they share come from the L1.
extern "C" __global__ void __launch_bounds__(256)
    occupancy_by_registers_split(const float* in, float* out, unsigned signals, int samples) {
    int group = threadIdx.x / 32;
    unsigned signal = blockIdx.x * 32 + threadIdx.x % 32;
    filter_bank<filters / 8>(in, out, signals, samples, signal, group * (filters / 8));
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
        unsigned signals = bench.sms * 256 * bench.scaled(2);
        int samples = 192;
        float* in = bench.floats(size_t(signals) * samples);
        float* out = bench.allocate<float>(size_t(signals) * filters);
        Output view = Bench::view(out, size_t(signals) * filters);
        LAUNCH(bench, occupancy_by_registers, signals / 256, 256, 0, view, in, out, signals, samples);
        LAUNCH(bench, occupancy_by_registers_split, signals / 32, 256, 0, view, in, out, signals, samples);
        bench.same("occupancy_by_registers", "occupancy_by_registers_split");
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
        size_t n = bench.beyond_l2(4, 4, 256 * 32);
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, occupancy_by_block_slots, n / 32 / items, 32, 0, Bench::view(out, n), in, out, items);
        LAUNCH(bench, occupancy_by_block_slots_256, n / 256 / items, 256, 0, Bench::view(out, n), in, out, items);
        bench.same("occupancy_by_block_slots", "occupancy_by_block_slots_256");
    }
    return bench.finish();
}
