// grid-too-small: fewer blocks than SMs, or so little work that the launch is most of the time.
#include "harness.cuh"

__device__ void polish(const float* in, float* out, unsigned n, int steps) {
    for (unsigned i = thread_index(); i < n; i += thread_count()) out[i] = chain(in[i], steps);
}

// One block for every eight SMs: seven SMs of eight have nothing to do.
extern "C" __global__ void small_grid_compute(const float* in, float* out, unsigned n, int steps) {
    polish(in, out, n, steps);
}

// Twin: the same loop, launched with enough blocks to fill every SM several times.
extern "C" __global__ void small_grid_compute_spread(const float* in, float* out, unsigned n, int steps) {
    polish(in, out, n, steps);
}

__device__ void scale_stream(const float4* in, float4* out, unsigned n) {
#pragma unroll 4
    for (unsigned i = thread_index(); i < n; i += thread_count()) {
        float4 v = in[i];
        out[i] = make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
    }
}

// A stream that a quarter of the SMs pulls: they cannot keep enough bytes in flight for the whole DRAM.
extern "C" __global__ void small_grid_stream(const float4* in, float4* out, unsigned n) { scale_stream(in, out, n); }

// Twin: the same loop on all SMs.
extern "C" __global__ void small_grid_stream_spread(const float4* in, float4* out, unsigned n) {
    scale_stream(in, out, n);
}

__device__ float block_sum(float v) {
    __shared__ float partial[32];
    for (int step = 16; step; step /= 2) v += __shfl_down_sync(~0u, v, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
    if (threadIdx.x < 32)
        for (int step = 16; step; step /= 2) v += __shfl_down_sync(~0u, v, step);
    return v;
}

__device__ void sum_row(const float* in, float* out, unsigned row, unsigned width) {
    float sum = 0;
    for (unsigned x = threadIdx.x; x < width; x += blockDim.x) sum += in[size_t(row) * width + x];
    sum = block_sum(sum);
    if (threadIdx.x == 0) out[row] = sum;
}

// A batch whose rows are independent, walked by sixteen blocks in a loop over rows.
extern "C" __global__ void small_grid_batch(const float* in, float* out, unsigned rows, unsigned width) {
    for (unsigned row = blockIdx.x; row < rows; row += gridDim.x) sum_row(in, out, row, width);
}

// Twin: the outer loop became the grid, one block a row.
extern "C" __global__ void small_grid_batch_spread(const float* in, float* out, unsigned rows, unsigned width) {
    sum_row(in, out, blockIdx.x, width);
}

// So little work that the launch itself is most of the time; only merging it with other work would help.
extern "C" __global__ void tiny_launch(const float* in, float* out) { out[thread_index()] = 2 * in[thread_index()] + 1; }

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned few = std::max(1, bench.sms / 8);
    {
        unsigned n = bench.scaled(bench.sms * 2048.0 * 8, 256);
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, small_grid_compute, few, 256, 0, Bench::view(out, n), in, out, n, 1024);
        LAUNCH(bench, small_grid_compute_spread, bench.sms * 64, 256, 0, Bench::view(out, n), in, out, n, 1024);
        bench.same("small_grid_compute", "small_grid_compute_spread");
    }
    {
        unsigned n = bench.beyond_l2(3, 16);
        float4* in = reinterpret_cast<float4*>(bench.floats(size_t(n) * 4));
        float4* out = bench.allocate<float4>(n);
        Output view = Bench::view(reinterpret_cast<float*>(out), size_t(n) * 4);
        LAUNCH(bench, small_grid_stream, std::max(1, bench.sms / 4), 256, 0, view, in, out, n);
        LAUNCH(bench, small_grid_stream_spread, bench.sms * 8, 256, 0, view, in, out, n);
        bench.same("small_grid_stream", "small_grid_stream_spread");
    }
    {
        unsigned rows = bench.scaled(bench.sms * 16.0), width = 16384;
        float *in = bench.floats(size_t(rows) * width), *out = bench.allocate<float>(rows);
        LAUNCH(bench, small_grid_batch, few, 256, 0, Bench::view(out, rows), in, out, rows, width);
        LAUNCH(bench, small_grid_batch_spread, rows, 256, 0, Bench::view(out, rows), in, out, rows, width);
        bench.same("small_grid_batch", "small_grid_batch_spread");
    }
    {
        float *in = bench.floats(8192), *out = bench.allocate<float>(8192);
        LAUNCH(bench, tiny_launch, 32, 256, 0, Bench::view(out, 8192), in, out);
    }
    return bench.finish();
}
