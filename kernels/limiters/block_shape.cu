// block-shape: the last warp of a block is mostly empty, so issue slots are spent on idle lanes.
#include "harness.cuh"

__device__ void polish(const float* in, float* out, unsigned n) {
    unsigned i = thread_index();
    if (i < n) out[i] = chain(in[i], 2048);
}

// 33 threads need two warps; the second runs one lane of 32, yet issues as many instructions as the first.
extern "C" __global__ void block_of_33(const float* in, float* out, unsigned n) { polish(in, out, n); }

// Twin: 256 threads, every lane of every warp works.
extern "C" __global__ void block_of_33_to_256(const float* in, float* out, unsigned n) { polish(in, out, n); }

// 16 threads: one warp with half of its lanes, and twice the number of warps for the same elements.
extern "C" __global__ void block_of_16(const float* in, float* out, unsigned n) { polish(in, out, n); }

// Twin: 256 threads.
extern "C" __global__ void block_of_16_to_256(const float* in, float* out, unsigned n) { polish(in, out, n); }

__device__ void polish_pixel(const float* in, float* out, unsigned width, unsigned height) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + x] = chain(in[y * width + x], 2048);
}

// A 6 x 6 pixel block looks natural and has 36 threads: the second warp works with 4 lanes.
extern "C" __global__ void block_of_6x6(const float* in, float* out, unsigned width, unsigned height) {
    polish_pixel(in, out, width, height);
}

// Twin: 32 x 8 pixels, eight full warps.
extern "C" __global__ void block_of_6x6_to_32x8(const float* in, float* out, unsigned width, unsigned height) {
    polish_pixel(in, out, width, height);
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned n = bench.scaled(bench.sms * 2048.0 * 4, 33 * 256);
    float *in = bench.floats(n), *out = bench.allocate<float>(n);
    LAUNCH(bench, block_of_33, n / 33, 33, 0, Bench::view(out, n), in, out, n);
    LAUNCH(bench, block_of_33_to_256, n / 256, 256, 0, Bench::view(out, n), in, out, n);
    bench.same("block_of_33", "block_of_33_to_256");
    LAUNCH(bench, block_of_16, n / 16, 16, 0, Bench::view(out, n), in, out, n);
    LAUNCH(bench, block_of_16_to_256, n / 256, 256, 0, Bench::view(out, n), in, out, n);
    bench.same("block_of_16", "block_of_16_to_256");

    unsigned width = 1536, height = bench.scaled(bench.sms * 2048.0 * 4 / width, 24);
    float *image = bench.floats(size_t(width) * height), *result = bench.allocate<float>(size_t(width) * height);
    Output view = Bench::view(result, size_t(width) * height);
    LAUNCH(bench, block_of_6x6, dim3(width / 6, height / 6), dim3(6, 6), 0, view, image, result, width, height);
    LAUNCH(bench, block_of_6x6_to_32x8, dim3(width / 32, height / 8), dim3(32, 8), 0, view, image, result, width, height);
    bench.same("block_of_6x6", "block_of_6x6_to_32x8");
    return bench.finish();
}
