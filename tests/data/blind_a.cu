// Machine learning and data-parallel primitives as people write them first, each with what limits it (blind_h200.yaml).
#include "../../kernels/limiters/harness.cuh"

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

__device__ inline float warp_sum(float v) {
    for (int step = 16; step; step /= 2) v += __shfl_xor_sync(~0u, v, step);
    return v;
}
__device__ inline float warp_max(float v) {
    for (int step = 16; step; step /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, step));
    return v;
}

// ---- softmax, rows of 128
extern "C" __global__ void fa_softmax_row_thread(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* x = in + size_t(row) * cols;
    float* y = out + size_t(row) * cols;
    float top = -INFINITY, sum = 0;
    for (int c = 0; c < cols; ++c) top = fmaxf(top, x[c]);
    for (int c = 0; c < cols; ++c) sum += __expf(x[c] - top);
    float scale = 1.0f / sum;
    for (int c = 0; c < cols; ++c) y[c] = __expf(x[c] - top) * scale;
}

extern "C" __global__ void fa_softmax_row_warp(const float4* __restrict__ in, float4* __restrict__ out, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    size_t at = size_t(row) * 32 + threadIdx.x % 32;
    float4 v = in[at];
    float top = warp_max(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    v.x = __expf(v.x - top), v.y = __expf(v.y - top), v.z = __expf(v.z - top), v.w = __expf(v.w - top);
    float scale = 1.0f / warp_sum((v.x + v.y) + (v.z + v.w));
    out[at] = make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
}

// ---- layer norm, rows of 1024; thread 0 adds up the partial sums
extern "C" __global__ void fa_layernorm_serial(const float2* __restrict__ in, float2* __restrict__ out) {
    __shared__ float part[512];
    __shared__ float mean, scale;
    size_t at = size_t(blockIdx.x) * 512 + threadIdx.x;
    float2 v = in[at];
    part[threadIdx.x] = v.x + v.y;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < blockDim.x; ++i) sum += part[i];
        mean = sum / 1024;
    }
    __syncthreads();
    v.x -= mean, v.y -= mean;
    part[threadIdx.x] = v.x * v.x + v.y * v.y;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < blockDim.x; ++i) sum += part[i];
        scale = rsqrtf(sum / 1024 + 1e-5f);
    }
    __syncthreads();
    out[at] = make_float2(v.x * scale, v.y * scale);
}

extern "C" __global__ void fa_layernorm_warp(const float4* __restrict__ in, float4* __restrict__ out) {
    size_t row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const float4* x = in + row * 256 + threadIdx.x % 32;
    float4* y = out + row * 256 + threadIdx.x % 32;
    float4 v[8];
    float sum = 0, square = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = x[32 * k];
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    float mean = warp_sum(sum) / 1024;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        v[k].x -= mean, v[k].y -= mean, v[k].z -= mean, v[k].w -= mean;
        square += v[k].x * v[k].x + v[k].y * v[k].y + v[k].z * v[k].z + v[k].w * v[k].w;
    }
    float s = rsqrtf(warp_sum(square) / 1024 + 1e-5f);
#pragma unroll
    for (int k = 0; k < 8; ++k) y[32 * k] = make_float4(v[k].x * s, v[k].y * s, v[k].z * s, v[k].w * s);
}

// ---- GELU on half, with powf for the cube
extern "C" __global__ void fa_gelu_half_powf(const __half* __restrict__ in, __half* __restrict__ out, unsigned n) {
    for (unsigned i = thread_index(); i < n; i += thread_count()) {
        float x = __half2float(in[i]);
        float inner = 0.7978845608f * (x + 0.044715f * powf(x, 3.0f));
        out[i] = __float2half(0.5f * x * (1.0f + tanhf(inner)));
    }
}

__device__ inline float gelu_fast(float x) {
    float inner = 0.7978845608f * (x + 0.044715f * x * x * x), t;
    asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(inner));
    return 0.5f * x * (1.0f + t);
}
extern "C" __global__ void fa_gelu_half_wide(const uint4* __restrict__ in, uint4* __restrict__ out, unsigned n8) {
    for (unsigned i = thread_index(); i < n8; i += thread_count()) {
        uint4 v = in[i];
        __half2* h = reinterpret_cast<__half2*>(&v);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            float2 f = __half22float2(h[k]);
            h[k] = __floats2half2_rn(gelu_fast(f.x), gelu_fast(f.y));
        }
        out[i] = v;
    }
}

