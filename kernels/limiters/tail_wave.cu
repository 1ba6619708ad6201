// tail-wave: the blocks of a last, partial wave run while most SMs have nothing left.
#include "harness.cuh"

// A tile passes through shared memory, as a filter would do it; one dependent chain a thread.
__device__ void filter_tile(const float* in, float* out, size_t tile) {
    float* staged = reinterpret_cast<float*>(dynamic_shared);
    staged[threadIdx.x] = in[tile * blockDim.x + threadIdx.x];
    __syncthreads();
    float x = chain(staged[(threadIdx.x + 1) % blockDim.x], 2048);
    out[tile * blockDim.x + threadIdx.x] = x;
    __syncthreads();
}

// The block asks for all shared memory of an SM, so a wave is one block an SM; 2.1 waves need the time of 3.
extern "C" __global__ void tail_of_big_blocks(const float* in, float* out, int tiles) {
    for (int t = 0; t < tiles; ++t) filter_tile(in, out, size_t(blockIdx.x) * tiles + t);
}

// Twin: a block does one tile of sixteen, so that the same work makes 33.6 waves and the last one costs little.
extern "C" __global__ void tail_of_big_blocks_split(const float* in, float* out) { filter_tile(in, out, blockIdx.x); }

constexpr int hops = 96;

// Follow a linked list of 128-byte nodes; the node number is stored in every lane's word.
__device__ unsigned walk(const unsigned* nodes, unsigned node) {
    for (int h = 0; h < hops; ++h) node = nodes[size_t(node) * 32 + threadIdx.x % 32];
    return node;
}

// Blocks of 1024 threads that wait for memory take the same time alone or in company: 1.1 waves cost 2.
extern "C" __global__ void tail_of_latency_blocks(const unsigned* nodes, unsigned count, unsigned* out, int lists) {
    unsigned warp = thread_index() / 32;
    for (int l = 0; l < lists; ++l) {
        unsigned list = warp * lists + l;
        unsigned end = walk(nodes, list * 7919u % count);
        out[size_t(list) * 32 + threadIdx.x % 32] = end;
    }
}

// Twin: one list of eight a warp and blocks of 256 threads, eight times as many waves, each an eighth as long.
extern "C" __global__ void tail_of_latency_blocks_split(const unsigned* nodes, unsigned count, unsigned* out) {
    unsigned list = thread_index() / 32;
    unsigned end = walk(nodes, list * 7919u % count);
    out[thread_index()] = end;
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        // The scale lengthens the blocks: more waves would make the partial one a smaller part of the time.
        int tiles = static_cast<int>(bench.scaled(16));
        unsigned blocks = static_cast<unsigned>(2.1 * bench.sms);
        size_t n = size_t(blocks) * tiles * 256;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        size_t shared = bench.shared_per_block;
        LAUNCH(bench, tail_of_big_blocks, blocks, 256, shared, Bench::view(out, n), in, out, tiles);
        LAUNCH(bench, tail_of_big_blocks_split, blocks * tiles, 256, shared, Bench::view(out, n), in, out);
        bench.same("tail_of_big_blocks", "tail_of_big_blocks_split");
    }
    {
        unsigned count = bench.l2_bytes / 4 / 128;  // a quarter of the L2
        std::vector<unsigned> order(count), nodes(size_t(count) * 32);
        std::vector<uint32_t> random = Bench::random_words(count);
        for (unsigned i = 0; i < count; ++i) order[i] = i;
        for (unsigned i = count - 1; i > 0; --i) std::swap(order[i], order[random[i] % i]);
        for (size_t i = 0; i < nodes.size(); ++i) nodes[i] = order[i / 32];
        unsigned* list = bench.upload(nodes);
        int per_sm = bench.threads_per_sm / 1024, lists = static_cast<int>(bench.scaled(8));
        unsigned blocks = static_cast<unsigned>(1.1 * per_sm * bench.sms);
        size_t n = size_t(blocks) * 1024 * lists;
        unsigned* out = bench.allocate<unsigned>(n);
        LAUNCH(bench, tail_of_latency_blocks, blocks, 1024, 0, Bench::view(out, n), list, count, out, lists);
        LAUNCH(bench, tail_of_latency_blocks_split, n / 256, 256, 0, Bench::view(out, n), list, count, out);
        bench.same("tail_of_latency_blocks", "tail_of_latency_blocks_split", 0);
    }
    return bench.finish();
}
