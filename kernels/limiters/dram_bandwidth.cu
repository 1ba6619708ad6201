// dram-bandwidth: DRAM is near what it can reach, and all bytes it moves are used.
#include <cuda_fp16.h>

#include "harness.cuh"

// The plain case: one 16-byte load and store a thread, nothing but a copy. Only a copy of fewer bytes would be faster.
extern "C" __global__ void dram_copy(const float4* in, float4* out) {
    size_t base = size_t(blockIdx.x) * blockDim.x * 4 + threadIdx.x;
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = in[base + k * blockDim.x];
#pragma unroll
    for (int k = 0; k < 4; ++k) out[base + k * blockDim.x] = v[k];
}

// a = b + s * c, two streams in and one out.
extern "C" __global__ void dram_triad(const float4* b, const float4* c, float4* a) {
    size_t base = size_t(blockIdx.x) * blockDim.x * 2 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        float4 x = b[base + k * blockDim.x], y = c[base + k * blockDim.x];
        a[base + k * blockDim.x] = make_float4(x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w);
    }
}

__device__ float2 widen(unsigned two_halves) { return __half22float2(*reinterpret_cast<__half2*>(&two_halves)); }

// Twin: the inputs are small integers, stored as 16-bit floats: 8 instead of 12 bytes an element.
extern "C" __global__ void dram_triad_half(const __half2* b, const __half2* c, float4* a) {
    size_t base = size_t(blockIdx.x) * blockDim.x * 2 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        size_t i = base + k * blockDim.x;
        uint2 wb = reinterpret_cast<const uint2*>(b)[i], wc = reinterpret_cast<const uint2*>(c)[i];
        float2 x0 = widen(wb.x), x1 = widen(wb.y), y0 = widen(wc.x), y1 = widen(wc.y);
        a[i] = make_float4(x0.x + 3 * y0.x, x0.y + 3 * y0.y, x1.x + 3 * y1.x, x1.y + 3 * y1.y);
    }
}

__device__ void add_block(float sum, float* out) {
    __shared__ float partial[8];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) sum += partial[w];
        out[blockIdx.x] = sum;
    }
}

constexpr int pixels_per_thread = 64;

// The sum of each stretch of an image whose brightness, a number from 0 to 255, is stored as a float.
extern "C" __global__ void dram_float_image(const float4* in, float* out) {
    size_t base = size_t(blockIdx.x) * blockDim.x * (pixels_per_thread / 4) + threadIdx.x;
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < pixels_per_thread / 4; ++k) {
        float4 v = in[base + k * blockDim.x];
        sum += v.x + v.y + v.z + v.w;
    }
    add_block(sum, out);
}

// Twin: the brightness is stored as a byte.
extern "C" __global__ void dram_byte_image(const uint4* in, float* out) {
    size_t base = size_t(blockIdx.x) * blockDim.x * (pixels_per_thread / 16) + threadIdx.x;
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < pixels_per_thread / 16; ++k) {
        uint4 v = in[base + k * blockDim.x];
        sum = __dp4a(v.x, 0x01010101u, sum);
        sum = __dp4a(v.y, 0x01010101u, sum);
        sum = __dp4a(v.z, 0x01010101u, sum);
        sum = __dp4a(v.w, 0x01010101u, sum);
    }
    add_block(static_cast<float>(sum), out);
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        size_t n = bench.beyond_l2(6, 16);
        float4 *in = reinterpret_cast<float4*>(bench.floats(n * 4)), *out = bench.allocate<float4>(n);
        Output view = Bench::view(reinterpret_cast<float*>(out), n * 4);
        LAUNCH(bench, dram_copy, n / 1024, 256, 0, view, in, out);

        std::vector<uint32_t> random = Bench::random_words(1 << 20);
        std::vector<float> small(random.size());
        std::vector<__half> small_half(random.size());
        for (size_t i = 0; i < random.size(); ++i) {
            small[i] = random[i] % 1000;
            small_half[i] = __float2half(small[i]);
        }
        float4* b = reinterpret_cast<float4*>(bench.tiled(small, n * 4));
        __half2* hb = reinterpret_cast<__half2*>(bench.tiled(small_half, n * 4));
        float4* c = reinterpret_cast<float4*>(bench.tiled(small, n * 4));
        __half2* hc = reinterpret_cast<__half2*>(bench.tiled(small_half, n * 4));
        LAUNCH(bench, dram_triad, n / 512, 256, 0, view, b, c, out);
        LAUNCH(bench, dram_triad_half, n / 512, 256, 0, view, hb, hc, out);
        bench.same("dram_triad", "dram_triad_half");
    }
    {
        size_t n = bench.beyond_l2(10, 4, 1 << 20), blocks = n / (256 * pixels_per_thread);
        // The order of the pixels within a stretch does not matter for its sum.
        std::vector<unsigned char> bytes(1 << 20);
        std::vector<float> floats(bytes.size());
        std::vector<uint32_t> random = Bench::random_words(bytes.size());
        for (size_t i = 0; i < bytes.size(); ++i) floats[i] = bytes[i] = random[i] >> 24;
        float4* image = reinterpret_cast<float4*>(bench.tiled(floats, n));
        uint4* small = reinterpret_cast<uint4*>(bench.tiled(bytes, n));
        float* out = bench.allocate<float>(blocks);
        LAUNCH(bench, dram_float_image, blocks, 256, 0, Bench::view(out, blocks), image, out);
        LAUNCH(bench, dram_byte_image, blocks, 256, 0, Bench::view(out, blocks), small, out);
        bench.same("dram_float_image", "dram_byte_image");
    }
    return bench.finish();
}