// ---- embedding bag: a warp a bag of 32 rows of 64 floats
extern "C" __global__ void fa_embedding_bag(const float2* __restrict__ table, const unsigned* __restrict__ index,
                                            float2* __restrict__ out, unsigned mask) {
    unsigned bag = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float2 sum = make_float2(0, 0);
#pragma unroll 4
    for (int k = 0; k < 32; ++k) {
        size_t row = index[bag * 32 + k] & mask;
        float2 v = table[row * 32 + lane];
        sum.x += v.x, sum.y += v.y;
    }
    out[size_t(bag) * 32 + lane] = sum;
}

// ---- tree reduction of 256 elements a block
extern "C" __global__ void fa_reduce_modulo(const float* __restrict__ in, float* __restrict__ out) {
    __shared__ float s[256];
    unsigned t = threadIdx.x;
    s[t] = in[size_t(blockIdx.x) * blockDim.x + t];
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        if (t % (2 * step) == 0) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void fa_reduce_shuffle(const float4* __restrict__ in, float* __restrict__ out) {
    size_t chunk = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float4 a = in[chunk * 64 + threadIdx.x % 32], b = in[chunk * 64 + 32 + threadIdx.x % 32];
    float sum = warp_sum(((a.x + a.y) + (a.z + a.w)) + ((b.x + b.y) + (b.z + b.w)));
    if (threadIdx.x % 32 == 0) out[chunk] = sum;
}

// ---- exclusive scan of 1024 elements a block, up and down the tree without padding
extern "C" __global__ void fa_scan_tree(const float* __restrict__ in, float* __restrict__ out) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    size_t base = size_t(blockIdx.x) * 1024;
    s[t] = in[base + t];
    s[t + 512] = in[base + t + 512];
    int offset = 1;
    for (int d = 512; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            s[b] += s[a];
        }
        offset *= 2;
    }
    if (t == 0) s[1023] = 0;
    for (int d = 1; d < 1024; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            float v = s[a];
            s[a] = s[b];
            s[b] += v;
        }
    }
    __syncthreads();
    out[base + t] = s[t];
    out[base + t + 512] = s[t + 512];
}

extern "C" __global__ void fa_scan_shuffle(const float4* __restrict__ in, float4* __restrict__ out) {
    __shared__ float total[8];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t at = size_t(blockIdx.x) * 256 + threadIdx.x;
    float4 v = in[at];
    float mine = (v.x + v.y) + (v.z + v.w), sum = mine;
    for (int step = 1; step < 32; step *= 2) {
        float other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == 31) total[warp] = sum;
    __syncthreads();
    float before = sum - mine;
    for (unsigned w = 0; w < 8; ++w) before += w < warp ? total[w] : 0.0f;
    out[at] = make_float4(before, before + v.x, before + v.x + v.y, before + v.x + v.y + v.z);
}

// ---- y = transpose(A) x, A row-major: a thread a column
extern "C" __global__ void fa_gemv_column_thread(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y,
                                                 int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0;
#pragma unroll 4
    for (int r = 0; r < rows; ++r) sum += a[size_t(r) * cols + col] * x[r];
    y[col] = sum;
}

extern "C" __global__ void fa_gemv_column_split(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y,
                                                int slice, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0;
    int begin = blockIdx.y * slice;
#pragma unroll 4
    for (int r = begin; r < begin + slice; ++r) sum += a[size_t(r) * cols + col] * x[r];
    atomicAdd(&y[col], sum);
}

// ---- batch of 4x4 products: a block a matrix
extern "C" __global__ void fa_batched4_block(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
    size_t base = size_t(blockIdx.x) * 16;
    float sum = 0;
    for (int k = 0; k < 4; ++k) sum += a[base + threadIdx.y * 4 + k] * b[base + k * 4 + threadIdx.x];
    c[base + threadIdx.y * 4 + threadIdx.x] = sum;
}

extern "C" __global__ void fa_batched4_packed(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
    size_t i = thread_index(), base = i / 16 * 16;
    unsigned row = i / 4 % 4, col = i % 4;
    float sum = 0;
    for (int k = 0; k < 4; ++k) sum += a[base + row * 4 + k] * b[base + k * 4 + col];
    c[i] = sum;
}

// ---- WMMA straight from global memory, one tile a warp
extern "C" __global__ void fa_wmma_direct(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c, int n) {
    using namespace nvcuda;
    int warp = threadIdx.x / 32;
    int row = (blockIdx.y * 4 + warp / 4) * 16, col = (blockIdx.x * 4 + warp % 4) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + size_t(row) * n + k, n);
        wmma::load_matrix_sync(fb, b + size_t(k) * n + col, n);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::store_matrix_sync(c + size_t(row) * n + col, acc, n, wmma::mem_row_major);
}

