// near-limit: compute and memory are both near their peaks; only another algorithm would be faster.
#include "harness.cuh"

// Each float that arrives from DRAM goes through `steps` multiply-adds: as many as run while the next one arrives.
extern "C" __global__ void balanced_stream(const float4* in, float4* out, size_t n, int steps) {
    for (size_t i = thread_index(); i < n; i += thread_count()) {
        float4 v = in[i];
#pragma unroll 4
        for (int s = 0; s < steps; ++s) {
            v.x = v.x * 0.99f + 0.01f;
            v.y = v.y * 0.98f + 0.02f;
            v.z = v.z * 0.97f + 0.03f;
            v.w = v.w * 0.96f + 0.04f;
        }
        out[i] = v;
    }
}

// The same balance with integer logic: three operations a step and word.
extern "C" __global__ void balanced_scramble(const uint4* in, uint4* out, size_t n, int steps) {
    for (size_t i = thread_index(); i < n; i += thread_count()) {
        uint4 v = in[i];
#pragma unroll 1
        for (int s = 0; s < steps; ++s) {
            v.x = (v.x ^ v.x >> 15) + (v.x << 3);
            v.y = (v.y ^ v.y >> 14) + (v.y << 5);
            v.z = (v.z ^ v.z >> 13) + (v.z << 7);
            v.w = (v.w ^ v.w >> 12) + (v.w << 9);
        }
        out[i] = v;
    }
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    // Words a second from DRAM at its rated clock (two transfers a cycle), one read and one write a word.
    double bytes = 2e3 * Bench::attribute(cudaDevAttrMemoryClockRate) * Bench::attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
    double words = 0.88 * bytes / 8;
    double clock = 1e3 * Bench::attribute(cudaDevAttrClockRate);
    double lanes = bench.cc == 75 || bench.cc == 80 ? 64 : 128;  // multiply-adds a cycle and SM
    double fma = bench.sms * lanes * clock, alu = bench.sms * 64 * clock;
    int steps = std::max(4, static_cast<int>(0.6 * fma / words) / 4 * 4);
    int scrambles = std::max(1, static_cast<int>(0.95 * alu / words / 3 + 0.5));
    size_t n = bench.beyond_l2(12, 16);
    float4 *in = reinterpret_cast<float4*>(bench.floats(n * 4)), *out = bench.allocate<float4>(n);
    unsigned blocks = bench.sms * (bench.threads_per_sm / 256) * 4;
    Output view = Bench::view(reinterpret_cast<float*>(out), n * 4);
    LAUNCH(bench, balanced_stream, blocks, 256, 0, view, in, out, n, steps);
    LAUNCH(bench, balanced_scramble, blocks, 256, 0, Bench::view(reinterpret_cast<unsigned*>(out), n * 4),
           reinterpret_cast<const uint4*>(in), reinterpret_cast<uint4*>(out), n, scrambles);
    return bench.finish();
}
