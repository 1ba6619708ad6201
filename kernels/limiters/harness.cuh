// Turns one file of calibration kernels into a stand-alone program.
//
//   ./program [--scale S] [--time] [--kernel NAME] [--list] [--no-check]
//
// Without options every kernel of the file runs exactly once, in the order in which the file launches it, so that a
// profiler sees one result a kernel; then each kernel is compared with its twin. `--time` adds one JSON line a kernel with
// the median of 21 launches, measured with events. `--list` prints the launches without making them.
// Sizes follow the device: callers multiply by `sms`, `l2_bytes` and `scale`.
//
// Exit status: 0 done, 1 a kernel and its twin disagree, 2 a CUDA call failed or the options are wrong.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#define CUDA_OK(call)                                                                               \
    do {                                                                                            \
        cudaError_t status_ = (call);                                                               \
        if (status_ != cudaSuccess) {                                                               \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));   \
            std::exit(2);                                                                           \
        }                                                                                           \
    } while (0)

// Launch `kernel` under its own name: LAUNCH(bench, kernel, grid, block, dynamic shared bytes, output, arguments...).
#define LAUNCH(bench, kernel, ...) (bench).run(#kernel, kernel, __VA_ARGS__)

// What a kernel writes: where, how many elements, of which type.
struct Output {
    void* data = nullptr;
    size_t count = 0;
    size_t width = 0;
    bool floating = false;
    bool on_host = false;

    size_t bytes() const { return count * width; }
};

class Bench {
  public:
    int sms = 0;                // streaming multiprocessors
    int cc = 0;                 // compute capability, 90 for 9.0
    int threads_per_sm = 0;     // resident threads an SM can hold
    int fp64_slowdown = 1;      // FP32 rate over FP64 rate
    size_t l2_bytes = 0;
    size_t shared_per_block = 0;  // most dynamic shared memory one block may ask for
    size_t shared_per_sm = 0;
    double scale = 1.0;