// ---- attention scores of one head, 64 features, no tiles
extern "C" __global__ void fa_scores_naive(const float* __restrict__ q, const float* __restrict__ key, float* __restrict__ s, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    float sum = 0;
    for (int d = 0; d < 64; ++d) sum += q[i * 64 + d] * key[j * 64 + d];
    s[size_t(i) * n + j] = sum * 0.125f;
}

// the keys are stored feature by feature
extern "C" __global__ void fa_scores_transposed(const float* __restrict__ q, const float* __restrict__ key, float* __restrict__ s,
                                                int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    float sum = 0;
    for (int d = 0; d < 64; ++d) sum += q[i * 64 + d] * key[d * n + j];
    s[size_t(i) * n + j] = sum * 0.125f;
}

// ---- top-1 of a row; the key orders by value, then by lower index (all values are positive)
__device__ inline unsigned long long top_key(float v, unsigned i) {
    return (static_cast<unsigned long long>(__float_as_uint(v)) << 32) | (0x7fffffffu - i);
}
__device__ unsigned long long top_of(const float* __restrict__ row, unsigned begin, unsigned end) {
    __shared__ unsigned long long part[8];
    float best = -1;
    unsigned where = begin;
#pragma unroll 4
    for (unsigned i = begin + threadIdx.x; i < end; i += 256) {
        float v = row[i];
        if (v > best) best = v, where = i;
    }
    unsigned long long key = best < 0 ? 0 : top_key(best, where);
    for (int step = 16; step; step /= 2) {
        unsigned long long other = __shfl_xor_sync(~0u, key, step);
        key = other > key ? other : key;
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = key;
    __syncthreads();
    for (int w = 0; w < 8; ++w) key = part[w] > key ? part[w] : key;
    return key;
}
extern "C" __global__ void fa_top1_block_row(const float* __restrict__ in, unsigned long long* out, unsigned cols) {
    unsigned long long key = top_of(in + size_t(blockIdx.x) * cols, 0, cols);
    if (threadIdx.x == 0) out[blockIdx.x] = key;
}
extern "C" __global__ void fa_top1_split(const float* __restrict__ in, unsigned long long* out, unsigned cols) {
    unsigned part = cols / gridDim.x;
    unsigned long long key = top_of(in + size_t(blockIdx.y) * cols, blockIdx.x * part, (blockIdx.x + 1) * part);
    if (threadIdx.x == 0) atomicMax(&out[blockIdx.y], key);
}

// ---- sum of the loss by class, ten classes
extern "C" __global__ void fa_class_sums_shared(const int* __restrict__ label, const float* __restrict__ loss, float* out, unsigned n) {
    __shared__ float sums[10];
    if (threadIdx.x < 10) sums[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = thread_index(); i < n; i += thread_count()) atomicAdd(&sums[label[i]], loss[i]);
    __syncthreads();
    if (threadIdx.x < 10) atomicAdd(&out[threadIdx.x], sums[threadIdx.x]);
}
extern "C" __global__ void fa_class_sums_registers(const int4* __restrict__ label, const float4* __restrict__ loss, float* out,
                                                   unsigned n4) {
    __shared__ float sums[10];
    if (threadIdx.x < 10) sums[threadIdx.x] = 0;
    __syncthreads();
    float mine[10] = {};
    for (unsigned i = thread_index(); i < n4; i += thread_count()) {
        int4 l = label[i];
        float4 v = loss[i];
#pragma unroll
        for (int c = 0; c < 10; ++c) {
            if (l.x == c) mine[c] += v.x;
            if (l.y == c) mine[c] += v.y;
            if (l.z == c) mine[c] += v.z;
            if (l.w == c) mine[c] += v.w;
        }
    }
#pragma unroll
    for (int c = 0; c < 10; ++c) {
        float sum = warp_sum(mine[c]);
        if (threadIdx.x % 32 == 0) atomicAdd(&sums[c], sum);
    }
    __syncthreads();
    if (threadIdx.x < 10) atomicAdd(&out[threadIdx.x], sums[threadIdx.x]);
}

// ---- stream compaction, one ticket a warp
extern "C" __global__ void fa_compact_warp(const float* __restrict__ in, float* __restrict__ out, unsigned* count) {
    float v = in[thread_index()];
    unsigned lane = threadIdx.x % 32, vote = __ballot_sync(~0u, v < 0.5f), base = 0;
    if (lane == 0) base = atomicAdd(count, __popc(vote));
    base = __shfl_sync(~0u, base, 0);
    if (v < 0.5f) out[base + __popc(vote & ((1u << lane) - 1))] = v;
}
// one ticket for 4096 elements
extern "C" __global__ void fa_compact_block(const float* __restrict__ in, float* __restrict__ out, unsigned* count) {
    __shared__ unsigned start[8];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, mine = 0;
    const float* x = in + size_t(blockIdx.x) * 4096 + warp * 512 + lane;
    float v[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) v[k] = x[32 * k];
#pragma unroll
    for (int k = 0; k < 16; ++k) mine += __popc(__ballot_sync(~0u, v[k] < 0.5f));
    if (lane == 0) start[warp] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (int w = 0; w < 8; ++w) sum += start[w];
        unsigned at = atomicAdd(count, sum);
        for (int w = 0; w < 8; ++w) {
            unsigned n = start[w];
            start[w] = at;
            at += n;
        }
    }
    __syncthreads();
    unsigned base = start[warp];
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        unsigned vote = __ballot_sync(~0u, v[k] < 0.5f);
        if (v[k] < 0.5f) out[base + __popc(vote & ((1u << lane) - 1))] = v[k];
        base += __popc(vote);
    }
}

