// pipe-xu: the special-function unit (sine, exponential, logarithm, reciprocal) is near its peak: an eighth of the FMA rate.
#include "harness.cuh"

constexpr int harmonics = 32;
constexpr int repeats = 16;

// The sum of 32 harmonics, each by its own sine.
extern "C" __global__ void harmonics_by_sine(const float* in, float* out) {
    float x = in[thread_index()], total = 0;
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
#pragma unroll
        for (int k = 1; k <= harmonics; ++k) total += __sinf(k * x);
        x = x * 0.99f + 0.01f;
    }
    out[thread_index()] = total;
}

// Twin: sin((k + 1) x) = 2 cos(x) sin(kx) - sin((k - 1) x): one multiply-add a harmonic.
extern "C" __global__ void harmonics_by_recurrence(const float* in, float* out) {
    float x = in[thread_index()], total = 0;
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
        float before = 0, now = __sinf(x), twice = 2 * __cosf(x);
#pragma unroll
        for (int k = 1; k <= harmonics; ++k) {
            total += now;
            float next = twice * now - before;
            before = now;
            now = next;
        }
        x = x * 0.99f + 0.01f;
    }
    out[thread_index()] = total;
}

constexpr int steps = 512;

// The cube by pow: a logarithm and an exponential.
extern "C" __global__ void cube_by_pow(const float* in, float* out) {
    float x = 0.5f + in[thread_index()], total = 0;
#pragma unroll 4
    for (int s = 0; s < steps; ++s) {
        total += __powf(x, 3.0f);
        x = x * 0.99f + 0.01f;
    }
    out[thread_index()] = total;
}

// Twin: two products.
extern "C" __global__ void cube_by_products(const float* in, float* out) {
    float x = 0.5f + in[thread_index()], total = 0;
#pragma unroll 4
    for (int s = 0; s < steps; ++s) {
        total += x * x * x;
        x = x * 0.99f + 0.01f;
    }
    out[thread_index()] = total;
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.sms * (bench.threads_per_sm / 256) * bench.scaled(6);
    size_t n = size_t(blocks) * 256;
    float *in = bench.floats(n), *out = bench.allocate<float>(n);
    LAUNCH(bench, harmonics_by_sine, blocks, 256, 0, Bench::view(out, n), in, out);
    LAUNCH(bench, harmonics_by_recurrence, blocks, 256, 0, Bench::view(out, n), in, out);
    bench.same("harmonics_by_sine", "harmonics_by_recurrence", 1e-2);
    LAUNCH(bench, cube_by_pow, blocks, 256, 0, Bench::view(out, n), in, out);
    LAUNCH(bench, cube_by_products, blocks, 256, 0, Bench::view(out, n), in, out);
    bench.same("cube_by_pow", "cube_by_products", 1e-3);
    return bench.finish();
}
