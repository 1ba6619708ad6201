// divergence: the lanes of a warp go different ways, so most lanes idle while the schedulers issue.
#include "harness.cuh"

// Eight treatments that have nothing in common, so the compiler cannot merge them.
__device__ float treat(unsigned kind, float x, int steps) {
    float y = x + 0.5f;
    switch (kind) {
        case 0: for (int s = 0; s < steps; ++s) { x = x * 0.99f + y; y = y * 0.98f + 0.001f; } break;
        case 1: for (int s = 0; s < steps; ++s) { y = y * 0.97f - x; x = x * 0.96f - 0.002f; } break;
        case 2: for (int s = 0; s < steps; ++s) { x = x * y * 0.5f + 0.25f; y = y * 0.9f + 0.1f; } break;
        case 3: for (int s = 0; s < steps; ++s) { y = y * y * 0.25f + 0.5f; x = x * 0.8f + y; } break;
        case 4: for (int s = 0; s < steps; ++s) { x = (x - y) * 0.7f + 0.3f; y = (y + 0.2f) * 0.6f; } break;
        case 5: for (int s = 0; s < steps; ++s) { x = fminf(x * 0.9f + 0.2f, y); y = y * 0.95f + 0.07f; } break;
        case 6: for (int s = 0; s < steps; ++s) { x = fabsf(x * 0.85f - 0.4f); y = y * 0.75f + x; } break;
        default: for (int s = 0; s < steps; ++s) { y = fmaxf(y * 0.65f, x); x = x * 0.55f + 0.45f; } break;
    }
    return x + y;
}

// Eight kinds of elements stand side by side: a warp runs eight treatments, each with four lanes.
extern "C" __global__ void kinds_side_by_side(const float* in, float* out, int steps) {
    unsigned i = thread_index();
    out[i] = treat(i % 8, in[i], steps);
}

// Twin: threads are assigned so that a warp has one kind; the elements stay where they are.
extern "C" __global__ void kinds_by_warp(const float* in, float* out, int steps) {
    unsigned tile = thread_index() / 256, t = threadIdx.x % 256;
    unsigned i = tile * 256 + t % 32 * 8 + t / 32;
    out[i] = treat(i % 8, in[i], steps);
}

// Per element a loop of 128 or 4096 steps; one element of sixteen is long, so nearly every warp runs 4096 steps with two
// lanes.
extern "C" __global__ void ragged_loops(const float* in, const unsigned* order, const int* steps, float* out) {
    unsigned i = thread_index();
    out[i] = chain(in[i], steps[i]);
}

// Twin: elements are taken in the order of their length.
extern "C" __global__ void ragged_loops_sorted(const float* in, const unsigned* order, const int* steps, float* out) {
    unsigned i = order[thread_index()];
    out[i] = chain(in[i], steps[i]);
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.sms * (bench.threads_per_sm / 256) * bench.scaled(8);
    size_t n = size_t(blocks) * 256;
    float *in = bench.floats(n), *out = bench.allocate<float>(n);
    LAUNCH(bench, kinds_side_by_side, blocks, 256, 0, Bench::view(out, n), in, out, 256);
    LAUNCH(bench, kinds_by_warp, blocks, 256, 0, Bench::view(out, n), in, out, 256);
    bench.same("kinds_side_by_side", "kinds_by_warp");

    std::vector<uint32_t> random = Bench::random_words(n, 5);
    std::vector<int> steps(n);
    std::vector<unsigned> order(n);
    for (size_t i = 0; i < n; ++i) {
        steps[i] = random[i] >> 28 == 0 ? 4096 : 128;
        order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return steps[a] > steps[b]; });
    int* lengths = bench.upload(steps);
    unsigned* sorted = bench.upload(order);
    LAUNCH(bench, ragged_loops, blocks, 256, 0, Bench::view(out, n), in, sorted, lengths, out);
    LAUNCH(bench, ragged_loops_sorted, blocks, 256, 0, Bench::view(out, n), in, sorted, lengths, out);
    bench.same("ragged_loops", "ragged_loops_sorted");
    return bench.finish();
}