    Bench(int argc, char** argv) {
        for (int i = 1; i < argc; ++i) {
            std::string option = argv[i];
            if (option == "--time") time_ = true;
            else if (option == "--list") list_ = true;
            else if (option == "--no-check") check_ = false;
            else if (option == "--scale" && i + 1 < argc) scale = std::atof(argv[++i]);
            else if (option == "--kernel" && i + 1 < argc) only_ = argv[++i];
            else usage(argv[0]);
        }
        if (!(scale > 0)) usage(argv[0]);
        sms = attribute(cudaDevAttrMultiProcessorCount);
        cc = 10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
        threads_per_sm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
        fp64_slowdown = std::max(1, attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio));
        l2_bytes = static_cast<size_t>(attribute(cudaDevAttrL2CacheSize));
        shared_per_block = static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
        shared_per_sm = static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
        CUDA_OK(cudaEventCreate(&start_));
        CUDA_OK(cudaEventCreate(&stop_));
    }

    static int attribute(cudaDeviceAttr which) {
        int value = 0;
        CUDA_OK(cudaDeviceGetAttribute(&value, which, 0));
        return value;
    }

    // `count` times the scale, rounded up to a multiple of `step`, at least one step.
    size_t scaled(double count, size_t step = 1) const {
        size_t steps = static_cast<size_t>(std::ceil(count * scale / static_cast<double>(step)));
        return std::max<size_t>(steps, 1) * step;
    }

    // Elements of `width` bytes that fill several times the L2, so that DRAM has to serve them.
    size_t beyond_l2(double times, size_t width, size_t step = 4096) const {
        return scaled(times * static_cast<double>(l2_bytes) / static_cast<double>(width), step);
    }

    template <class T>
    T* allocate(size_t count) {
        T* data = nullptr;
        CUDA_OK(cudaMalloc(&data, count * sizeof(T)));
        return data;
    }

    template <class T>
    T* upload(const std::vector<T>& values) {
        T* data = allocate<T>(values.size());
        CUDA_OK(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
        return data;
    }

    // Device array that repeats `pattern` until `count` elements are filled; copies only, so no extra kernel is launched.
    template <class T>
    T* tiled(const std::vector<T>& pattern, size_t count) {
        T* data = allocate<T>(count);
        size_t filled = std::min(count, pattern.size());
        CUDA_OK(cudaMemcpy(data, pattern.data(), filled * sizeof(T), cudaMemcpyHostToDevice));
        while (filled < count) {
            size_t more = std::min(filled, count - filled);
            CUDA_OK(cudaMemcpy(data + filled, data, more * sizeof(T), cudaMemcpyDeviceToDevice));
            filled += more;
        }
        return data;
    }

    // The same pseudo-random 32-bit words in every run (xorshift32).
    static std::vector<uint32_t> random_words(size_t count, uint32_t seed = 1) {
        std::vector<uint32_t> words(count);
        uint32_t x = seed * 2654435761u + 12345u;
        for (auto& word : words) {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            word = x;
        }
        return words;
    }

    static std::vector<float> random_floats(size_t count, uint32_t seed = 1) {
        std::vector<uint32_t> words = random_words(count, seed);
        std::vector<float> values(count);
        for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(words[i] >> 8) / 16777216.0f;
        return values;
    }

    // `count` floats in [0, 1) on the device.
    float* floats(size_t count, uint32_t seed = 1) {
        return tiled(random_floats(std::min<size_t>(count, size_t(1) << 20), seed), count);
    }

    uint32_t* words(size_t count, uint32_t seed = 1) {
        return tiled(random_words(std::min<size_t>(count, size_t(1) << 20), seed), count);
    }

    template <class T>
    static Output view(T* data, size_t count, bool on_host = false) {
        return Output{data, count, sizeof(T), std::is_floating_point<T>::value, on_host};
    }

    // Called before every launch from now on, after the output was cleared; empty again with nullptr.
    void before_each(std::function<void()> hook) { before_ = std::move(hook); }

    // Blocks that are resident at once: a grid of exactly one wave.
    template <class... P>
    unsigned wave(void (*kernel)(P...), int block, size_t shared = 0) const {
        int per_sm = 0;
        CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, block, shared));
        return static_cast<unsigned>(std::max(1, per_sm) * sms);
    }

    // Clear the output, launch once, keep the result; with --time launch again and print the median.
    template <class... P, class... A>
    void run(const char* name, void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, Output out, A... arguments) {
        if (!only_.empty() && only_ != name) return;
        if (list_) {
            describe(name, grid, block, shared, -1.0);
            return;
        }
        if (shared > 48 * 1024)
            CUDA_OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
        auto launch = [&] {
            kernel<<<grid, block, shared>>>(static_cast<P>(arguments)...);
            CUDA_OK(cudaGetLastError());
        };
        reset(out);
        launch();
        CUDA_OK(cudaDeviceSynchronize());
        if (check_) keep(name, out);
        if (!time_) return;
        std::vector<float> times;
        for (int i = 0; i < 23; ++i) {
            reset(out);
            CUDA_OK(cudaEventRecord(start_));
            launch();
            CUDA_OK(cudaEventRecord(stop_));
            CUDA_OK(cudaEventSynchronize(stop_));
            float milliseconds = 0;
            CUDA_OK(cudaEventElapsedTime(&milliseconds, start_, stop_));
            if (i >= 2) times.push_back(1000.0f * milliseconds);
        }
        std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
        describe(name, grid, block, shared, times[times.size() / 2]);
    }

    // A kernel that this chip cannot run, and why.
    void skip(const char* name, const char* reason) {
        if (only_.empty() || only_ == name) std::printf("{\"kernel\": \"%s\", \"skipped\": \"%s\"}\n", name, reason);
    }

    // The two kernels must have written the same: |a - b| <= tolerance * max(1, |a|, |b|).
    void same(const char* kernel, const char* twin, double tolerance = 1e-4) {
        auto a = kept_.find(kernel), b = kept_.find(twin);
        if (a == kept_.end() || b == kept_.end()) return;
        double worst = a->second.out.count == b->second.out.count ? 0.0 : INFINITY;
        bool nonzero = false;
        for (size_t i = 0; std::isfinite(worst) && i < a->second.out.count; ++i) {
            double x = a->second.at(i), y = b->second.at(i);
            double error = std::fabs(x - y) / std::max({1.0, std::fabs(x), std::fabs(y)});
            if (!(error <= worst)) worst = std::isnan(error) ? INFINITY : error;
            nonzero = nonzero || x != 0;
        }
        bool ok = worst <= tolerance && nonzero;  // an output of zeros proves nothing
        if (!ok) failed_ = true;
        std::printf("{\"check\": [\"%s\", \"%s\"], \"worst_error\": %.3g, \"ok\": %s}\n", kernel, twin,
                    std::isfinite(worst) ? worst : 1e300, ok ? "true" : "false");
    }

    int finish() {
        CUDA_OK(cudaDeviceSynchronize());
        return failed_ ? 1 : 0;
    }

  private:
    struct Kept {
        Output out;
        std::vector<unsigned char> bytes;

        double at(size_t i) const {
            const unsigned char* p = bytes.data() + i * out.width;
            if (out.floating) {
                if (out.width == 8) return value<double>(p);
                return value<float>(p);
            }
            if (out.width == 8) return value<int64_t>(p);
            if (out.width == 4) return value<int32_t>(p);
            if (out.width == 2) return value<int16_t>(p);
            return value<uint8_t>(p);
        }

        template <class T>
        static double value(const unsigned char* p) {
            T v;
            std::memcpy(&v, p, sizeof v);
            return static_cast<double>(v);
        }
    };

    [[noreturn]] static void usage(const char* program) {
        std::fprintf(stderr, "usage: %s [--scale S] [--time] [--kernel NAME] [--list] [--no-check]\n", program);
        std::exit(2);
    }

    void reset(const Output& out) {
        if (out.on_host) {
            CUDA_OK(cudaDeviceSynchronize());
            std::memset(out.data, 0, out.bytes());
        } else if (out.data) {
            CUDA_OK(cudaMemset(out.data, 0, out.bytes()));
        }
        if (before_) before_();
    }

    void keep(const char* name, const Output& out) {
        Kept kept{out, std::vector<unsigned char>(out.bytes())};
        CUDA_OK(cudaMemcpy(kept.bytes.data(), out.data, out.bytes(), cudaMemcpyDefault));
        kept_[name] = std::move(kept);
    }

    static void describe(const char* name, dim3 grid, dim3 block, size_t shared, double median_us) {
        std::printf("{\"kernel\": \"%s\", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"shared_bytes\": %zu", name,
                    grid.x, grid.y, grid.z, block.x, block.y, block.z, shared);
        if (median_us >= 0) std::printf(", \"median_us\": %.2f", median_us);
        std::printf("}\n");
        std::fflush(stdout);
    }

    bool time_ = false, list_ = false, check_ = true, failed_ = false;
    std::string only_;
    std::function<void()> before_;
    std::map<std::string, Kept> kept_;
    cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

// Dynamic shared memory, one declaration for all kernels of a file.
extern __shared__ unsigned char dynamic_shared[];

__device__ inline unsigned thread_index() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline unsigned thread_count() { return gridDim.x * blockDim.x; }

// Some arithmetic on one element: one dependent chain of multiply-adds, four cycles a step on recent chips.
__device__ inline float chain(float x, int steps) {
#pragma unroll 8
    for (int s = 0; s < steps; ++s) x = x * 0.999f + 0.001f;
    return x;
}
