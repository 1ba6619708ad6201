// The transposes as a program: launches every variant once, in order, and checks each result on the host.
//
//     ./transpose [ROWS [COLS]]        4096 x 4096 floats unless told otherwise; one number makes it square
//
// Made to be profiled (`triage profile ./transpose`): it launches nothing but the variants, and `triage kernels
// bench` times them. Exit status 0 when every right variant is right, 1 when one is not, 2 on a bad call, 3 when
// CUDA fails. The same file compiles to the cubin, or through NVRTC to the module, that the driver loads.
#include "transpose.cuh"

#define ALL_TYPES(TILE, ROWS)                                                                                      \
    TRANSPOSE_TILE(TILE##_float, float, TILE, ROWS)                                                               \
    TRANSPOSE_TILE(TILE##_half, transpose::half_bits, TILE, ROWS)                                                 \
    TRANSPOSE_TILE(TILE##_double, double, TILE, ROWS)

ALL_TYPES(32, 8)
ALL_TYPES(64, 16)
TRANSPOSE_WRONG(32_float, float, 32, 8)
TRANSPOSE_WRONG(32_half, transpose::half_bits, 32, 8)
TRANSPOSE_WRONG(32_double, double, 32, 8)
TRANSPOSE_BEST(best_float, float, 16, 256)
TRANSPOSE_BEST(best_half, transpose::half_bits, 16, 256)
TRANSPOSE_BEST(best_double, double, 16, 256)

#ifndef __CUDACC_RTC__
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

void must(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "transpose: %s: %s\n", what, cudaGetErrorString(status));
        std::exit(3);
    }
}

using Kernel = void (*)(float*, const float*, int, int);

struct Variant {
    const char* name;
    Kernel kernel;
    int tile;        // edge in elements
    dim3 block;
    bool linear;     // one-dimensional grid over the tiles
    bool transposes; // false: a copy
    bool right;      // false: planted fault that the check has to find
};

constexpr int BEST_TILE = 16 * transpose::Chunk<float>::V;

const Variant VARIANTS[] = {
    {"copy_32", copy_32_float, 32, dim3(32, 8), false, false, true},
    {"naive_32", naive_32_float, 32, dim3(32, 8), false, true, true},
    {"strided_load_32", strided_load_32_float, 32, dim3(32, 8), false, true, true},
    {"shared_32", shared_32_float, 32, dim3(32, 8), false, true, true},
    {"padded_32", padded_32_float, 32, dim3(32, 8), false, true, true},
    {"swap_forgotten_32", swap_forgotten_32_float, 32, dim3(32, 8), false, true, true},
    {"copy_64", copy_64_float, 64, dim3(64, 16), false, false, true},
    {"naive_64", naive_64_float, 64, dim3(64, 16), false, true, true},
    {"strided_load_64", strided_load_64_float, 64, dim3(64, 16), false, true, true},
    {"shared_64", shared_64_float, 64, dim3(64, 16), false, true, true},
    {"padded_64", padded_64_float, 64, dim3(64, 16), false, true, true},
    {"swap_forgotten_64", swap_forgotten_64_float, 64, dim3(64, 16), false, true, true},
    {"best", best_float, BEST_TILE, dim3(256), true, true, true},
    {"missing_barrier_32", missing_barrier_32_float, 32, dim3(32, 8), false, true, false},
    {"branch_barrier_32", branch_barrier_32_float, 32, dim3(32, 8), false, true, false},
};

// Number of elements of `out` that differ from the copy or the transpose of `in`, bit by bit; walked in squares so that
// both matrices stay in the host's caches.
size_t count_wrong(const std::vector<float>& out, const std::vector<float>& in, int rows, int cols, bool transposes) {
    constexpr int EDGE = 64;
    size_t wrong = 0;
    for (int r0 = 0; r0 < rows; r0 += EDGE) {
        for (int c0 = 0; c0 < cols; c0 += EDGE) {
            for (int r = r0; r < rows && r < r0 + EDGE; ++r) {
                for (int c = c0; c < cols && c < c0 + EDGE; ++c) {
                    const size_t from = size_t(r) * cols + c;
                    const size_t to = transposes ? size_t(c) * rows + r : from;
                    wrong += std::memcmp(&out[to], &in[from], sizeof(float)) != 0;
                }
            }
        }
    }
    return wrong;
}

bool parse_size(const char* text, int* value) {
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    *value = static_cast<int>(number);
    return *text != '\0' && *end == '\0' && number >= 1 && number <= 1000000;
}

}  // namespace

int main(int argc, char** argv) {
    int rows = 4096;
    if (argc > 3 || (argc > 1 && !parse_size(argv[1], &rows))) {
        std::fprintf(stderr, "usage: transpose [ROWS [COLS]]   (whole numbers from 1 to 1000000)\n");
        return 2;
    }
    int cols = rows;
    if (argc > 2 && !parse_size(argv[2], &cols)) {
        std::fprintf(stderr, "usage: transpose [ROWS [COLS]]   (whole numbers from 1 to 1000000)\n");
        return 2;
    }
    const size_t count = size_t(rows) * cols, bytes = count * sizeof(float);

    // xorshift: random enough that no wrong index goes unseen, and the same in every run
    std::vector<float> in(count), out(count);
    unsigned long long state = 0x9E3779B97F4A7C15ull;
    for (float& value : in) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        value = static_cast<float>(state >> 40) * (1.0f / 16777216.0f);
    }

    float *device_in = nullptr, *device_out = nullptr;
    must(cudaMalloc(&device_in, bytes), "no memory for the input");
    must(cudaMalloc(&device_out, bytes), "no memory for the output");
    must(cudaMemcpy(device_in, in.data(), bytes, cudaMemcpyHostToDevice), "copy to the GPU");

    cudaDeviceProp device;
    must(cudaGetDeviceProperties(&device, 0), "device properties");
    std::printf("%d x %d floats on %s\n", rows, cols, device.name);

    int failures = 0;
    for (const Variant& variant : VARIANTS) {
        const int across = (cols + variant.tile - 1) / variant.tile, down = (rows + variant.tile - 1) / variant.tile;
        const dim3 grid = variant.linear ? dim3(across * down) : dim3(across, down);
        // NaN everywhere: an element that nobody writes cannot look right
        must(cudaMemset(device_out, 0xFF, bytes), "poison the output");
        variant.kernel<<<grid, variant.block>>>(device_out, device_in, rows, cols);
        must(cudaGetLastError(), variant.name);
        must(cudaMemcpy(out.data(), device_out, bytes, cudaMemcpyDeviceToHost), variant.name);
        const size_t wrong = count_wrong(out, in, rows, cols, variant.transposes);
        std::string verdict = "right";
        if (wrong != 0) {
            verdict = std::to_string(wrong) + " elements wrong";
        }
        if (!variant.right) {
            verdict += wrong != 0 ? " (planted fault, found)" : " (planted fault, not seen in this run)";
        } else if (wrong != 0) {
            ++failures;
        }
        std::printf("%-20s grid %5u x %-5u block %4u x %-3u %s\n", variant.name, grid.x, grid.y, variant.block.x,
                    variant.block.y, verdict.c_str());
    }
    cudaFree(device_in);
    cudaFree(device_out);
    return failures == 0 ? 0 : 1;
}
#endif  // __CUDACC_RTC__
