// uncoalesced-global: most of the sectors that global loads or stores move are not needed; another layout avoids them.
#include "harness.cuh"

// One column of a table with eight columns: each 32-byte sector brings 4 bytes that are used.
extern "C" __global__ void strided_loads(const float* table, float* out) {
    out[thread_index()] = 2 * table[size_t(thread_index()) * 8];
}

// Twin: the column is stored on its own.
extern "C" __global__ void strided_loads_packed(const float* column, float* out) {
    out[thread_index()] = 2 * column[thread_index()];
}

// Eight planes woven into one array of pixels: for each plane a warp writes 4 bytes into each of 32 sectors.
extern "C" __global__ void strided_stores(const float* planes, float* pixels, size_t n) {
#pragma unroll 1
    for (int p = 0; p < 8; ++p) pixels[size_t(thread_index()) * 8 + p] = 2 * planes[p * n + thread_index()];
}

// Twin: a block weaves its 256 pixels in shared memory and writes them in order.
extern "C" __global__ void strided_stores_woven(const float* planes, float* pixels, size_t n) {
    __shared__ float woven[256 * 9];
#pragma unroll
    for (int p = 0; p < 8; ++p) woven[threadIdx.x * 9 + p] = 2 * planes[p * n + thread_index()];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        unsigned i = k * 256 + threadIdx.x;
        pixels[size_t(blockIdx.x) * 2048 + i] = woven[i / 8 * 9 + i % 8];
    }
}

struct Particle {
    float x, y, z, mass, vx, vy, vz, charge, rest[8];
};

// An array of structures of 64 bytes, of which the kernel needs three floats.
extern "C" __global__ void array_of_structures(const Particle* particles, float* out) {
    const Particle& p = particles[thread_index()];
    out[thread_index()] = p.x + p.vx + p.charge;
}

// Twin: a structure of arrays.
extern "C" __global__ void structure_of_arrays(const float* x, const float* vx, const float* charge, float* out) {
    out[thread_index()] = x[thread_index()] + vx[thread_index()] + charge[thread_index()];
}

__device__ void gather_four(const unsigned* index, const float* values, float* out) {
    uint4 i = reinterpret_cast<const uint4*>(index)[thread_index()];
    reinterpret_cast<float4*>(out)[thread_index()] = make_float4(values[i.x], values[i.y], values[i.z], values[i.w]);
}

// A gather in random order from an array far larger than the L2.
extern "C" __global__ void random_gather(const unsigned* index, const float* values, float* out) {
    gather_four(index, values, out);
}

// Twin: the values were sorted into the order of use beforehand, and the index runs through them.
extern "C" __global__ void random_gather_sorted(const unsigned* index, const float* values, float* out) {
    gather_four(index, values, out);
}

// The fast thread index walks down the rows: neighbouring lanes are a row apart.
extern "C" __global__ void wrong_thread_mapping(const float* in, float* out, unsigned width) {
    unsigned row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 8 + threadIdx.y;
    out[size_t(row) * width + column] = 2 * in[size_t(row) * width + column];
}

// Twin: the fast thread index walks along the row.
extern "C" __global__ void right_thread_mapping(const float* in, float* out, unsigned width) {
    unsigned column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    out[size_t(row) * width + column] = 2 * in[size_t(row) * width + column];
}

// The sum of each row, one row a thread: the lanes of a warp read 32 rows at once.
extern "C" __global__ void row_a_thread(const float* in, float* out, unsigned width) {
    float sum = 0;
    for (unsigned x = 0; x < width; ++x) sum += in[size_t(thread_index()) * width + x];
    out[thread_index()] = sum;
}

