// instruction-dependency: each instruction needs the result of the last, and too few warps fill the gap.
// Sixteen warps a scheduler hide any fixed latency, so this happens where registers or shared memory admit one or two.
#include "harness.cuh"

constexpr int degree = 184;

// Horner's rule, one point after another: every multiply-add waits four cycles for the one before. The coefficients
// fill the registers (two warps a scheduler).
extern "C" __global__ void __launch_bounds__(128) horner_one_point(const float* coefficients, float* out, int points) {
    float c[degree], sum = 0;
#pragma unroll
    for (int k = 0; k < degree; ++k) c[k] = coefficients[k * thread_count() + thread_index()];
#pragma unroll 1
    for (int j = 0; j < points; ++j) {
        float x = j * 1e-3f, y = c[0];
#pragma unroll
        for (int k = 1; k < degree; ++k) y = y * x + c[k];
        sum += y;
    }
    out[thread_index()] = sum;
}

// Twin: four points at once, four independent chains; same registers, same occupancy.
extern "C" __global__ void __launch_bounds__(128) horner_four_points(const float* coefficients, float* out, int points) {
    float c[degree], sum = 0;
#pragma unroll
    for (int k = 0; k < degree; ++k) c[k] = coefficients[k * thread_count() + thread_index()];
#pragma unroll 1
    for (int j = 0; j < points; j += 4) {
        float y[4];
#pragma unroll
        for (int p = 0; p < 4; ++p) y[p] = c[0];
#pragma unroll
        for (int k = 1; k < degree; ++k) {
#pragma unroll
            for (int p = 0; p < 4; ++p) y[p] = y[p] * ((j + p) * 1e-3f) + c[k];
        }
        sum += y[0];
        sum += y[1];
        sum += y[2];
        sum += y[3];
    }
    out[thread_index()] = sum;
}

constexpr int messages = 8;
constexpr int rounds = 3072;

__device__ unsigned scramble(unsigned x) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
}

// The seeds are drawn from a table in shared memory that leaves room for one block of 128 threads.
__device__ unsigned seed(const unsigned* table, unsigned entries, unsigned message) {
    unsigned* local = reinterpret_cast<unsigned*>(dynamic_shared);
    if (message == 0) {
#pragma unroll 8
        for (unsigned i = threadIdx.x; i < entries / 4; i += blockDim.x)
            reinterpret_cast<uint4*>(local)[i] = reinterpret_cast<const uint4*>(table)[i];
        __syncthreads();
    }
    return local[(thread_index() * messages + message) % entries] | 1u;
}

// Scrambling is one chain of shifts and xors; one message after another, one warp a scheduler.
extern "C" __global__ void scramble_in_turn(const unsigned* table, unsigned entries, unsigned* out) {
    for (int m = 0; m < messages; ++m) {
        unsigned x = seed(table, entries, m);
#pragma unroll 4
        for (int r = 0; r < rounds; ++r) x = scramble(x);
        out[size_t(m) * thread_count() + thread_index()] = x;
    }
}

// Twin: the eight messages of a thread advance together.
extern "C" __global__ void scramble_together(const unsigned* table, unsigned entries, unsigned* out) {
    unsigned x[messages];
#pragma unroll
    for (int m = 0; m < messages; ++m) x[m] = seed(table, entries, m);
#pragma unroll 4
    for (int r = 0; r < rounds; ++r) {
#pragma unroll
        for (int m = 0; m < messages; ++m) x[m] = scramble(x[m]);
    }
#pragma unroll
    for (int m = 0; m < messages; ++m) out[size_t(m) * thread_count() + thread_index()] = x[m];
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        unsigned threads = bench.sms * 256 * bench.scaled(2);
        float *c = bench.floats(size_t(threads) * degree), *out = bench.allocate<float>(threads);
        LAUNCH(bench, horner_one_point, threads / 128, 128, 0, Bench::view(out, threads), c, out, 256);
        LAUNCH(bench, horner_four_points, threads / 128, 128, 0, Bench::view(out, threads), c, out, 256);
        bench.same("horner_one_point", "horner_four_points");
    }
    {
        unsigned blocks = bench.sms * bench.scaled(2), entries = bench.shared_per_block * 9 / 10 / 16 * 4;
        size_t n = size_t(blocks) * 128 * messages;
        unsigned *table = bench.words(entries), *out = bench.allocate<unsigned>(n);
        LAUNCH(bench, scramble_in_turn, blocks, 128, entries * 4, Bench::view(out, n), table, entries, out);
        LAUNCH(bench, scramble_together, blocks, 128, entries * 4, Bench::view(out, n), table, entries, out);
        bench.same("scramble_in_turn", "scramble_together", 0);
    }
    return bench.finish();
}
