// pipe-fp64: the double-precision pipe is near its peak, although single precision would do.
#include "harness.cuh"

// A polynomial of degree 15 for four arguments at a time.
template <class T>
__device__ void polynomial(const float* in, float* out, int rounds) {
    T x[4], sum[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        x[e] = in[size_t(e) * thread_count() + thread_index()];
        sum[e] = 0;
    }
#pragma unroll 1
    for (int r = 0; r < rounds; ++r) {
        T y[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) y[e] = 1;
#pragma unroll
        for (int k = 1; k < 16; ++k) {
#pragma unroll
            for (int e = 0; e < 4; ++e) y[e] = y[e] * x[e] + T(1) / T(k);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            sum[e] += y[e];
            x[e] *= T(0.99);
        }
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) out[size_t(e) * thread_count() + thread_index()] = static_cast<float>(sum[e]);
}

// Inputs and outputs are floats; only the arithmetic between is double.
extern "C" __global__ void polynomial_double(const float* in, float* out, int rounds) {
    polynomial<double>(in, out, rounds);
}

// Twin: the same in single precision.
extern "C" __global__ void polynomial_single(const float* in, float* out, int rounds) {
    polynomial<float>(in, out, rounds);
}

// A fixed number of steps of z = z * z + c inside the stable region, where the orbit settles.
template <class T>
__device__ void orbit(const float* in, float* out, int steps) {
    T cx = T(0.2) * in[thread_index()], cy = T(0.1), x = 0, y = 0;
#pragma unroll 4
    for (int s = 0; s < steps; ++s) {
        T next = x * x - y * y + cx;
        y = T(2) * x * y + cy;
        x = next;
    }
    out[thread_index()] = static_cast<float>(x + y);
}

extern "C" __global__ void orbit_double(const float* in, float* out, int steps) { orbit<double>(in, out, steps); }

// Twin: single precision.
extern "C" __global__ void orbit_single(const float* in, float* out, int steps) { orbit<float>(in, out, steps); }

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.sms * (bench.threads_per_sm / 256) * bench.scaled(2);
    size_t n = size_t(blocks) * 256;
    // Gaming chips run doubles at a 32nd or 64th of the single rate: fewer rounds there keep the time in bounds.
    int rounds = std::max(4, 96 / bench.fp64_slowdown), steps = std::max(64, 4096 / bench.fp64_slowdown);
    float *in = bench.floats(4 * n), *out = bench.allocate<float>(4 * n);
    LAUNCH(bench, polynomial_double, blocks, 256, 0, Bench::view(out, 4 * n), in, out, rounds);
    LAUNCH(bench, polynomial_single, blocks, 256, 0, Bench::view(out, 4 * n), in, out, rounds);
    bench.same("polynomial_double", "polynomial_single");
    LAUNCH(bench, orbit_double, blocks, 256, 0, Bench::view(out, n), in, out, steps);
    LAUNCH(bench, orbit_single, blocks, 256, 0, Bench::view(out, n), in, out, steps);
    bench.same("orbit_double", "orbit_single");
    return bench.finish();
}