// Twin: one row a warp.
extern "C" __global__ void row_a_warp(const float* in, float* out, unsigned width) {
    unsigned row = thread_index() / 32;
    float sum = 0;
#pragma unroll 4
    for (unsigned x = threadIdx.x % 32; x < width; x += 32) sum += in[size_t(row) * width + x];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) out[row] = sum;
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        size_t n = bench.beyond_l2(0.5, 4);
        std::vector<float> pattern = Bench::random_floats(1 << 20), first(pattern.size() / 8);
        for (size_t i = 0; i < first.size(); ++i) first[i] = pattern[i * 8];
        float *table = bench.tiled(pattern, n * 8), *column = bench.tiled(first, n), *out = bench.allocate<float>(n);
        LAUNCH(bench, strided_loads, n / 256, 256, 0, Bench::view(out, n), table, out);
        LAUNCH(bench, strided_loads_packed, n / 256, 256, 0, Bench::view(out, n), column, out);
        bench.same("strided_loads", "strided_loads_packed", 0);
    }
    {
        size_t n = bench.beyond_l2(0.25, 4);
        float *planes = bench.floats(n * 8), *pixels = bench.allocate<float>(n * 8);
        LAUNCH(bench, strided_stores, n / 256, 256, 0, Bench::view(pixels, n * 8), planes, pixels, n);
        LAUNCH(bench, strided_stores_woven, n / 256, 256, 0, Bench::view(pixels, n * 8), planes, pixels, n);
        bench.same("strided_stores", "strided_stores_woven", 0);
    }
    {
        size_t n = bench.beyond_l2(0.5, 4);
        std::vector<float> pattern = Bench::random_floats(1 << 20), field[3];
        for (size_t i = 0; i < pattern.size() / 16; ++i) {
            field[0].push_back(pattern[i * 16]);
            field[1].push_back(pattern[i * 16 + 4]);
            field[2].push_back(pattern[i * 16 + 7]);
        }
        auto* particles = reinterpret_cast<Particle*>(bench.tiled(pattern, n * 16));
        float *x = bench.tiled(field[0], n), *vx = bench.tiled(field[1], n), *charge = bench.tiled(field[2], n);
        float* out = bench.allocate<float>(n);
        LAUNCH(bench, array_of_structures, n / 256, 256, 0, Bench::view(out, n), particles, out);
        LAUNCH(bench, structure_of_arrays, n / 256, 256, 0, Bench::view(out, n), x, vx, charge, out);
        bench.same("array_of_structures", "structure_of_arrays", 0);
    }
    {
        size_t n = bench.beyond_l2(1, 4), many = bench.beyond_l2(8, 4);
        std::vector<uint32_t> random = Bench::random_words(n, 11), order(n);
        std::vector<float> values = Bench::random_floats(1 << 20), sorted(n);
        for (size_t i = 0; i < n; ++i) {
            random[i] %= many;
            order[i] = i;
            sorted[i] = values[random[i] % values.size()];
        }
        unsigned *index = bench.upload(random), *straight = bench.upload(order);
        float *large = bench.tiled(values, many), *in_order = bench.upload(sorted), *out = bench.allocate<float>(n);
        LAUNCH(bench, random_gather, n / 1024, 256, 0, Bench::view(out, n), index, large, out);
        LAUNCH(bench, random_gather_sorted, n / 1024, 256, 0, Bench::view(out, n), straight, in_order, out);
        bench.same("random_gather", "random_gather_sorted", 0);
    }
    {
        unsigned width = 4096, height = bench.beyond_l2(1, 4, 32 * width) / width;
        size_t n = size_t(width) * height;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, wrong_thread_mapping, dim3(height / 32, width / 8), dim3(32, 8), 0, Bench::view(out, n), in, out, width);
        LAUNCH(bench, right_thread_mapping, dim3(width / 32, height / 8), dim3(32, 8), 0, Bench::view(out, n), in, out, width);
        bench.same("wrong_thread_mapping", "right_thread_mapping", 0);
    }
    {
        unsigned width = bench.scaled(512, 32), rows = bench.sms * bench.threads_per_sm;
        float *in = bench.floats(size_t(rows) * width), *out = bench.allocate<float>(rows);
        LAUNCH(bench, row_a_thread, rows / 256, 256, 0, Bench::view(out, rows), in, out, width);
        LAUNCH(bench, row_a_warp, rows / 8, 256, 0, Bench::view(out, rows), in, out, width);
        bench.same("row_a_thread", "row_a_warp", 1e-3);
    }
    return bench.finish();
}