// ---- int4 to half, a scale for 128 weights
extern "C" __global__ void fa_dequant_int4(const unsigned* __restrict__ packed, const float* __restrict__ scale,
                                           __half* __restrict__ out, unsigned n) {
    unsigned i = thread_index();
    if (i >= n) return;
    unsigned w = packed[i];
    float s = scale[i / 16];
    for (int k = 0; k < 8; ++k) out[size_t(i) * 8 + k] = __float2half(float(int((w >> (4 * k)) & 15) - 8) * s);
}
extern "C" __global__ void fa_dequant_int4_wide(const unsigned* __restrict__ packed, const float* __restrict__ scale,
                                                uint4* __restrict__ out, unsigned n) {
    unsigned i = thread_index();
    if (i >= n) return;
    unsigned w = packed[i];
    float s = scale[i / 16];
    uint4 v;
    __half2* h = reinterpret_cast<__half2*>(&v);
#pragma unroll
    for (int k = 0; k < 4; ++k)
        h[k] = __floats2half2_rn(float(int((w >> (8 * k)) & 15) - 8) * s, float(int((w >> (8 * k + 4)) & 15) - 8) * s);
    out[i] = v;
}

// ---- dropout, Philox 4x32 with ten rounds; four neighbours share a counter
__device__ inline uint4 philox(unsigned counter, unsigned seed) {
    uint4 c = make_uint4(counter, 0x1234567u, 0x89abcdefu, 0x5bd1e995u);
    unsigned k0 = seed, k1 = seed ^ 0x3243f6a8u;
#pragma unroll
    for (int r = 0; r < 10; ++r) {
        unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
        unsigned h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        c = make_uint4(h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0);
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    return c;
}
constexpr unsigned keep_below = 3865470566u;  // 0.9 * 2^32
extern "C" __global__ void fa_dropout_philox_each(const __half* __restrict__ in, __half* __restrict__ out, unsigned n, unsigned seed) {
    for (unsigned i = thread_index(); i < n; i += thread_count()) {
        uint4 r = philox(i / 4, seed);
        unsigned k = i % 4, mine = k == 0 ? r.x : k == 1 ? r.y : k == 2 ? r.z : r.w;
        out[i] = mine < keep_below ? __float2half(__half2float(in[i]) * 1.1111111f) : __half(0.0f);
    }
}
extern "C" __global__ void fa_dropout_philox_shared(const uint4* __restrict__ in, uint4* __restrict__ out, unsigned n8, unsigned seed) {
    for (unsigned i = thread_index(); i < n8; i += thread_count()) {
        uint4 v = in[i];
        __half2* h = reinterpret_cast<__half2*>(&v);
#pragma unroll
        for (int part = 0; part < 2; ++part) {
            uint4 r = philox(2 * i + part, seed);
            float2 a = __half22float2(h[2 * part]), b = __half22float2(h[2 * part + 1]);
            h[2 * part] = __floats2half2_rn(r.x < keep_below ? a.x * 1.1111111f : 0.0f, r.y < keep_below ? a.y * 1.1111111f : 0.0f);
            h[2 * part + 1] = __floats2half2_rn(r.z < keep_below ? b.x * 1.1111111f : 0.0f, r.w < keep_below ? b.y * 1.1111111f : 0.0f);
        }
        out[i] = v;
    }
}

// ---- kernel density: each point against 256 centres
extern "C" __global__ void fa_kernel_density(const float* __restrict__ point, const float* __restrict__ centre, float* __restrict__ out,
                                             float width) {
    __shared__ float4 c[64];
    if (threadIdx.x < 64) c[threadIdx.x] = reinterpret_cast<const float4*>(centre)[threadIdx.x];
    __syncthreads();
    float x = point[thread_index()], s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    auto weight = [&](float y) {
        float d = x - y, e;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(d * d * width));
        return e;
    };
#pragma unroll 4
    for (int k = 0; k < 64; ++k) {
        float4 y = c[k];
        s0 += weight(y.x), s1 += weight(y.y), s2 += weight(y.z), s3 += weight(y.w);
    }
    out[thread_index()] = (s0 + s1) + (s2 + s3);
}

