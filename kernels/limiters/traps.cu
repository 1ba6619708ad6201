// Traps: kernels whose most striking counter is not what limits them. Where there is a twin, it removes what is striking,
// and is no faster to speak of.
#include <cuda_fp16.h>
#include <mma.h>

#include "harness.cuh"

// Misaligned by a few elements: a warp touches five sectors instead of four, the fifth is its neighbour's and hits.
__device__ void sum_of_four(const float* in, float* out, size_t n) {
    size_t base = size_t(blockIdx.x) * blockDim.x * 4 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        size_t i = base + k * blockDim.x;
        out[i] = in[i] + in[n + i] + in[2 * n + i] + in[3 * n + i];
    }
}

extern "C" __global__ void misaligned_sum(const float* in, float* out, size_t n, int shift) {
    sum_of_four(in + shift, out, n);
}

// Twin: the same sum of arrays that start at a sector.
extern "C" __global__ void misaligned_sum_aligned(const float* in, float* out, size_t n, int shift) {
    sum_of_four(in, out, n);
}

// Conflicts behind DRAM: every shared read is an eight-way conflict, but for each there is so much to stream that shared
// memory is idle most of the time.
template <int pitch>
__device__ void stream_with_correction(const float4* in, float4* out) {
    __shared__ float correction[32 * pitch];
    for (unsigned i = threadIdx.x; i < 32 * pitch; i += blockDim.x) correction[i] = i / pitch * 0.01f;
    __syncthreads();
    size_t base = size_t(blockIdx.x) * blockDim.x * 8 + threadIdx.x;
#pragma unroll
    for (int h = 0; h < 8; h += 4) {
        float4 v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) v[k] = in[base + (h + k) * blockDim.x];
        float c = correction[(threadIdx.x + h) % 32 * pitch];
#pragma unroll
        for (int k = 0; k < 4; ++k)
            out[base + (h + k) * blockDim.x] = make_float4(v[k].x + c, v[k].y + c, v[k].z + c, v[k].w + c);
    }
}

extern "C" __global__ void conflicts_behind_dram(const float4* in, float4* out) { stream_with_correction<8>(in, out); }

// Twin: an odd pitch, no conflicts.
extern "C" __global__ void conflicts_behind_dram_padded(const float4* in, float4* out) {
    stream_with_correction<9>(in, out);
}

__device__ __noinline__ float pick(const float* values, unsigned which) { return values[which]; }

// Harmless local memory: an array that is indexed at run time, but written and read once a thread, in the shadow of DRAM.
extern "C" __global__ void harmless_local(const float4* in, float4* out, size_t n, int turn) {
    size_t i = thread_index();
    float part[4];
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        float4 v = in[k * n + i];
        sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w;
        part[k / 4] = v.x + v.w;
    }
    sum.x -= pick(part, (turn + i) % 4);
    out[i] = sum;
}

// A rare correction: three multiply-adds that hardly any lane needs.
__device__ void correct(float& x, float y) {
    if (x > 0.97f) {
        x = x * y + 0.1f;
        x = x * y + 0.2f;
        x = x * y + 0.3f;
    }
}

// Predication: most lanes switch the corrections off, yet nothing branches, and DRAM is what takes the time.
extern "C" __global__ void predicated_stream(const float4* in, float4* out) {
    size_t base = size_t(blockIdx.x) * blockDim.x * 4 + threadIdx.x;
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = in[base + k * blockDim.x];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        correct(v[k].x, v[k].y);
        correct(v[k].y, v[k].z);
        correct(v[k].z, v[k].w);
        correct(v[k].w, v[k].x);
        out[base + k * blockDim.x] = v[k];
    }
}

// Occupancy of 75 % (shared memory is reserved for six blocks of 256 threads, or as many as make three quarters) while
// the special-function pipe throttles: more warps would only queue up.
extern "C" __global__ void throttled_at_75_percent(const float* in, float* out, int steps) {
    float x = in[thread_index()], total = 0;
#pragma unroll 4
    for (int s = 0; s < steps; ++s) {
        total += __sinf(x) + __cosf(x);
        x += 0.01f;
    }
    out[thread_index()] = total;
}

