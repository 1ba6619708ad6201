// host-memory: the kernel reads or writes pinned memory of the host over the link, which is far slower than DRAM.
#include "harness.cuh"

__device__ void scale(const float4* in, float4* out, size_t n) {
    for (size_t i = thread_index(); i < n; i += thread_count()) {
        float4 v = in[i];
        out[i] = make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
    }
}

// Input in pinned host memory, read through its mapped address.
extern "C" __global__ void host_read(const float4* in, float4* out, size_t n) { scale(in, out, n); }

// Twin: the input was copied to the device before.
extern "C" __global__ void host_read_from_device(const float4* in, float4* out, size_t n) { scale(in, out, n); }

// Output in pinned host memory.
extern "C" __global__ void host_write(const float4* in, float4* out, size_t n) { scale(in, out, n); }

// Twin: the output stays on the device, to be copied when the kernel is done.
extern "C" __global__ void host_write_to_device(const float4* in, float4* out, size_t n) { scale(in, out, n); }

// A look-up table left in host memory: each look-up crosses the link, because host memory is not cached in the L2.
extern "C" __global__ void host_table(const unsigned* index, const float* table, float* out, size_t n, unsigned mask) {
    for (size_t i = thread_index(); i < n; i += thread_count()) out[i] = table[index[i] & mask];
}

// Twin: the table lies in device memory.
extern "C" __global__ void host_table_on_device(const unsigned* index, const float* table, float* out, size_t n,
                                                unsigned mask) {
    for (size_t i = thread_index(); i < n; i += thread_count()) out[i] = table[index[i] & mask];
}

template <class T>
T* pinned(size_t count) {
    T* data = nullptr;
    CUDA_OK(cudaHostAlloc(reinterpret_cast<void**>(&data), count * sizeof(T), cudaHostAllocMapped));
    return data;
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.sms * 4;
    size_t floats = bench.scaled(12 << 20, 4096), n = floats / 4;
    std::vector<float> values = Bench::random_floats(floats);
    float4* in = reinterpret_cast<float4*>(bench.upload(values));
    float4* out = reinterpret_cast<float4*>(bench.allocate<float>(floats));
    float4* host_in = reinterpret_cast<float4*>(pinned<float>(floats));
    float4* host_out = reinterpret_cast<float4*>(pinned<float>(floats));
    std::memcpy(host_in, values.data(), floats * sizeof(float));
    Output on_device = Bench::view(reinterpret_cast<float*>(out), floats);
    Output on_host = Bench::view(reinterpret_cast<float*>(host_out), floats, true);
    LAUNCH(bench, host_read, blocks, 256, 0, on_device, host_in, out, n);
    LAUNCH(bench, host_read_from_device, blocks, 256, 0, on_device, in, out, n);
    bench.same("host_read", "host_read_from_device", 0);
    LAUNCH(bench, host_write, blocks, 256, 0, on_host, in, host_out, n);
    LAUNCH(bench, host_write_to_device, blocks, 256, 0, on_device, in, out, n);
    bench.same("host_write", "host_write_to_device", 0);
    {
        size_t m = bench.scaled(1 << 19, 4096);
        unsigned mask = (1u << 18) - 1;
        unsigned* index = bench.words(m, 9);
        float *device_table = bench.floats(mask + 1, 4), *table = pinned<float>(mask + 1);
        CUDA_OK(cudaMemcpy(table, device_table, (mask + 1) * sizeof(float), cudaMemcpyDeviceToHost));
        Output view = Bench::view(reinterpret_cast<float*>(out), m);
        LAUNCH(bench, host_table, blocks, 256, 0, view, index, table, reinterpret_cast<float*>(out), m, mask);
        LAUNCH(bench, host_table_on_device, blocks, 256, 0, view, index, device_table, reinterpret_cast<float*>(out), m,
               mask);
        bench.same("host_table", "host_table_on_device", 0);
    }
    return bench.finish();
}
