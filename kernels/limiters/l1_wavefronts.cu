// l1-wavefronts: the load/store unit is full of well-formed, conflict-free accesses; only fewer or wider ones help.
#include "harness.cuh"

constexpr int tile = 32;

// The textbook matrix product: for each multiply-add a value of A and one of B come from shared memory.
extern "C" __global__ void __launch_bounds__(1024)
    matmul_shared_tile(const float* a, const float* b, float* c, int columns, int depth) {
    __shared__ float ta[tile][tile], tb[tile][tile];
    int x = threadIdx.x, y = threadIdx.y;
    size_t row = blockIdx.y * tile + y, column = blockIdx.x * tile + x;
    float sum = 0;
    for (int k0 = 0; k0 < depth; k0 += tile) {
        ta[y][x] = a[row * depth + k0 + x];
        tb[y][x] = b[size_t(k0 + y) * columns + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < tile; ++k) sum += ta[y][k] * tb[k][x];
        __syncthreads();
    }
    c[row * columns + column] = sum;
}

// Twin: a thread computes 8 x 8 values from 8 + 8 operands in registers: four multiply-adds an operand.
extern "C" __global__ void __launch_bounds__(64)
    matmul_register_tile(const float* a, const float* b, float* c, int columns, int depth) {
    __shared__ float4 ta[16][17], tb[16][16];  // 16 steps of k, 64 rows or columns; ta is transposed
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
    size_t row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < depth; k0 += 16) {
        for (int i = threadIdx.x; i < 64 * 16; i += 64)
            reinterpret_cast<float*>(ta[i % 16])[i / 16] = a[(row0 + i / 16) * depth + k0 + i % 16];
        for (int i = threadIdx.x; i < 64 * 16; i += 64)
            reinterpret_cast<float*>(tb[i / 64])[i % 64] = b[size_t(k0 + i / 64) * columns + column0 + i % 64];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            float4 a0 = ta[k][ty], a1 = ta[k][ty + 8], b0 = tb[k][tx], b1 = tb[k][tx + 8];
            float av[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
            float bv[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sum[i][j] += av[i] * bv[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j)
            c[(row0 + ty * 4 + i % 4 + i / 4 * 32) * columns + column0 + tx * 4 + j % 4 + j / 4 * 32] = sum[i][j];
}

constexpr int radius = 16;

// A vertical filter of 33 taps, one output a thread: 33 coalesced loads an output, nearly all of them L1 hits.
extern "C" __global__ void __launch_bounds__(1024)
    stencil_reload(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * radius; ++k) sum += in[size_t(y + k) * width + x] * (1.0f / (1 + k));
    out[size_t(y) * width + x] = sum;
}

// Twin: a thread computes 32 outputs of a column and keeps each input for all outputs that it belongs to.
extern "C" __global__ void __launch_bounds__(128) stencil_slide(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * 128 + threadIdx.x, y0 = blockIdx.y * 32;
    float sum[32];
#pragma unroll
    for (int j = 0; j < 32; ++j) sum[j] = 0;
#pragma unroll
    for (int r = 0; r < 32 + 2 * radius; ++r) {
        float v = in[size_t(y0 + r) * width + x];
#pragma unroll
        for (int j = 0; j < 32; ++j)
            if (r - j >= 0 && r - j <= 2 * radius) sum[j] += v * (1.0f / (1 + r - j));
    }
#pragma unroll
    for (int j = 0; j < 32; ++j) out[size_t(y0 + j) * width + x] = sum[j];
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        int columns = 1024, depth = 1024, rows = 64 * static_cast<int>(bench.scaled(bench.sms / 8.0));
        float *a = bench.floats(size_t(rows) * depth, 1), *b = bench.floats(size_t(depth) * columns, 2);
        float* c = bench.allocate<float>(size_t(rows) * columns);
        Output view = Bench::view(c, size_t(rows) * columns);
        LAUNCH(bench, matmul_shared_tile, dim3(columns / 32, rows / 32), dim3(32, 32), 0, view, a, b, c, columns, depth);
        LAUNCH(bench, matmul_register_tile, dim3(columns / 64, rows / 64), 64, 0, view, a, b, c, columns, depth);
        bench.same("matmul_shared_tile", "matmul_register_tile");
    }
    {
        int width = 4096, height = 32 * static_cast<int>(bench.scaled(bench.sms));
        float* in = bench.floats(size_t(width) * (height + 2 * radius));
        float* out = bench.allocate<float>(size_t(width) * height);
        Output view = Bench::view(out, size_t(width) * height);
        LAUNCH(bench, stencil_reload, dim3(width / 32, height / 32), dim3(32, 32), 0, view, in, out, width, height);
        LAUNCH(bench, stencil_slide, dim3(width / 128, height / 32), 128, 0, view, in, out, width, height);
        bench.same("stencil_reload", "stencil_slide");
    }
    return bench.finish();
}
