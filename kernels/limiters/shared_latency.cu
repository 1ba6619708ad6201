// shared-latency: warps wait for shared memory, which is far from full and free of conflicts.
// About thirty warps an SM saturate shared memory, so this happens where an algorithm's shared working set admits few warps.
#include "harness.cuh"

constexpr int walks = 8;
constexpr int hops = 1024;

__device__ unsigned* load_table(const unsigned* table, unsigned rows) {
    unsigned* local = reinterpret_cast<unsigned*>(dynamic_shared);
#pragma unroll 8
    for (unsigned i = threadIdx.x; i < rows * 8; i += blockDim.x)
        reinterpret_cast<uint4*>(local)[i] = reinterpret_cast<const uint4*>(table)[i];
    __syncthreads();
    return local;
}

// Dependent look-ups in a large shared table: each hop waits for the last. Every lane stays in its own bank.
extern "C" __global__ void shared_chase_in_turn(const unsigned* table, unsigned rows, unsigned* out) {
    unsigned* local = load_table(table, rows);
    unsigned lane = threadIdx.x % 32;
    for (int w = 0; w < walks; ++w) {
        unsigned row = (thread_index() * walks + w) % rows;
        for (int h = 0; h < hops; ++h) row = local[row * 32 + lane];
        out[size_t(w) * thread_count() + thread_index()] = row;
    }
}

// Twin: the eight walks of a thread advance together; same table, same occupancy.
extern "C" __global__ void shared_chase_together(const unsigned* table, unsigned rows, unsigned* out) {
    unsigned* local = load_table(table, rows);
    unsigned lane = threadIdx.x % 32;
    unsigned row[walks];
#pragma unroll
    for (int w = 0; w < walks; ++w) row[w] = (thread_index() * walks + w) % rows;
    for (int h = 0; h < hops; ++h) {
#pragma unroll
        for (int w = 0; w < walks; ++w) row[w] = local[row[w] * 32 + lane];
    }
#pragma unroll
    for (int w = 0; w < walks; ++w) out[size_t(w) * thread_count() + thread_index()] = row[w];
}

constexpr int sweep_threads = 128;
constexpr int sweeps = 32;

// Recursive smoothing of a column in shared memory; the previous value goes through shared memory (`volatile`), so each
// step is a store, a load of what was just stored, and a multiply-add.
extern "C" __global__ void shared_carry(const float* in, float* out, int depth) {
    volatile float* column = reinterpret_cast<float*>(dynamic_shared) + threadIdx.x;
    size_t base = size_t(blockIdx.x) * depth * sweep_threads + threadIdx.x;
#pragma unroll 16
    for (int k = 0; k < depth; ++k) column[k * sweep_threads] = in[base + k * sweep_threads];
    for (int s = 0; s < sweeps; ++s)
        for (int k = 1; k < depth; ++k)
            column[k * sweep_threads] = 0.5f * column[k * sweep_threads] + 0.5f * column[(k - 1) * sweep_threads];
    for (int k = 0; k < depth; ++k) out[base + k * sweep_threads] = column[k * sweep_threads];
}

// Twin: the previous value stays in a register, and the loads of eight steps are issued together.
extern "C" __global__ void shared_carry_in_register(const float* in, float* out, int depth) {
    float* column = reinterpret_cast<float*>(dynamic_shared) + threadIdx.x;
    size_t base = size_t(blockIdx.x) * depth * sweep_threads + threadIdx.x;
#pragma unroll 16
    for (int k = 0; k < depth; ++k) column[k * sweep_threads] = in[base + k * sweep_threads];
    for (int s = 0; s < sweeps; ++s) {
        float previous = column[0];
        int k = 1;
        for (; k + 8 <= depth; k += 8) {
            float value[8];
#pragma unroll
            for (int j = 0; j < 8; ++j) value[j] = column[(k + j) * sweep_threads];
#pragma unroll
            for (int j = 0; j < 8; ++j) column[(k + j) * sweep_threads] = previous = 0.5f * value[j] + 0.5f * previous;
        }
        for (; k < depth; ++k) column[k * sweep_threads] = previous = 0.5f * column[k * sweep_threads] + 0.5f * previous;
    }
    for (int k = 0; k < depth; ++k) out[base + k * sweep_threads] = column[k * sweep_threads];
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.sms * bench.scaled(4);
    {
        unsigned rows = bench.shared_per_block * 9 / 10 / 128;  // more than half of an SM: one block resident
        std::vector<uint32_t> random = Bench::random_words(size_t(rows) * 32);
        for (auto& r : random) r %= rows;
        unsigned *table = bench.upload(random), *out = bench.allocate<unsigned>(size_t(blocks) * 256 * walks);
        Output view = Bench::view(out, size_t(blocks) * 256 * walks);
        LAUNCH(bench, shared_chase_in_turn, blocks, 256, rows * 128, view, table, rows, out);
        LAUNCH(bench, shared_chase_together, blocks, 256, rows * 128, view, table, rows, out);
        bench.same("shared_chase_in_turn", "shared_chase_together", 0);
    }
    {
        int depth = static_cast<int>(bench.shared_per_block * 9 / 10 / (4 * sweep_threads));
        size_t n = size_t(blocks) * depth * sweep_threads, shared = size_t(depth) * sweep_threads * 4;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, shared_carry, blocks, sweep_threads, shared, Bench::view(out, n), in, out, depth);
        LAUNCH(bench, shared_carry_in_register, blocks, sweep_threads, shared, Bench::view(out, n), in, out, depth);
        bench.same("shared_carry", "shared_carry_in_register");
    }
    return bench.finish();
}