// Twin: full occupancy, the same speed.
extern "C" __global__ void throttled_at_full_occupancy(const float* in, float* out, int steps) {
    float x = in[thread_index()], total = 0;
#pragma unroll 4
    for (int s = 0; s < steps; ++s) {
        total += __sinf(x) + __cosf(x);
        x += 0.01f;
    }
    out[thread_index()] = total;
}

// Every stall is long_scoreboard, because DRAM is full: enough loads are in flight, there is nothing left to hide.
extern "C" __global__ void long_scoreboard_at_full_dram(const float4* in, float* out) {
    size_t base = size_t(blockIdx.x) * blockDim.x * 16 + threadIdx.x;
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < 16; ++k) {
        float4 v = in[base + k * blockDim.x];
        sum += v.x + v.y + v.z + v.w;
    }
    out[thread_index()] = sum;
}

// A persistent kernel: exactly one wave, each block loops over its share; waves per SM are 1 on purpose.
extern "C" __global__ void persistent_arithmetic(const float* in, float* out, unsigned n, int steps) {
    for (unsigned i = thread_index(); i < n; i += thread_count()) {
        float a = in[i], b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 8
        for (int s = 0; s < steps; ++s) {
            a = a * 0.99f + 0.01f;
            b = b * 0.98f + 0.02f;
            c = c * 0.97f + 0.03f;
            d = d * 0.96f + 0.04f;
        }
        out[i] = a + b + c + d;
    }
}

// A persistent kernel on the matrix unit: exactly the blocks that are resident at once. Low occupancy and few issued
// instructions are what a good one looks like.
extern "C" __global__ void __launch_bounds__(256) persistent_tensor(const __half* in, float* out, int tasks) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[4];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b[2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4][2];
    for (int t = 0; t < 4; ++t) wmma::load_matrix_sync(a[t], in + t * 256, 16);
    for (int t = 0; t < 2; ++t) wmma::load_matrix_sync(b[t], in + 1024 + t * 256, 16);
    for (unsigned task = thread_index() / 32; task < tasks; task += thread_count() / 32) {
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
#pragma unroll 1
        for (int k = 0; k < 512; ++k) {
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
        }
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 2; ++j)
                wmma::store_matrix_sync(out + (size_t(task) * 8 + i * 2 + j) * 256, sum[i][j], 16, wmma::mem_row_major);
    }
}

// Walks a list of rows, one row a warp and step: every load waits for the one before, and none is scattered.
__device__ unsigned walk_rows(const unsigned* rows, int steps) {
    unsigned row = thread_index() / 32;
    for (int k = 0; k < steps; ++k) row = rows[row * 32 + threadIdx.x % 32];
    return row;
}

// A quarter of a wave that sleeps: the grid looks too small, but each thread has its one item, and more blocks would
// change nothing; the sleep takes the time.
extern "C" __global__ void quarter_wave_that_sleeps(const unsigned* rows, unsigned* out) {
    unsigned found = walk_rows(rows, 32);
    for (int k = 0; k < 100; ++k) __nanosleep(1000);
    out[thread_index()] = found;
}

// Twin: without the sleep it waits for its loads, and the quarter of a wave is too few to hide that.
extern "C" __global__ void quarter_wave_awake(const unsigned* rows, unsigned* out) {
    out[thread_index()] = walk_rows(rows, 32);
}

