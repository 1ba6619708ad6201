// pipe-fma: the FP32 multiply-add pipe is near its peak.
#include "harness.cuh"

constexpr int elements = 4;  // independent chains a thread
constexpr int repeats = 96;

// The 64th power by 63 products, four elements at a time, again and again: nothing but multiplications.
extern "C" __global__ void power_by_products(const float* in, float* out) {
    float x[elements], sum[elements];
#pragma unroll
    for (int e = 0; e < elements; ++e) {
        x[e] = 0.9f + 0.1f * in[size_t(e) * thread_count() + thread_index()];
        sum[e] = 0;
    }
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
        float y[elements];
#pragma unroll
        for (int e = 0; e < elements; ++e) y[e] = x[e];
#pragma unroll
        for (int k = 1; k < 64; ++k) {
#pragma unroll
            for (int e = 0; e < elements; ++e) y[e] *= x[e];
        }
#pragma unroll
        for (int e = 0; e < elements; ++e) {
            sum[e] += y[e];
            x[e] = x[e] * 0.999f + 0.0005f;
        }
    }
#pragma unroll
    for (int e = 0; e < elements; ++e) out[size_t(e) * thread_count() + thread_index()] = sum[e];
}

// Twin: the 64th power by six squarings.
extern "C" __global__ void power_by_squaring(const float* in, float* out) {
    float x[elements], sum[elements];
#pragma unroll
    for (int e = 0; e < elements; ++e) {
        x[e] = 0.9f + 0.1f * in[size_t(e) * thread_count() + thread_index()];
        sum[e] = 0;
    }
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
#pragma unroll
        for (int e = 0; e < elements; ++e) {
            float y = x[e];
#pragma unroll
            for (int k = 0; k < 6; ++k) y *= y;
            sum[e] += y;
            x[e] = x[e] * 0.999f + 0.0005f;
        }
    }
#pragma unroll
    for (int e = 0; e < elements; ++e) out[size_t(e) * thread_count() + thread_index()] = sum[e];
}

// exp(x) for |x| <= 1 by Horner's rule with `terms` terms, for four elements.
template <int terms>
__device__ void exponential(const float* in, float* out) {
    float x[elements], sum[elements];
#pragma unroll
    for (int e = 0; e < elements; ++e) {
        x[e] = in[size_t(e) * thread_count() + thread_index()];
        sum[e] = 0;
    }
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
        float y[elements];
#pragma unroll
        for (int e = 0; e < elements; ++e) y[e] = 1;
#pragma unroll
        for (int k = terms; k > 0; --k) {
#pragma unroll
            for (int e = 0; e < elements; ++e) y[e] = y[e] * (x[e] * (1.0f / k)) + 1.0f;
        }
#pragma unroll
        for (int e = 0; e < elements; ++e) {
            sum[e] += y[e];
            x[e] *= 0.99f;
        }
    }
#pragma unroll
    for (int e = 0; e < elements; ++e) out[size_t(e) * thread_count() + thread_index()] = sum[e];
}

// Forty terms, far beyond the precision of a float.
extern "C" __global__ void series_of_40_terms(const float* in, float* out) { exponential<40>(in, out); }

// Twin: twelve terms, all that a float can show. The limiter stays, there is just less to do.
extern "C" __global__ void series_of_12_terms(const float* in, float* out) { exponential<12>(in, out); }

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.sms * 8 * bench.scaled(8);
    size_t n = size_t(blocks) * 256 * elements;
    float *in = bench.floats(n), *out = bench.allocate<float>(n);
    LAUNCH(bench, power_by_products, blocks, 256, 0, Bench::view(out, n), in, out);
    LAUNCH(bench, power_by_squaring, blocks, 256, 0, Bench::view(out, n), in, out);
    bench.same("power_by_products", "power_by_squaring", 1e-3);
    LAUNCH(bench, series_of_40_terms, blocks, 256, 0, Bench::view(out, n), in, out);
    LAUNCH(bench, series_of_12_terms, blocks, 256, 0, Bench::view(out, n), in, out);
    bench.same("series_of_40_terms", "series_of_12_terms");
    return bench.finish();
}