// ---- copy through shared memory by cp.async, four stages
extern "C" __global__ void fa_copy_cp_async(const uint4* __restrict__ in, uint4* __restrict__ out, unsigned tiles) {
    __shared__ uint4 stage[4][256];
    unsigned t = threadIdx.x;
    for (unsigned k = 0; k < 3; ++k) {
        unsigned tile = blockIdx.x + k * gridDim.x;
        if (tile < tiles) __pipeline_memcpy_async(&stage[k][t], &in[size_t(tile) * 256 + t], 16);
        __pipeline_commit();
    }
    unsigned k = 0;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++k) {
        unsigned next = tile + 3 * gridDim.x;
        if (next < tiles) __pipeline_memcpy_async(&stage[(k + 3) % 4][t], &in[size_t(next) * 256 + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(3);
        out[size_t(tile) * 256 + t] = stage[k % 4][t];
    }
}

// ---- int8 product by dp4a, tiles of 64 x 64, four by four a thread
extern "C" __global__ void __launch_bounds__(256) fa_gemm_dp4a(const int4* __restrict__ a, const int4* __restrict__ b, int* __restrict__ c,
                                                               int n, int words) {
    __shared__ __align__(16) int as[16][68], bs[16][68];
    int t = threadIdx.x, row = t / 4, part = t % 4, tx = t % 16, ty = t / 16;
    int m0 = blockIdx.y * 64, n0 = blockIdx.x * 64;
    int sum[4][4] = {};
    for (int k0 = 0; k0 < words; k0 += 16) {
        int4 x = a[(size_t(m0 + row) * words + k0) / 4 + part], y = b[(size_t(n0 + row) * words + k0) / 4 + part];
        __syncthreads();
        as[part * 4][row] = x.x, as[part * 4 + 1][row] = x.y, as[part * 4 + 2][row] = x.z, as[part * 4 + 3][row] = x.w;
        bs[part * 4][row] = y.x, bs[part * 4 + 1][row] = y.y, bs[part * 4 + 2][row] = y.z, bs[part * 4 + 3][row] = y.w;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            int4 u4 = *reinterpret_cast<const int4*>(&as[k][ty * 4]), v4 = *reinterpret_cast<const int4*>(&bs[k][tx * 4]);
            int u[4] = {u4.x, u4.y, u4.z, u4.w}, v[4] = {v4.x, v4.y, v4.z, v4.w};
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) sum[i][j] = __dp4a(u[i], v[j], sum[i][j]);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) c[size_t(m0 + ty * 4 + i) * n + n0 + tx * 4 + j] = sum[i][j];
}

// ---- the typical tiny launch
extern "C" __global__ void fa_bias_relu_tiny(const float* __restrict__ in, const float* __restrict__ bias, float* __restrict__ out,
                                             unsigned n) {
    unsigned i = thread_index();
    if (i < n) out[i] = fmaxf(in[i] + bias[i % 256] - 0.5f, 0.0f);
}

// ---- copy of an array of float3
extern "C" __global__ void fa_copy_float3(const float3* __restrict__ in, float3* __restrict__ out, unsigned n) {
    unsigned i = thread_index();
    if (i < n) out[i] = in[i];
}
extern "C" __global__ void fa_copy_float3_flat(const float4* __restrict__ in, float4* __restrict__ out, unsigned n4) {
    unsigned i = thread_index();
    if (i < n4) out[i] = in[i];
}

// The last million elements: what is compared, and what is cleared before a launch.
template <class T>
static Output tail(T* data, size_t n) {
    size_t m = std::min<size_t>(n, size_t(1) << 20);
    return Bench::view(data + n - m, m);
}

