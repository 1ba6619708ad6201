// pipe-fp16: packed half-precision arithmetic is near its peak. On some chips the FMA pipe executes it.
#include <cuda_fp16.h>

#include "harness.cuh"

constexpr int chains = 4;

// A polynomial of `degree` with small coefficients for four pairs of arguments.
template <int degree>
__device__ void polynomial(const float* in, float* out, int rounds) {
    __half2 x[chains], sum[chains];
#pragma unroll
    for (int e = 0; e < chains; ++e) {
        x[e] = __float2half2_rn(0.5f * in[size_t(e) * thread_count() + thread_index()]);
        sum[e] = __float2half2_rn(0.0f);
    }
#pragma unroll 1
    for (int r = 0; r < rounds; ++r) {
        __half2 y[chains];
#pragma unroll
        for (int e = 0; e < chains; ++e) y[e] = __float2half2_rn(1.0f);
#pragma unroll
        for (int k = degree; k > 0; --k) {
#pragma unroll
            for (int e = 0; e < chains; ++e) y[e] = __hfma2(y[e], x[e], __float2half2_rn(1.0f / k));
        }
#pragma unroll
        for (int e = 0; e < chains; ++e) {
            sum[e] = __hfma2(sum[e], __float2half2_rn(0.5f), y[e]);
            x[e] = __hfma2(x[e], __float2half2_rn(0.96875f), __float2half2_rn(0.015625f));
        }
    }
#pragma unroll
    for (int e = 0; e < chains; ++e)
        out[size_t(e) * thread_count() + thread_index()] = __low2float(sum[e]) + __high2float(sum[e]);
}

// 48 terms where the arguments are at most one half.
extern "C" __global__ void half_series_of_48_terms(const float* in, float* out, int rounds) {
    polynomial<48>(in, out, rounds);
}

// Twin: sixteen terms; the rest is below the precision of a half.
extern "C" __global__ void half_series_of_16_terms(const float* in, float* out, int rounds) {
    polynomial<16>(in, out, rounds);
}

// Blending of layers one after another: a subtraction, a product and a sum a layer and pair of pixels.
extern "C" __global__ void half_blend_in_steps(const float* in, float* out, int layers) {
    __half2 p[chains], q = __float2half2_rn(0.25f);
#pragma unroll
    for (int e = 0; e < chains; ++e) p[e] = __float2half2_rn(in[size_t(e) * thread_count() + thread_index()]);
#pragma unroll 8
    for (int l = 0; l < layers; ++l) {
#pragma unroll
        for (int e = 0; e < chains; ++e) {
            __half2 difference = __hsub2_rn(__float2half2_rn(0.75f), p[e]);
            p[e] = __hadd2_rn(p[e], __hmul2_rn(q, difference));
        }
    }
#pragma unroll
    for (int e = 0; e < chains; ++e)
        out[size_t(e) * thread_count() + thread_index()] = __low2float(p[e]) + __high2float(p[e]);
}

// Twin: p + q * (c - p) = (1 - q) * p + q * c is one multiply-add a layer.
extern "C" __global__ void half_blend_fused(const float* in, float* out, int layers) {
    __half2 p[chains], keep = __float2half2_rn(0.75f), add = __float2half2_rn(0.1875f);
#pragma unroll
    for (int e = 0; e < chains; ++e) p[e] = __float2half2_rn(in[size_t(e) * thread_count() + thread_index()]);
#pragma unroll 8
    for (int l = 0; l < layers; ++l) {
#pragma unroll
        for (int e = 0; e < chains; ++e) p[e] = __hfma2(keep, p[e], add);
    }
#pragma unroll
    for (int e = 0; e < chains; ++e)
        out[size_t(e) * thread_count() + thread_index()] = __low2float(p[e]) + __high2float(p[e]);
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.sms * (bench.threads_per_sm / 256) * bench.scaled(4);
    size_t n = size_t(blocks) * 256 * chains;
    float *in = bench.floats(n), *out = bench.allocate<float>(n);
    LAUNCH(bench, half_series_of_48_terms, blocks, 256, 0, Bench::view(out, n), in, out, 64);
    LAUNCH(bench, half_series_of_16_terms, blocks, 256, 0, Bench::view(out, n), in, out, 64);
    bench.same("half_series_of_48_terms", "half_series_of_16_terms", 1e-2);
    LAUNCH(bench, half_blend_in_steps, blocks, 256, 0, Bench::view(out, n), in, out, 1024);
    LAUNCH(bench, half_blend_fused, blocks, 256, 0, Bench::view(out, n), in, out, 1024);
    bench.same("half_blend_in_steps", "half_blend_fused", 1e-2);
    return bench.finish();
}
