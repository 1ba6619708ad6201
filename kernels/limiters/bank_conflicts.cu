// bank-conflicts: lanes of a warp hit different words of one shared-memory bank and are served one after another.
#include "harness.cuh"

// Transpose through a tile of `pitch` words a row: the column read is conflict-free only if the pitch is odd.
template <int pitch>
__device__ void transpose(const float* in, float* out, unsigned width, unsigned height) {
    __shared__ float tile[32][pitch];
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[size_t(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int j = 0; j < 32; j += 8) out[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// 32 words a row: the 32 lanes that read a column meet in one bank.
extern "C" __global__ void conflicts_in_tile(const float* in, float* out, unsigned width, unsigned height) {
    transpose<32>(in, out, width, height);
}

// Twin: one word of padding.
extern "C" __global__ void conflicts_in_tile_padded(const float* in, float* out, unsigned width, unsigned height) {
    transpose<33>(in, out, width, height);
}

constexpr int window = 32;

// Every thread keeps a window of 32 samples in its own row of shared memory and smooths it in place, many times.
template <int pitch>
__device__ void smooth_rows(const float* in, float* out, int rounds) {
    __shared__ float rows[128 * pitch];
    float* mine = rows + threadIdx.x * pitch;
    for (int k = 0; k < window; ++k) mine[k] = in[size_t(k) * thread_count() + thread_index()];
    for (int r = 0; r < rounds; ++r) {
#pragma unroll 8
        for (int k = 0; k < window; ++k) mine[k] = mine[k] * 0.5f + 1.0f;
    }
    for (int k = 0; k < window; ++k) out[size_t(k) * thread_count() + thread_index()] = mine[k];
}

// Rows of 32 words: lane l of a warp reads word 32 * l + k, always the same bank.
extern "C" __global__ void conflicts_by_stride_32(const float* in, float* out, int rounds) {
    smooth_rows<32>(in, out, rounds);
}

// Twin: rows of 33 words.
extern "C" __global__ void conflicts_by_stride_33(const float* in, float* out, int rounds) {
    smooth_rows<33>(in, out, rounds);
}

// The checksum of a column of doubles: 64-bit accesses go by half warps, and the 16 lanes of a half meet in one pair of banks.
// A checksum, since adding doubles would limit the padded twin wherever the FP64 pipe is narrow; volatile, or the compiler
// loads once for several rounds.
template <int pitch>
__device__ void column_walk(const double* in, unsigned long long* out, int rounds) {
    __shared__ double tile[32][pitch];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned row = warp; row < 32; row += blockDim.x / 32)
        tile[row][lane] = in[size_t(blockIdx.x) * 1024 + row * 32 + lane];
    __syncthreads();
    unsigned long long even = 0, odd = 0;
    const volatile double* column = &tile[lane][warp * 4 % 32];
    for (int r = 0; r < rounds; ++r) {
        even += odd;  // without the addition two equal rounds would cancel each other
        even ^= __double_as_longlong(column[0]) ^ __double_as_longlong(column[1]);
        odd ^= __double_as_longlong(column[2]) ^ __double_as_longlong(column[3]);
    }
    out[thread_index()] = even ^ odd;
}

extern "C" __global__ void conflicts_of_doubles(const double* in, unsigned long long* out, int rounds) {
    column_walk<32>(in, out, rounds);
}

// Twin: one double of padding.
extern "C" __global__ void conflicts_of_doubles_padded(const double* in, unsigned long long* out, int rounds) {
    column_walk<33>(in, out, rounds);
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        unsigned width = 4096, height = bench.beyond_l2(3, 4, 32 * width) / width;
        size_t n = size_t(width) * height;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        dim3 grid(width / 32, height / 32), block(32, 8);
        LAUNCH(bench, conflicts_in_tile, grid, block, 0, Bench::view(out, n), in, out, width, height);
        LAUNCH(bench, conflicts_in_tile_padded, grid, block, 0, Bench::view(out, n), in, out, width, height);
        bench.same("conflicts_in_tile", "conflicts_in_tile_padded", 0);
    }
    unsigned blocks = bench.sms * 8 * bench.scaled(2);
    {
        size_t n = size_t(blocks) * 128 * window;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, conflicts_by_stride_32, blocks, 128, 0, Bench::view(out, n), in, out, 8);
        LAUNCH(bench, conflicts_by_stride_33, blocks, 128, 0, Bench::view(out, n), in, out, 8);
        bench.same("conflicts_by_stride_32", "conflicts_by_stride_33");
    }
    {
        std::vector<double> values;
        for (float v : Bench::random_floats(1 << 18)) values.push_back(v);
        double* in = bench.tiled(values, size_t(blocks) * 1024);
        auto* out = bench.allocate<unsigned long long>(size_t(blocks) * 256);
        Output view = Bench::view(out, size_t(blocks) * 256);
        LAUNCH(bench, conflicts_of_doubles, blocks, 256, 0, view, in, out, 256);
        LAUNCH(bench, conflicts_of_doubles_padded, blocks, 256, 0, view, in, out, 256);
        bench.same("conflicts_of_doubles", "conflicts_of_doubles_padded", 0);
    }
    return bench.finish();
}
