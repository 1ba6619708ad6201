// instruction-cache: the code that the warps run through does not fit the instruction caches.
#include "harness.cuh"

// One pass: sixteen multiply-adds on four chains. 1024 passes are 16384 instructions, 256 KB of code.
#define STEP4(m, a)                                                                                                     \
    x0 = x0 * (m) + (a);                                                                                                \
    x1 = x1 * (m + 0.001f) + (a);                                                                                       \
    x2 = x2 * (m + 0.002f) + (a);                                                                                       \
    x3 = x3 * (m + 0.003f) + (a);
#define PASS STEP4(0.90f, d) STEP4(0.91f, e) STEP4(0.92f, d) STEP4(0.93f, e)
#define PASS4 PASS PASS PASS PASS
#define PASS16 PASS4 PASS4 PASS4 PASS4
#define PASS64 PASS16 PASS16 PASS16 PASS16
#define PASS256 PASS64 PASS64 PASS64 PASS64
#define PASS1024 PASS256 PASS256 PASS256 PASS256

constexpr int passes = 1024;

// Straight-line code of 256 KB, run over and over: each fetch misses, although every warp does the same.
extern "C" __global__ void code_unrolled(const float* in, float* out, int repeats) {
    float x0 = in[thread_index()], x1 = x0 + 1, x2 = x0 + 2, x3 = x0 + 3, d = x0 * 0.5f, e = x0 * 0.25f;
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) { PASS1024 }
    out[thread_index()] = x0 + x1 + x2 + x3;
}

// Twin: the same instructions in a loop of four passes, 1 KB of code.
extern "C" __global__ void code_rolled(const float* in, float* out, int repeats) {
    float x0 = in[thread_index()], x1 = x0 + 1, x2 = x0 + 2, x3 = x0 + 3, d = x0 * 0.5f, e = x0 * 0.25f;
#pragma unroll 1
    for (int r = 0; r < repeats * passes / 4; ++r) { PASS4 }
    out[thread_index()] = x0 + x1 + x2 + x3;
}

constexpr int variants = 64;
constexpr int variant_passes = 32;

__device__ float4 variant_step(float4 x, float m, float a) {
    x.x = x.x * m + a;
    x.y = x.y * m + a;
    x.z = x.z * m + a;
    x.w = x.w * m + a;
    return x;
}

__host__ __device__ constexpr float factor_of(int v) { return 0.5f + v * 0.0078125f; }
__host__ __device__ constexpr float offset_of(int v) { return 0.25f + v * 0.0625f; }

// One specialised function a variant, fully unrolled: 64 of them, together about 512 KB.
template <int v>
__device__ __noinline__ float4 specialised(float4 x) {
#pragma unroll
    for (int p = 0; p < variant_passes * 4; ++p) x = variant_step(x, factor_of(v), offset_of(v) + p % 4);
    return x;
}

#define CASE(v) case v: return specialised<v>(x);
#define CASE8(v) CASE(v) CASE(v + 1) CASE(v + 2) CASE(v + 3) CASE(v + 4) CASE(v + 5) CASE(v + 6) CASE(v + 7)

__device__ float4 choose(int variant, float4 x) {
    switch (variant) { CASE8(0) CASE8(8) CASE8(16) CASE8(24) CASE8(32) CASE8(40) CASE8(48) CASE8(56) }
    return x;
}

__device__ float4 start(const float* in) {
    float x = in[thread_index()];
    return make_float4(x, x + 1, x + 2, x + 3);
}

// Each warp runs through the variants in its own order, so the warps of an SM fetch from everywhere.
extern "C" __global__ void code_many_variants(const float* in, float* out, int rounds) {
    float4 x = start(in);
    int warp = __shfl_sync(~0u, thread_index() / 32, 0);
    for (int r = 0; r < rounds; ++r) x = choose((warp * 7 + r * 11) % variants, x);
    out[thread_index()] = x.x + x.y + x.z + x.w;
}

// Twin: one function that takes the variant's numbers as arguments.
extern "C" __global__ void code_one_function(const float* in, float* out, int rounds) {
    float4 x = start(in);
    int warp = __shfl_sync(~0u, thread_index() / 32, 0);
    for (int r = 0; r < rounds; ++r) {
        int v = (warp * 7 + r * 11) % variants;
        float m = factor_of(v), a = offset_of(v);
#pragma unroll 1
        for (int p = 0; p < variant_passes; ++p) {
#pragma unroll
            for (int q = 0; q < 4; ++q) x = variant_step(x, m, a + q);
        }
    }
    out[thread_index()] = x.x + x.y + x.z + x.w;
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        unsigned blocks = bench.sms * 2 * bench.scaled(1);
        size_t n = size_t(blocks) * 256;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, code_unrolled, blocks, 256, 0, Bench::view(out, n), in, out, 3);
        LAUNCH(bench, code_rolled, blocks, 256, 0, Bench::view(out, n), in, out, 3);
        bench.same("code_unrolled", "code_rolled");
    }
    {
        unsigned blocks = bench.sms * (bench.threads_per_sm / 256) * bench.scaled(1);
        size_t n = size_t(blocks) * 256;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, code_many_variants, blocks, 256, 0, Bench::view(out, n), in, out, 24);
        LAUNCH(bench, code_one_function, blocks, 256, 0, Bench::view(out, n), in, out, 24);
        bench.same("code_many_variants", "code_one_function");
    }
    return bench.finish();
}
