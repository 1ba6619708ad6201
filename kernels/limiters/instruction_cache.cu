// instruction-cache: the code that the warps run through does not fit the instruction caches.
#include "harness.cuh"

constexpr int states = 160;
constexpr int passes = 96;

// One pass over 160 states in registers: 160 multiply-adds, 2.5 KB of code.
#define PASS                                                                                        \
    _Pragma("unroll") for (int j = 0; j < states; ++j) x[j] = x[j] * (0.9f + j * 0.0005f) + offset;
#define PASS4 PASS PASS PASS PASS
#define PASS16 PASS4 PASS4 PASS4 PASS4

__device__ void load_states(const float* in, float (&x)[states]) {
    float first = in[thread_index()];
#pragma unroll
    for (int j = 0; j < states; ++j) x[j] = first + j;
}

__device__ void store_sum(float* out, const float (&x)[states]) {
    float sum = 0;
#pragma unroll
    for (int j = 0; j < states; ++j) sum += x[j];
    out[thread_index()] = sum;
}

// The loop over 96 passes is unrolled by hand: 240 KB of straight-line code, run a few times. The states leave room for
// eight warps an SM, too few to share each fetch among many. Every fetch misses.
extern "C" __global__ void __launch_bounds__(256) code_unrolled(const float* in, float* out, float offset, int repeats) {
    float x[states];
    load_states(in, x);
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) { PASS16 PASS16 PASS16 PASS16 PASS16 PASS16 }
    store_sum(out, x);
}

// Twin: the loop is a loop again, with as many registers and warps.
extern "C" __global__ void __launch_bounds__(256) code_rolled(const float* in, float* out, float offset, int repeats) {
    float x[states];
    load_states(in, x);
#pragma unroll 1
    for (int p = 0; p < repeats * passes; ++p) { PASS }
    store_sum(out, x);
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
#pragma unroll 4
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
        unsigned blocks = bench.wave(code_unrolled, 256) * bench.scaled(2);
        size_t n = size_t(blocks) * 256;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, code_unrolled, blocks, 256, 0, Bench::view(out, n), in, out, 0.125f, 3);
        LAUNCH(bench, code_rolled, blocks, 256, 0, Bench::view(out, n), in, out, 0.125f, 3);
        bench.same("code_unrolled", "code_rolled");
    }
    {
        unsigned blocks = bench.sms * (bench.threads_per_sm / 256);
        int rounds = static_cast<int>(bench.scaled(48));
        size_t n = size_t(blocks) * 256;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, code_many_variants, blocks, 256, 0, Bench::view(out, n), in, out, rounds);
        LAUNCH(bench, code_one_function, blocks, 256, 0, Bench::view(out, n), in, out, rounds);
        bench.same("code_many_variants", "code_one_function");
    }
    return bench.finish();
}
