// l2-bandwidth: the working set lives in the L2, accesses are well formed, and the L2 serves all it can.
#include "harness.cuh"

constexpr int chunk = 4096;  // floats a block reads: 16 KB
constexpr int queries = 64;

__device__ float distance(float4 v, float q) {
    float a = v.x - q, b = v.y - q, c = v.z - q, d = v.w - q;
    return a * a + b * b + c * c + d * d;
}

__device__ float block_sum(float v) {
    __shared__ float partial[8];
    for (int step = 16; step; step /= 2) v += __shfl_xor_sync(~0u, v, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int w = 0; w < 8; ++w) v += partial[w];
    return v;
}

// Each of 64 queries reads all of the data, a quarter of the L2, once more. `__ldcg` reads past the L1.
extern "C" __global__ void l2_read_per_query(const float4* data, const float* query, float* out) {
    float q = query[blockIdx.y], sum = 0;
    const float4* mine = data + size_t(blockIdx.x) * (chunk / 4) + threadIdx.x;
#pragma unroll
    for (int k = 0; k < chunk / 4 / 256; ++k) sum += distance(__ldcg(mine + k * 256), q);
    sum = block_sum(sum);
    if (threadIdx.x == 0) out[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

// Twin: sixteen queries share one reading.
extern "C" __global__ void l2_read_shared_by_queries(const float4* data, const float* query, float* out) {
    float sum[16];
#pragma unroll
    for (int j = 0; j < 16; ++j) sum[j] = 0;
    const float4* mine = data + size_t(blockIdx.x) * (chunk / 4) + threadIdx.x;
#pragma unroll
    for (int k = 0; k < chunk / 4 / 256; ++k) {
        float4 v = __ldcg(mine + k * 256);
#pragma unroll
        for (int j = 0; j < 16; ++j) sum[j] += distance(v, query[blockIdx.y * 16 + j]);
    }
#pragma unroll
    for (int j = 0; j < 16; ++j) {
        float total = block_sum(sum[j]);
        if (threadIdx.x == 0) out[(blockIdx.y * 16 + j) * gridDim.x + blockIdx.x] = total;
    }
}

constexpr int passes = 32;

// A running sum kept in global memory: each of 32 passes reads and writes it again, all within the L2.
extern "C" __global__ void l2_accumulate_in_memory(float4* sum, unsigned n) {
    for (int p = 0; p < passes; ++p) {
#pragma unroll 4
        for (unsigned i = thread_index(); i < n; i += thread_count()) {
            float4 v = __ldcg(sum + i);
            float more = p + i % 64;
            __stcg(sum + i, make_float4(v.x + more, v.y + more, v.z + more, v.w + more));
        }
    }
}

// Twin: the sum is kept in a register and written once.
extern "C" __global__ void l2_accumulate_in_register(float4* sum, unsigned n) {
    for (unsigned i = thread_index(); i < n; i += thread_count()) {
        float4 v = __ldcg(sum + i);
        for (int p = 0; p < passes; ++p) {
            float more = p + i % 64;
            v = make_float4(v.x + more, v.y + more, v.z + more, v.w + more);
        }
        __stcg(sum + i, v);
    }
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        unsigned chunks = bench.scaled(bench.l2_bytes / 4.0 / (chunk * 4));
        float4* data = reinterpret_cast<float4*>(bench.floats(size_t(chunks) * chunk));
        float *query = bench.floats(queries, 7), *out = bench.allocate<float>(size_t(chunks) * queries);
        Output view = Bench::view(out, size_t(chunks) * queries);
        LAUNCH(bench, l2_read_per_query, dim3(chunks, queries), 256, 0, view, data, query, out);
        LAUNCH(bench, l2_read_shared_by_queries, dim3(chunks, queries / 16), 256, 0, view, data, query, out);
        bench.same("l2_read_per_query", "l2_read_shared_by_queries", 1e-3);
    }
    {
        unsigned blocks = bench.sms * (bench.threads_per_sm / 256), n = blocks * 256 * 4;
        float4* sum = bench.allocate<float4>(n);
        Output view = Bench::view(reinterpret_cast<float*>(sum), size_t(n) * 4);
        LAUNCH(bench, l2_accumulate_in_memory, blocks, 256, 0, view, sum, n);
        LAUNCH(bench, l2_accumulate_in_register, blocks, 256, 0, view, sum, n);
        bench.same("l2_accumulate_in_memory", "l2_accumulate_in_register");
    }
    return bench.finish();
}