// The working set fits the L2: warps wait for memory and terabytes pass, but DRAM is idle.
extern "C" __global__ void working_set_in_l2(const float4* in, float* out, unsigned n, int passes) {
    float sum = 0;
    for (int p = 0; p < passes; ++p) {
#pragma unroll 4
        for (unsigned i = thread_index(); i < n; i += thread_count()) {
            float4 v = __ldcg(in + i);
            sum += v.x + v.y + v.z + v.w;
        }
    }
    out[thread_index()] = sum;
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        size_t n = bench.beyond_l2(1.5, 4);
        int shift = 3;
        std::vector<float> pattern = Bench::random_floats(1 << 20), shifted(pattern.begin() + shift, pattern.end());
        shifted.insert(shifted.end(), pattern.begin(), pattern.begin() + shift);
        float *in = bench.tiled(pattern, 4 * n + 32), *aligned = bench.tiled(shifted, 4 * n), *out = bench.allocate<float>(n);
        LAUNCH(bench, misaligned_sum, n / 1024, 256, 0, Bench::view(out, n), in, out, n, shift);
        LAUNCH(bench, misaligned_sum_aligned, n / 1024, 256, 0, Bench::view(out, n), aligned, out, n, shift);
        bench.same("misaligned_sum", "misaligned_sum_aligned", 0);
    }
    size_t many = bench.beyond_l2(4, 16, 1 << 16);
    float4 *in = reinterpret_cast<float4*>(bench.floats(many * 4)), *out = bench.allocate<float4>(many);
    Output all = Bench::view(reinterpret_cast<float*>(out), many * 4);
    float* results = reinterpret_cast<float*>(out);
    LAUNCH(bench, conflicts_behind_dram, many / 2048, 256, 0, all, in, out);
    LAUNCH(bench, conflicts_behind_dram_padded, many / 2048, 256, 0, all, in, out);
    bench.same("conflicts_behind_dram", "conflicts_behind_dram_padded", 0);
    {
        size_t n = many / 16;
        LAUNCH(bench, harmless_local, n / 256, 256, 0, Bench::view(results, n * 4), in, out, n, 1);
    }
    unsigned wave = bench.sms * (bench.threads_per_sm / 256);
    LAUNCH(bench, predicated_stream, many / 1024, 256, 0, all, in, out);
    {
        // Three quarters of the warps: that many blocks of 256 threads, each with its share of the shared memory.
        int blocks_per_sm = std::max(1, bench.threads_per_sm / 256 * 3 / 4);
        size_t reserved = bench.shared_per_sm / blocks_per_sm - 1024;
        reserved = std::min(reserved / 1024 * 1024, bench.shared_per_block);
        size_t n = size_t(wave) * 256 * bench.scaled(6);
        LAUNCH(bench, throttled_at_75_percent, n / 256, 256, reserved, Bench::view(results, n),
               reinterpret_cast<float*>(in), results, 256);
        LAUNCH(bench, throttled_at_full_occupancy, n / 256, 256, 0, Bench::view(results, n),
               reinterpret_cast<float*>(in), results, 256);
        bench.same("throttled_at_75_percent", "throttled_at_full_occupancy", 0);
    }
    LAUNCH(bench, long_scoreboard_at_full_dram, many / 4096, 256, 0, Bench::view(results, many / 16), in, results);
    {
        unsigned n = wave * 256 * bench.scaled(8);
        LAUNCH(bench, persistent_arithmetic, bench.wave(persistent_arithmetic, 256), 256, 0, Bench::view(results, n),
               reinterpret_cast<float*>(in), results, n, 512);
    }
    {
        std::vector<uint32_t> random = Bench::random_words(2048);
        std::vector<__half> halves;
        for (uint32_t r : random) halves.push_back(__float2half(static_cast<float>(r % 5) - 2.0f));
        __half* operands = bench.upload(halves);
        unsigned one_wave = bench.wave(persistent_tensor, 256);
        int tasks = one_wave * 8 * static_cast<int>(bench.scaled(3));
        LAUNCH(bench, persistent_tensor, one_wave, 256, 0, Bench::view(results, size_t(tasks) * 2048), operands, results,
               tasks);
    }
    {
        size_t n = size_t(wave) / 4 * 256;
        std::vector<uint32_t> next = Bench::random_words(n / 32, 7), rows(n);
        for (size_t i = 0; i < n; ++i) rows[i] = next[i / 32] % (n / 32);
        unsigned *list = bench.upload(rows), *found = bench.allocate<unsigned>(n);
        LAUNCH(bench, quarter_wave_that_sleeps, n / 256, 256, 0, Bench::view(found, n), list, found);
        LAUNCH(bench, quarter_wave_awake, n / 256, 256, 0, Bench::view(found, n), list, found);
        bench.same("quarter_wave_that_sleeps", "quarter_wave_awake", 0);
    }
    {
        unsigned n = bench.l2_bytes / 4 / 16;
        LAUNCH(bench, working_set_in_l2, wave, 256, 0, Bench::view(results, size_t(wave) * 256), in, results, n,
               static_cast<int>(bench.scaled(48)));
    }
    return bench.finish();
}
