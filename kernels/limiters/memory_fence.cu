// memory-fence: most of the time goes to waiting until earlier stores are visible to others.
#include "harness.cuh"

// Every store is followed by a fence for the device, as if each element had a reader that waits for it.
extern "C" __global__ void fence_every_store(float* out, size_t n, int items) {
    size_t i = thread_index();
    for (int k = 0; k < items; ++k) {
        out[size_t(k) * n + i] = 0.5f * k + i % 1024;
        __threadfence();
    }
}

// Twin: one fence after the last store.
extern "C" __global__ void fence_once(float* out, size_t n, int items) {
    size_t i = thread_index();
#pragma unroll 4
    for (int k = 0; k < items; ++k) out[size_t(k) * n + i] = 0.5f * k + i % 1024;
    __threadfence();
}

// A warp publishes its progress after every tile, for a reader anywhere in the system.
extern "C" __global__ void fence_system_progress(const float* in, float* out, volatile int* progress, size_t n,
                                                 int items) {
    size_t i = thread_index();
    for (int k = 0; k < items; ++k) {
        out[size_t(k) * n + i] = 2 * in[i] + k;
        __threadfence_system();
        if (threadIdx.x % 32 == 0) progress[i / 32] = k + 1;
    }
}

// Twin: it publishes when it is done.
extern "C" __global__ void fence_system_at_end(const float* in, float* out, volatile int* progress, size_t n,
                                               int items) {
    size_t i = thread_index();
#pragma unroll 4
    for (int k = 0; k < items; ++k) out[size_t(k) * n + i] = 2 * in[i] + k;
    __threadfence_system();
    if (threadIdx.x % 32 == 0) progress[i / 32] = items;
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.sms * (bench.threads_per_sm / 256);
    int items = static_cast<int>(bench.scaled(128));
    size_t n = size_t(blocks) * 256;
    float *in = bench.floats(n), *out = bench.allocate<float>(n * items);
    int* progress = bench.allocate<int>(n / 32);
    LAUNCH(bench, fence_every_store, blocks, 256, 0, Bench::view(out, n * items), out, n, items);
    LAUNCH(bench, fence_once, blocks, 256, 0, Bench::view(out, n * items), out, n, items);
    bench.same("fence_every_store", "fence_once");
    LAUNCH(bench, fence_system_progress, blocks, 256, 0, Bench::view(out, n * items), in, out, progress, n, items);
    LAUNCH(bench, fence_system_at_end, blocks, 256, 0, Bench::view(out, n * items), in, out, progress, n, items);
    bench.same("fence_system_progress", "fence_system_at_end");
    return bench.finish();
}
