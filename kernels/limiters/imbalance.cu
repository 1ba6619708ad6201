// imbalance: some blocks have far more work than the rest, and the SMs without such a block wait for them.
#include "harness.cuh"

// Element i of a growing recurrence needs work in proportion to the cube of its position.
__device__ int steps_of(unsigned chunk, unsigned chunks, int longest) {
    float position = (chunk + 1.0f) / chunks;
    return 16 + static_cast<int>(longest * position * position * position);
}

__device__ void do_chunk(const float* in, float* out, unsigned chunk, unsigned chunks, int longest) {
    size_t i = size_t(chunk) * blockDim.x + threadIdx.x;
    out[i] = chain(in[i], steps_of(chunk, chunks, longest));
}

// Neighbouring chunks go to one block: the last blocks do almost all of the work.
extern "C" __global__ void imbalance_growing_work(const float* in, float* out, int longest) {
    unsigned chunks = 16 * gridDim.x;
    for (unsigned c = 0; c < 16; ++c) do_chunk(in, out, blockIdx.x * 16 + c, chunks, longest);
}

// Twin: chunks are dealt like cards, forth and back, so every block gets short and long ones.
extern "C" __global__ void imbalance_growing_work_dealt(const float* in, float* out, int longest) {
    unsigned chunks = 16 * gridDim.x;
    for (unsigned c = 0; c < 16; ++c) {
        unsigned place = c % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
        do_chunk(in, out, c * gridDim.x + place, chunks, longest);
    }
}

// Sum of one stretch of a row, by one block of 128 threads.
__device__ float stretch_sum(const float* in, unsigned begin, unsigned end) {
    __shared__ float partial[4];
    float sum = 0;
    for (unsigned i = begin + threadIdx.x; i < end; i += blockDim.x) sum += chain(in[i], 64);
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    return partial[0] + partial[1] + partial[2] + partial[3];
}

// One block a row of a sparse matrix in which one row of 64 is 64 times as long as the others.
extern "C" __global__ void imbalance_long_rows(const float* in, const unsigned* begin, float* out) {
    float sum = stretch_sum(in, begin[blockIdx.x], begin[blockIdx.x + 1]);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Twin: one block a stretch of equal length; long rows are several stretches that add up.
extern "C" __global__ void imbalance_long_rows_cut(const float* in, const uint3* stretch, float* out) {
    uint3 s = stretch[blockIdx.x];
    float sum = stretch_sum(in, s.y, s.z);
    if (threadIdx.x == 0) atomicAdd(&out[s.x], sum);
}

// The first eighth of the items is 16 times as expensive.
__device__ void do_item(const float* in, float* out, unsigned item, unsigned items) {
    size_t i = size_t(item) * blockDim.x + threadIdx.x;
    out[i] = chain(in[i], item < items / 8 ? 4096 : 256);
}

// Each resident block takes a fixed share of the items in a row, and the expensive ones stand together.
extern "C" __global__ void imbalance_fixed_shares(const float* in, float* out, unsigned items, unsigned* queue) {
    unsigned share = items / gridDim.x;
    for (unsigned k = 0; k < share; ++k) do_item(in, out, blockIdx.x * share + k, items);
}

// Twin: blocks take the next item from a queue when they are done with the last.
extern "C" __global__ void imbalance_fixed_shares_queue(const float* in, float* out, unsigned items, unsigned* queue) {
    __shared__ unsigned item;
    for (;;) {
        if (threadIdx.x == 0) item = atomicAdd(queue, 1u);
        __syncthreads();
        if (item >= items) return;
        do_item(in, out, item, items);
        __syncthreads();
    }
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        unsigned blocks = bench.sms * std::max(1, bench.threads_per_sm / 1024);
        size_t n = size_t(blocks) * 16 * 1024;
        int longest = bench.scaled(1536);
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, imbalance_growing_work, blocks, 1024, 0, Bench::view(out, n), in, out, longest);
        LAUNCH(bench, imbalance_growing_work_dealt, blocks, 1024, 0, Bench::view(out, n), in, out, longest);
        bench.same("imbalance_growing_work", "imbalance_growing_work_dealt");
    }
    {
        unsigned rows = bench.sms * 32, stretch = 1024 * 4;
        std::vector<unsigned> begin{0};
        std::vector<uint3> stretches;
        for (unsigned row = 0; row < rows; ++row) {
            unsigned parts = row % 64 == 0 ? bench.scaled(64) : 1;
            for (unsigned p = 0; p < parts; ++p) {
                unsigned from = begin.back() + p * stretch;
                stretches.push_back(make_uint3(row, from, from + stretch));
            }
            begin.push_back(begin.back() + parts * stretch);
        }
        float* in = bench.floats(begin.back());
        float* out = bench.allocate<float>(rows);
        unsigned* begins = bench.upload(begin);
        uint3* cut = bench.upload(stretches);
        LAUNCH(bench, imbalance_long_rows, rows, 128, 0, Bench::view(out, rows), in, begins, out);
        LAUNCH(bench, imbalance_long_rows_cut, stretches.size(), 128, 0, Bench::view(out, rows), in, cut, out);
        bench.same("imbalance_long_rows", "imbalance_long_rows_cut", 1e-3);
    }
    {
        unsigned blocks = bench.sms * std::max(1, bench.threads_per_sm / 1024);
        unsigned items = blocks * bench.scaled(16);
        size_t n = size_t(items) * 1024;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        unsigned* queue = bench.allocate<unsigned>(1);
        bench.before_each([=] { CUDA_OK(cudaMemset(queue, 0, sizeof(unsigned))); });
        LAUNCH(bench, imbalance_fixed_shares, blocks, 1024, 0, Bench::view(out, n), in, out, items, queue);
        LAUNCH(bench, imbalance_fixed_shares_queue, blocks, 1024, 0, Bench::view(out, n), in, out, items, queue);
        bench.same("imbalance_fixed_shares", "imbalance_fixed_shares_queue");
    }
    return bench.finish();
}
