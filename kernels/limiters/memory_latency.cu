// memory-latency: the GPU is full of warps, yet each waits for global memory with too few bytes in flight.
#include "harness.cuh"

constexpr int lists_per_warp = 8;
constexpr int hops = 48;

// Each load needs the result of the last: one 128-byte line in flight a warp, however many warps there are.
extern "C" __global__ void chase_one_list(const unsigned* nodes, unsigned count, unsigned* out) {
    unsigned warp = thread_index() / 32, lane = threadIdx.x % 32;
    for (int l = 0; l < lists_per_warp; ++l) {
        unsigned list = warp * lists_per_warp + l;
        unsigned node = list * 7919u % count;
        for (int h = 0; h < hops; ++h) node = nodes[size_t(node) * 32 + lane];
        if (lane == 0) out[list] = node;
    }
}

// Twin: the eight lists of a warp advance together, so eight lines are in flight.
extern "C" __global__ void chase_eight_lists(const unsigned* nodes, unsigned count, unsigned* out) {
    unsigned warp = thread_index() / 32, lane = threadIdx.x % 32;
    unsigned node[lists_per_warp];
#pragma unroll
    for (int l = 0; l < lists_per_warp; ++l) node[l] = (warp * lists_per_warp + l) * 7919u % count;
    for (int h = 0; h < hops; ++h) {
#pragma unroll
        for (int l = 0; l < lists_per_warp; ++l) node[l] = nodes[size_t(node[l]) * 32 + lane];
    }
#pragma unroll
    for (int l = 0; l < lists_per_warp; ++l)
        if (lane == 0) out[warp * lists_per_warp + l] = node[l];
}

__device__ void add_to_total(unsigned sum, unsigned* total) {
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);  // one atomic a warp at the very end
}

// One byte a load and one load at a time: coalesced, but a warp has only 32 bytes in flight.
extern "C" __global__ void sum_single_bytes(const unsigned char* in, size_t n, unsigned* total) {
    unsigned sum = 0;
#pragma unroll 1
    for (size_t i = thread_index(); i < n; i += thread_count()) sum += in[i];
    add_to_total(sum, total);
}

__device__ unsigned bytes_of(unsigned word) { return __dp4a(word, 0x01010101u, 0u); }

// Twin: sixteen bytes a load and four loads at a time.
extern "C" __global__ void sum_sixteen_bytes(const unsigned char* in, size_t n, unsigned* total) {
    const uint4* wide = reinterpret_cast<const uint4*>(in);
    unsigned sum = 0;
#pragma unroll 4
    for (size_t i = thread_index(); i < n / 16; i += thread_count()) {
        uint4 v = wide[i];
        sum += bytes_of(v.x) + bytes_of(v.y) + bytes_of(v.z) + bytes_of(v.w);
    }
    add_to_total(sum, total);
}

constexpr int rows_per_warp = 256;

// Indirection: the row can be loaded only when its number has arrived, and the loop holds one pair at a time.
extern "C" __global__ void gather_rows_in_turn(const unsigned* index, const float* rows, float* out) {
    unsigned warp = thread_index() / 32, lane = threadIdx.x % 32;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < rows_per_warp; ++k) {
        unsigned row = index[size_t(k) * (thread_count() / 32) + warp];
        sum += rows[size_t(row) * 32 + lane];
    }
    out[thread_index()] = sum;
}

// Twin: sixteen row numbers first, then sixteen rows.
extern "C" __global__ void gather_rows_in_batches(const unsigned* index, const float* rows, float* out) {
    unsigned warp = thread_index() / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = 0; k < rows_per_warp; k += 16) {
        unsigned row[16];
        float value[16];
#pragma unroll
        for (int j = 0; j < 16; ++j) row[j] = index[size_t(k + j) * (thread_count() / 32) + warp];
#pragma unroll
        for (int j = 0; j < 16; ++j) value[j] = rows[size_t(row[j]) * 32 + lane];
#pragma unroll
        for (int j = 0; j < 16; ++j) sum += value[j];
    }
    out[thread_index()] = sum;
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.scaled(1) * bench.sms * (bench.threads_per_sm / 256);  // whole waves
    unsigned count = bench.beyond_l2(4, 128);
    {
        std::vector<unsigned> order(count), nodes(size_t(count) * 32);
        std::vector<uint32_t> random = Bench::random_words(count);
        for (unsigned i = 0; i < count; ++i) order[i] = i;
        for (unsigned i = count - 1; i > 0; --i) std::swap(order[i], order[random[i] % i]);
        for (size_t i = 0; i < nodes.size(); ++i) nodes[i] = order[i / 32];
        unsigned* list = bench.upload(nodes);
        size_t n = size_t(blocks) * 8 * lists_per_warp;
        unsigned* out = bench.allocate<unsigned>(n);
        LAUNCH(bench, chase_one_list, blocks, 256, 0, Bench::view(out, n), list, count, out);
        LAUNCH(bench, chase_eight_lists, blocks, 256, 0, Bench::view(out, n), list, count, out);
        bench.same("chase_one_list", "chase_eight_lists", 0);
    }
    {
        size_t n = bench.beyond_l2(4, 1, 1 << 20);
        auto* in = reinterpret_cast<unsigned char*>(bench.words(n / 4));
        unsigned* total = bench.allocate<unsigned>(1);
        unsigned wave = bench.sms * (bench.threads_per_sm / 256);
        LAUNCH(bench, sum_single_bytes, wave, 256, 0, Bench::view(total, 1), in, n, total);
        LAUNCH(bench, sum_sixteen_bytes, wave, 256, 0, Bench::view(total, 1), in, n, total);
        bench.same("sum_single_bytes", "sum_sixteen_bytes", 0);
    }
    {
        size_t warps = size_t(blocks) * 8;
        std::vector<uint32_t> numbers = Bench::random_words(warps * rows_per_warp, 3);
        for (auto& number : numbers) number %= count;
        unsigned* index = bench.upload(numbers);
        float *rows = bench.floats(size_t(count) * 32), *out = bench.allocate<float>(warps * 32);
        LAUNCH(bench, gather_rows_in_turn, blocks, 256, 0, Bench::view(out, warps * 32), index, rows, out);
        LAUNCH(bench, gather_rows_in_batches, blocks, 256, 0, Bench::view(out, warps * 32), index, rows, out);
        bench.same("gather_rows_in_turn", "gather_rows_in_batches");
    }
    return bench.finish();
}