static __half* halves(Bench& bench, size_t n, uint32_t seed) {
    std::vector<float> f = Bench::random_floats(size_t(1) << 20, seed);
    std::vector<__half> h(f.size());
    for (size_t i = 0; i < f.size(); ++i) h[i] = __float2half(f[i]);
    return bench.tiled(h, n);
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        int rows = 131072, cols = 128;
        size_t n = size_t(rows) * cols;
        float *in = bench.floats(n, 1), *out = bench.allocate<float>(n);
        LAUNCH(bench, fa_softmax_row_thread, rows / 256, 256, 0, tail(out, n), in, out, rows, cols);
        LAUNCH(bench, fa_softmax_row_warp, rows / 8, 256, 0, tail(out, n), (float4*)in, (float4*)out, rows);
        bench.same("fa_softmax_row_thread", "fa_softmax_row_warp");
        CUDA_OK(cudaFree(in)); CUDA_OK(cudaFree(out));
    }
    {
        unsigned rows = 32768;
        size_t n = size_t(rows) * 1024;
        float *in = bench.floats(n, 2), *out = bench.allocate<float>(n);
        LAUNCH(bench, fa_layernorm_serial, rows, 512, 0, tail(out, n), (float2*)in, (float2*)out);
        LAUNCH(bench, fa_layernorm_warp, rows / 8, 256, 0, tail(out, n), (float4*)in, (float4*)out);
        bench.same("fa_layernorm_serial", "fa_layernorm_warp", 1e-3);
        CUDA_OK(cudaFree(in)); CUDA_OK(cudaFree(out));
    }
    {
        unsigned n = 32u << 20, blocks = bench.sms * 8;
        __half *in = halves(bench, n, 3), *out = bench.allocate<__half>(n);
        LAUNCH(bench, fa_gelu_half_powf, blocks, 256, 0, tail((unsigned short*)out, n), in, out, n);
        LAUNCH(bench, fa_gelu_half_wide, blocks, 256, 0, tail((unsigned short*)out, n), (uint4*)in, (uint4*)out, n / 8);
        bench.same("fa_gelu_half_powf", "fa_gelu_half_wide", 2e-3);
        CUDA_OK(cudaFree(in)); CUDA_OK(cudaFree(out));
    }
    {
        unsigned rows = 1u << 21, bags = 65536;
        float *table = bench.floats(size_t(rows) * 64, 4), *out = bench.allocate<float>(size_t(bags) * 64);
        uint32_t* index = bench.words(size_t(bags) * 32, 5);
        LAUNCH(bench, fa_embedding_bag, bags / 8, 256, 0, tail(out, size_t(bags) * 64), (float2*)table, index, (float2*)out, rows - 1);
        CUDA_OK(cudaFree(table)); CUDA_OK(cudaFree(out)); CUDA_OK(cudaFree(index));
    }
    {
        unsigned chunks = 131072;
        float *in = bench.floats(size_t(chunks) * 256, 6), *out = bench.allocate<float>(chunks);
        LAUNCH(bench, fa_reduce_modulo, chunks, 256, 0, Bench::view(out, chunks), in, out);
        LAUNCH(bench, fa_reduce_shuffle, chunks / 8, 256, 0, Bench::view(out, chunks), (float4*)in, out);
        bench.same("fa_reduce_modulo", "fa_reduce_shuffle");
        CUDA_OK(cudaFree(in)); CUDA_OK(cudaFree(out));
    }
    {
        unsigned blocks = 16384;
        size_t n = size_t(blocks) * 1024;
        float *in = bench.floats(n, 7), *out = bench.allocate<float>(n);
        LAUNCH(bench, fa_scan_tree, blocks, 512, 0, tail(out, n), in, out);
        LAUNCH(bench, fa_scan_shuffle, blocks, 256, 0, tail(out, n), (float4*)in, (float4*)out);
        bench.same("fa_scan_tree", "fa_scan_shuffle", 1e-3);
        CUDA_OK(cudaFree(in)); CUDA_OK(cudaFree(out));
    }
    {
        int rows = 4096, cols = 8192;
        float *a = bench.floats(size_t(rows) * cols, 8), *x = bench.floats(rows, 9), *y = bench.allocate<float>(cols);
        LAUNCH(bench, fa_gemv_column_thread, cols / 256, 256, 0, Bench::view(y, cols), a, x, y, rows, cols);
        LAUNCH(bench, fa_gemv_column_split, dim3(cols / 256, 32), 256, 0, Bench::view(y, cols), a, x, y, rows / 32, cols);
        bench.same("fa_gemv_column_thread", "fa_gemv_column_split", 1e-3);
        CUDA_OK(cudaFree(a)); CUDA_OK(cudaFree(x)); CUDA_OK(cudaFree(y));
    }
    {
        unsigned batch = 1u << 20;
        size_t n = size_t(batch) * 16;
        float *a = bench.floats(n, 10), *b = bench.floats(n, 11), *c = bench.allocate<float>(n);
        LAUNCH(bench, fa_batched4_block, batch, dim3(4, 4), 0, tail(c, n), a, b, c);
        LAUNCH(bench, fa_batched4_packed, n / 256, 256, 0, tail(c, n), a, b, c);
        bench.same("fa_batched4_block", "fa_batched4_packed");
        CUDA_OK(cudaFree(a)); CUDA_OK(cudaFree(b)); CUDA_OK(cudaFree(c));
    }
    {
        int n = 2048;
        size_t nn = size_t(n) * n;
        __half *a = halves(bench, nn, 12), *b = halves(bench, nn, 13);
        float* c = bench.allocate<float>(nn);
        LAUNCH(bench, fa_wmma_direct, dim3(n / 64, n / 64), 512, 0, tail(c, nn), a, b, c, n);
        CUDA_OK(cudaFree(a)); CUDA_OK(cudaFree(b)); CUDA_OK(cudaFree(c));
    }
    {
        int n = 2048;
        std::vector<float> key = Bench::random_floats(size_t(n) * 64, 14), turned(key.size());
        for (int j = 0; j < n; ++j)
            for (int d = 0; d < 64; ++d) turned[size_t(d) * n + j] = key[size_t(j) * 64 + d];
        float *q = bench.floats(size_t(n) * 64, 15), *k = bench.upload(key), *kt = bench.upload(turned);
        size_t nn = size_t(n) * n;
        float* s = bench.allocate<float>(nn);
        LAUNCH(bench, fa_scores_naive, dim3(n / 16, n / 16), dim3(16, 16), 0, tail(s, nn), q, k, s, n);
        LAUNCH(bench, fa_scores_transposed, dim3(n / 32, n / 8), dim3(32, 8), 0, tail(s, nn), q, kt, s, n);
        bench.same("fa_scores_naive", "fa_scores_transposed");
        CUDA_OK(cudaFree(q)); CUDA_OK(cudaFree(k)); CUDA_OK(cudaFree(kt)); CUDA_OK(cudaFree(s));
    }
    {
        unsigned rows = 96, cols = 1u << 18;
        float* in = bench.floats(size_t(rows) * cols, 16);
        auto* out = bench.allocate<unsigned long long>(rows);
        LAUNCH(bench, fa_top1_block_row, rows, 256, 0, Bench::view(out, rows), in, out, cols);
        LAUNCH(bench, fa_top1_split, dim3(32, rows), 256, 0, Bench::view(out, rows), in, out, cols);
        bench.same("fa_top1_block_row", "fa_top1_split", 0);
        CUDA_OK(cudaFree(in)); CUDA_OK(cudaFree(out));
    }
    {
        unsigned n = 8u << 20, blocks = bench.sms * 8;
        std::vector<uint32_t> words = Bench::random_words(size_t(1) << 20, 17);
        std::vector<int> labels(words.size());
        for (size_t i = 0; i < words.size(); ++i) labels[i] = int((words[i] >> 8) % 10);
        int* label = bench.tiled(labels, n);
        float *loss = bench.floats(n, 18), *out = bench.allocate<float>(10);
        LAUNCH(bench, fa_class_sums_shared, blocks, 256, 0, Bench::view(out, 10), label, loss, out, n);
        LAUNCH(bench, fa_class_sums_registers, blocks, 256, 0, Bench::view(out, 10), (int4*)label, (float4*)loss, out, n / 4);
        bench.same("fa_class_sums_shared", "fa_class_sums_registers", 1e-3);
        CUDA_OK(cudaFree(label)); CUDA_OK(cudaFree(loss)); CUDA_OK(cudaFree(out));
    }
    {
        unsigned n = 16u << 20;
        float *in = bench.floats(n, 19), *out = bench.allocate<float>(n);
        unsigned* count = bench.allocate<unsigned>(1);  // cleared before each launch: it is the output that is compared
        LAUNCH(bench, fa_compact_warp, n / 256, 256, 0, Bench::view(count, 1), in, out, count);
        LAUNCH(bench, fa_compact_block, n / 4096, 256, 0, Bench::view(count, 1), in, out, count);
        bench.same("fa_compact_warp", "fa_compact_block", 0);
        CUDA_OK(cudaFree(in)); CUDA_OK(cudaFree(out)); CUDA_OK(cudaFree(count));
    }
    {
        unsigned n = 8u << 20;
        uint32_t* packed = bench.words(n, 20);
        float* scale = bench.floats(n / 16, 21);
        __half* out = bench.allocate<__half>(size_t(n) * 8);
        LAUNCH(bench, fa_dequant_int4, n / 256, 256, 0, tail((unsigned short*)out, size_t(n) * 8), packed, scale, out, n);
        LAUNCH(bench, fa_dequant_int4_wide, n / 256, 256, 0, tail((unsigned short*)out, size_t(n) * 8), packed, scale, (uint4*)out, n);
        bench.same("fa_dequant_int4", "fa_dequant_int4_wide", 1e-3);
        CUDA_OK(cudaFree(packed)); CUDA_OK(cudaFree(scale)); CUDA_OK(cudaFree(out));
    }
    {
        unsigned n = 32u << 20, blocks = bench.sms * 8, seed = 42;
        __half *in = halves(bench, n, 22), *out = bench.allocate<__half>(n);
        LAUNCH(bench, fa_dropout_philox_each, blocks, 256, 0, tail((unsigned short*)out, n), in, out, n, seed);
        LAUNCH(bench, fa_dropout_philox_shared, blocks, 256, 0, tail((unsigned short*)out, n), (uint4*)in, (uint4*)out, n / 8, seed);
        bench.same("fa_dropout_philox_each", "fa_dropout_philox_shared", 1e-3);
        CUDA_OK(cudaFree(in)); CUDA_OK(cudaFree(out));
    }
    {
        unsigned blocks = bench.sms * 32;
        size_t n = size_t(blocks) * 256;
        float *point = bench.floats(n, 23), *centre = bench.floats(256, 24), *out = bench.allocate<float>(n);
        LAUNCH(bench, fa_kernel_density, blocks, 256, 0, tail(out, n), point, centre, out, -50.0f);
        CUDA_OK(cudaFree(point)); CUDA_OK(cudaFree(centre)); CUDA_OK(cudaFree(out));
    }
    {
        size_t n = size_t(8) << 20;  // of 16 bytes
        uint32_t *in = bench.words(4 * n, 25), *out = bench.allocate<uint32_t>(4 * n);
        LAUNCH(bench, fa_copy_cp_async, bench.sms * 8, 256, 0, tail(out, 4 * n), (uint4*)in, (uint4*)out, n / 256);
        CUDA_OK(cudaFree(in)); CUDA_OK(cudaFree(out));
    }
    {
        int m = 4096, n = 2048, words = 512;
        uint32_t *a = bench.words(size_t(m) * words, 26), *b = bench.words(size_t(n) * words, 27);
        int* c = bench.allocate<int>(size_t(m) * n);
        LAUNCH(bench, fa_gemm_dp4a, dim3(n / 64, m / 64), 256, 0, tail(c, size_t(m) * n), (int4*)a, (int4*)b, c, n, words);
        CUDA_OK(cudaFree(a)); CUDA_OK(cudaFree(b)); CUDA_OK(cudaFree(c));
    }
    {
        unsigned n = 4096;
        float *in = bench.floats(n, 28), *bias = bench.floats(256, 29), *out = bench.allocate<float>(n);
        LAUNCH(bench, fa_bias_relu_tiny, n / 256, 256, 0, Bench::view(out, n), in, bias, out, n);
        CUDA_OK(cudaFree(in)); CUDA_OK(cudaFree(bias)); CUDA_OK(cudaFree(out));
    }
    {
        unsigned n = 16u << 20;
        float *in = bench.floats(size_t(n) * 3, 30), *out = bench.allocate<float>(size_t(n) * 3);
        LAUNCH(bench, fa_copy_float3, n / 256, 256, 0, tail(out, size_t(n) * 3), (float3*)in, (float3*)out, n);
        LAUNCH(bench, fa_copy_float3_flat, n / 4 * 3 / 256, 256, 0, tail(out, size_t(n) * 3), (float4*)in, (float4*)out, n / 4 * 3);
        bench.same("fa_copy_float3", "fa_copy_float3_flat", 0);
        CUDA_OK(cudaFree(in)); CUDA_OK(cudaFree(out));
    }
    return bench.finish();
}
