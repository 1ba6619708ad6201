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

// Twin: a thread computes 4 x 4 values from 4 + 4 operands in registers: two wide loads for sixteen multiply-adds.
extern "C" __global__ void __launch_bounds__(256)
    matmul_register_tile(const float* a, const float* b, float* c, int columns, int depth) {
    __shared__ float4 ta[32][17], tb[32][16];  // 32 steps of k, 64 rows or columns; ta is transposed and padded
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    size_t row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < depth; k0 += 32) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            int row = threadIdx.x / 32 + i * 8, k = threadIdx.x % 32;
            reinterpret_cast<float*>(ta[k])[row] = a[(row0 + row) * depth + k0 + k];
        }
#pragma unroll
        for (int i = 0; i < 2; ++i)
            tb[ty + i * 16][tx] = *reinterpret_cast<const float4*>(b + size_t(k0 + ty + i * 16) * columns + column0 + tx * 4);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; ++k) {
            float4 av = ta[k][ty], bv = tb[k][tx];
            float left[4] = {av.x, av.y, av.z, av.w}, right[4] = {bv.x, bv.y, bv.z, bv.w};
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) sum[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        *reinterpret_cast<float4*>(c + (row0 + ty * 4 + i) * columns + column0 + tx * 4) =
            make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

constexpr int radius = 16;
constexpr int width = 4096;  // known here, so that the rows' addresses cost no instructions

// A vertical box filter of 33 taps, one output a thread: 33 coalesced loads an output, nearly all of them L1 hits.
extern "C" __global__ void __launch_bounds__(1024)
    stencil_reload(const float* in, float* out) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * radius; ++k) sum += in[size_t(y) * width + x + k * width];
    out[size_t(y) * width + x] = sum;
}

// Twin: a thread computes 32 outputs of a column and keeps each input for all outputs that it belongs to.
extern "C" __global__ void __launch_bounds__(128) stencil_slide(const float* in, float* out) {
    int x = blockIdx.x * 128 + threadIdx.x, y0 = blockIdx.y * 32;
    float sum[32];
#pragma unroll
    for (int j = 0; j < 32; ++j) sum[j] = 0;
#pragma unroll
    for (int r = 0; r < 32 + 2 * radius; ++r) {
        float v = in[size_t(y0) * width + x + r * width];
#pragma unroll
        for (int j = 0; j < 32; ++j)
            if (r - j >= 0 && r - j <= 2 * radius) sum[j] += v;
    }
#pragma unroll
    for (int j = 0; j < 32; ++j) out[size_t(y0) * width + x + j * width] = sum[j];
}

constexpr int box = 6;

// The sum of a box of 6 x 6 texels around each pixel, one fetch a texel: the texture unit takes four cycles a fetch of a
// warp, and everything else waits for its queue.
extern "C" __global__ void texture_box_by_texel(cudaTextureObject_t image, float* out) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
#pragma unroll
    for (int dy = 0; dy < box; ++dy)
#pragma unroll
        for (int dx = 0; dx < box; ++dx) sum += tex2D<float>(image, x + dx + 0.5f, y + dy + 0.5f);
    out[size_t(y) * width + x] = sum;
}

// Twin: a fetch between four texels is their mean, so nine fetches do.
extern "C" __global__ void texture_box_by_filter(cudaTextureObject_t image, float* out) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
#pragma unroll
    for (int dy = 1; dy < box; dy += 2)
#pragma unroll
        for (int dx = 1; dx < box; dx += 2) sum += tex2D<float>(image, float(x + dx), float(y + dy));
    out[size_t(y) * width + x] = 4 * sum;
}

// An image of floats with bilinear filter, `height` rows.
static cudaTextureObject_t image_of(const float* pixels, int height) {
    cudaArray_t array = nullptr;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CUDA_OK(cudaMallocArray(&array, &format, width, height));
    size_t row = width * sizeof(float);
    CUDA_OK(cudaMemcpy2DToArray(array, 0, 0, pixels, row, row, height, cudaMemcpyDeviceToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t image = 0;
    CUDA_OK(cudaCreateTextureObject(&image, &resource, &how, nullptr));
    return image;
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        // Two waves of the twin's blocks where four of them are resident.
        int columns = 2048, depth = 256, rows = 64 * static_cast<int>(bench.scaled(bench.sms / 4.0));
        float *a = bench.floats(size_t(rows) * depth, 1), *b = bench.floats(size_t(depth) * columns, 2);
        float* c = bench.allocate<float>(size_t(rows) * columns);
        Output view = Bench::view(c, size_t(rows) * columns);
        LAUNCH(bench, matmul_shared_tile, dim3(columns / 32, rows / 32), dim3(32, 32), 0, view, a, b, c, columns, depth);
        LAUNCH(bench, matmul_register_tile, dim3(columns / 64, rows / 64), 256, 0, view, a, b, c, columns, depth);
        bench.same("matmul_shared_tile", "matmul_register_tile");
    }
    {
        int height = 32 * static_cast<int>(bench.scaled(bench.sms * 4.0));
        float* in = bench.floats(size_t(width) * (height + 2 * radius));
        float* out = bench.allocate<float>(size_t(width) * height);
        Output view = Bench::view(out, size_t(width) * height);
        LAUNCH(bench, stencil_reload, dim3(width / 32, height / 32), dim3(32, 32), 0, view, in, out);
        LAUNCH(bench, stencil_slide, dim3(width / 128, height / 32), 128, 0, view, in, out);
        bench.same("stencil_reload", "stencil_slide");
    }
    {
        int height = 16 * static_cast<int>(bench.scaled(bench.sms));
        float* pixels = bench.floats(size_t(width) * height);
        float* out = bench.allocate<float>(size_t(width) * height);
        Output view = Bench::view(out, size_t(width) * height);
        cudaTextureObject_t image = image_of(pixels, height);
        LAUNCH(bench, texture_box_by_texel, dim3(width / 16, height / 16), dim3(16, 16), 0, view, image, out);
        LAUNCH(bench, texture_box_by_filter, dim3(width / 16, height / 16), dim3(16, 16), 0, view, image, out);
        bench.same("texture_box_by_texel", "texture_box_by_filter", 1e-3);
    }
    return bench.finish();
}
