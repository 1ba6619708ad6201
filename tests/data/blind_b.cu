// Field test B: scientific, sparse, graph, image and cryptographic kernels, with first versions and repaired twins.
#include "../../kernels/limiters/harness.cuh"

#define K extern "C" __global__ void

// ---- SpMV, CSR ----------------------------------------------------------------------------------------------------
K fb_spmv_row_thread(const int* __restrict__ begin, const int* __restrict__ col, const float* __restrict__ val,
                     const float* __restrict__ x, float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int k = begin[row]; k < begin[row + 1]; ++k) sum += val[k] * x[col[k]];
    y[row] = sum;
}

K fb_spmv_row_warp(const int* __restrict__ begin, const int* __restrict__ col, const float* __restrict__ val,
                   const float* __restrict__ x, float* y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    int end = begin[row + 1];
    for (int k = begin[row] + lane; k < end; k += 32) sum += val[k] * x[col[k]];
    for (int s = 16; s; s /= 2) sum += __shfl_down_sync(~0u, sum, s);
    if (lane == 0) y[row] = sum;
}

// ---- n-body -------------------------------------------------------------------------------------------------------
__device__ __forceinline__ void pull(float4 a, float4 b, float3& f) {
    float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    float s = b.w * inv * inv * inv;
    f.x += dx * s;
    f.y += dy * s;
    f.z += dz * s;
}

K fb_nbody_global(const float4* __restrict__ p, float* acc, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = p[i];
    float3 f = make_float3(0, 0, 0);
    for (int j = 0; j < n; ++j) pull(me, p[j], f);
    acc[3 * i] = f.x, acc[3 * i + 1] = f.y, acc[3 * i + 2] = f.z;
}

K fb_nbody_split(const float4* __restrict__ p, float* acc, int n) {
    __shared__ float4 tile[128];
    int i = blockIdx.x * 128 + threadIdx.x, share = n / gridDim.y;
    float4 me = p[i];
    float3 f = make_float3(0, 0, 0);
    for (int j = blockIdx.y * share; j < (blockIdx.y + 1) * share; j += 128) {
        tile[threadIdx.x] = p[j + threadIdx.x];
        __syncthreads();
#pragma unroll 16
        for (int t = 0; t < 128; ++t) pull(me, tile[t], f);
        __syncthreads();
    }
    atomicAdd(&acc[3 * i], f.x), atomicAdd(&acc[3 * i + 1], f.y), atomicAdd(&acc[3 * i + 2], f.z);
}

// ---- 7-point stencil ----------------------------------------------------------------------------------------------
__device__ __forceinline__ void seven(const float* in, float* out, int x, int y, int z, int n) {
    if (x == 0 || y == 0 || z == 0 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
    size_t row = n, plane = size_t(n) * n, i = z * plane + y * row + x;
    out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - row] + in[i + row] + in[i - plane] + in[i + plane]);
}

// The loop order of a Fortran code kept by mistake: neighbouring lanes are a plane apart.
K fb_stencil_wrong_axis(const float* __restrict__ in, float* out, int n) {
    seven(in, out, blockIdx.x * 8 + threadIdx.y, blockIdx.y, blockIdx.z * 32 + threadIdx.x, n);
}

K fb_stencil_plain(const float* __restrict__ in, float* out, int n) {
    seven(in, out, blockIdx.x * 32 + threadIdx.x, blockIdx.y * 8 + threadIdx.y, blockIdx.z, n);
}

K fb_stencil_f64_march(const double* __restrict__ in, double* out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z0 = blockIdx.z * 32;
    if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
    size_t row = n, plane = size_t(n) * n;
    int first = max(z0, 1), last = min(z0 + 32, n - 1);
    size_t i = first * plane + y * row + x;
    double below = in[i - plane], here = in[i];
#pragma unroll 4
    for (int z = first; z < last; ++z, i += plane) {
        double above = in[i + plane];
        out[i] = 0.4 * here + 0.1 * (in[i - 1] + in[i + 1] + in[i - row] + in[i + row] + below + above);
        below = here, here = above;
    }
}

// ---- 5x5 convolution ----------------------------------------------------------------------------------------------
K fb_conv5_weights_global(const float* in, const float* w, float* out, int width, int height) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < 2 || y < 2 || x >= width - 2 || y >= height - 2) return;
    float sum = 0;
    for (int ky = 0; ky < 5; ++ky)
        for (int kx = 0; kx < 5; ++kx) sum += w[ky * 5 + kx] * in[size_t(y + ky - 2) * width + x + kx - 2];
    out[size_t(y) * width + x] = sum;
}

__constant__ float conv_weights[25];

K fb_conv5_rows_in_registers(const float* __restrict__ in, float* out, int width, int height) {
    int x = blockIdx.x * 128 + threadIdx.x, y0 = 2 + blockIdx.y * 8;
    if (x < 2 || x >= width - 2) return;
    float sum[8] = {};
#pragma unroll
    for (int r = 0; r < 12; ++r) {
        const float* line = in + size_t(y0 + r - 2) * width + x - 2;
#pragma unroll
        for (int kx = 0; kx < 5; ++kx) {
            float v = line[kx];
#pragma unroll
            for (int o = 0; o < 8; ++o)
                if (r - o >= 0 && r - o < 5) sum[o] += conv_weights[(r - o) * 5 + kx] * v;
        }
    }
#pragma unroll
    for (int o = 0; o < 8; ++o) out[size_t(y0 + o) * width + x] = sum[o];
}

// ---- Mandelbrot ---------------------------------------------------------------------------------------------------
__device__ __forceinline__ int escape(int px, int py, int width, int height, int most) {
    float cx = __fmaf_rn(px, 2.6f / width, -2.0f), cy = __fmul_rn(py, 1.25f / height), x = 0, y = 0;
    int k = 0;
    for (; k < most; ++k) {
        float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4.0f) break;
        y = __fmaf_rn(__fadd_rn(x, x), y, cy);
        x = __fadd_rn(__fsub_rn(xx, yy), cx);
    }
    return k;
}

K fb_mandelbrot_bands(int* out, int width, int height, int most) {
    int share = height / gridDim.x;
    for (int r = 0; r < share; ++r)
        for (int x = threadIdx.x; x < width; x += blockDim.x) {
            int y = blockIdx.x * share + r;
            out[y * width + x] = escape(x, y, width, height, most);
        }
}

K fb_mandelbrot_queue(int* out, int width, int height, int most, unsigned* queue) {
    __shared__ unsigned tile;
    unsigned tiles = unsigned(width) * height / 256;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) tile = atomicAdd(queue, 1u);
        __syncthreads();
        if (tile >= tiles) return;
        int i = tile * 256 + threadIdx.x;
        out[i] = escape(i % width, i / width, width, height, most);
    }
}

// ---- integer and FP64 arithmetic ----------------------------------------------------------------------------------
__device__ __forceinline__ uint32_t xorshift(uint32_t& s) {
    s ^= s << 13, s ^= s >> 17, s ^= s << 5;
    return s;
}

K fb_monte_carlo_pi(unsigned* hits, int samples) {
    uint32_t a = (thread_index() + 1) * 2654435761u | 1u, count = 0;
    for (int k = 0; k < samples; ++k) {
        float x = xorshift(a) * 2.3283064e-10f, y = xorshift(a) * 2.3283064e-10f;
        if (x * x + y * y < 1.0f) ++count;
    }
    hits[thread_index()] = count;
}

__device__ __forceinline__ uint32_t rotr(uint32_t x, int r) { return __funnelshift_r(x, x, r); }

K fb_sha_rounds(const uint32_t* __restrict__ in, uint32_t* out, int blocks) {
    uint32_t w[16], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned n = thread_count(), me = thread_index();
    for (int b = 0; b < blocks; ++b) {
#pragma unroll
        for (int i = 0; i < 16; ++i) w[i] = in[i * n + me] + b;
        uint32_t s[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) s[i] = h[i];
#pragma unroll 1
        for (int r = 0; r < 64; r += 16) {
#pragma unroll
            for (int i = 0; i < 16; ++i) {
                uint32_t t = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
                             0x428a2f98u * (i + 1) + w[i];
                uint32_t u = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
                s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + t, s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = t + u;
                uint32_t p = w[(i + 1) & 15], q = w[(i + 14) & 15];
                w[i] += (rotr(p, 7) ^ rotr(p, 18) ^ (p >> 3)) + w[(i + 9) & 15] + (rotr(q, 17) ^ rotr(q, 19) ^ (q >> 10));
            }
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) h[i] += s[i];
    }
    out[me] = h[0] ^ h[1] ^ h[2] ^ h[3] ^ h[4] ^ h[5] ^ h[6] ^ h[7];
}

__device__ __forceinline__ uint64_t montgomery(uint64_t a, uint64_t b, uint64_t p, uint64_t inverse) {
    uint64_t lo = a * b, hi = __umul64hi(a, b), m = lo * inverse, t = __umul64hi(m, p);
    return hi >= t ? hi - t : hi - t + p;
}

K fb_powmod64(const uint32_t* __restrict__ in, unsigned long long* out, uint64_t p, uint64_t inverse, int squarings) {
    uint64_t x = in[thread_index()], y = x ^ 0x5555;
    for (int k = 0; k < squarings; ++k) {
        x = montgomery(x, x, p, inverse);
        y = montgomery(y, x, p, inverse);
    }
    out[thread_index()] = x ^ y;
}

__constant__ double horner_coefficients[256];

K fb_horner_f64(const double* __restrict__ x, double* y) {
    double v = x[thread_index()], s = 0;
#pragma unroll 64
    for (int k = 0; k < 256; ++k) s = s * v + horner_coefficients[k];
    y[thread_index()] = s;
}

// A damped step in "float", with literals that forget the f.
K fb_damping_promoted(const float* __restrict__ in, float* out, int steps) {
    float v = in[thread_index()], f = v * 0.1f;
    for (int k = 0; k < steps; ++k) v = v * 0.995 + 0.25 * f;
    out[thread_index()] = v;
}

K fb_damping_float(const float* __restrict__ in, float* out, int steps) {
    float v = in[thread_index()], f = v * 0.1f;
    for (int k = 0; k < steps; ++k) v = v * 0.995f + 0.25f * f;
    out[thread_index()] = v;
}

// ---- sorting and searching ----------------------------------------------------------------------------------------
K fb_bitonic_shared(const uint32_t* __restrict__ in, uint32_t* out) {
    __shared__ uint32_t key[1024];
    size_t base = size_t(blockIdx.x) * 1024;
    unsigned t = threadIdx.x;
    key[t] = in[base + t], key[t + 512] = in[base + t + 512];
    for (unsigned k = 2; k <= 1024; k *= 2)
        for (unsigned j = k / 2; j; j /= 2) {
            __syncthreads();
            unsigned i = 2 * t - (t & (j - 1));
            uint32_t a = key[i], b = key[i + j];
            if ((a > b) == ((i & k) == 0)) key[i] = b, key[i + j] = a;
        }
    __syncthreads();
    out[base + t] = key[t], out[base + t + 512] = key[t + 512];
}

__device__ __forceinline__ unsigned lower_bound(const uint32_t* __restrict__ a, unsigned n, uint32_t q) {
    unsigned lo = 0, hi = n;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (a[mid] < q) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

K fb_search_random(const uint32_t* __restrict__ a, unsigned n, const uint32_t* __restrict__ q, unsigned* out) {
    unsigned i = thread_index();
    out[i] = lower_bound(a, n, q[i]);
}

K fb_search_sorted(const uint32_t* __restrict__ a, unsigned n, const uint2* __restrict__ q, unsigned* out) {
    uint2 one = q[thread_index()];
    out[one.y] = lower_bound(a, n, one.x);
}

K fb_hash_insert(const uint32_t* __restrict__ keys, uint32_t* table, unsigned mask, unsigned char* slow) {
    unsigned i = thread_index();
    uint32_t key = keys[i] + (i >> 20) * 0x9E3779B9u;
    if (key == 0) key = 1;
    uint32_t h = key * 2654435761u;
    h ^= h >> 15;
    unsigned probes = 0;
    for (;; ++h, ++probes) {
        uint32_t old = atomicCAS(&table[h & mask], 0u, key);
        if (old == 0 || old == key) break;
    }
    if (probes > 3) slow[i & 1023] = 1;
}

// ---- particles ----------------------------------------------------------------------------------------------------
K fb_deposit_1d_global(const float* __restrict__ x, float* rho, int cells) {
    float pos = x[thread_index()] * cells;
    int c = static_cast<int>(pos);
    float w = pos - c;
    atomicAdd(&rho[c], 1.0f - w);
    atomicAdd(&rho[c + 1], w);
}

K fb_deposit_1d_private(const float* __restrict__ x, float* rho, int cells, int each) {
    __shared__ unsigned mine[8][80];  // one fixed-point copy a warp
    unsigned* my = mine[threadIdx.x / 32];
    for (int c = threadIdx.x; c < 8 * 80; c += blockDim.x) (&mine[0][0])[c] = 0;
    __syncthreads();
    for (int k = 0; k < each; ++k) {
        float pos = x[size_t(k) * thread_count() + thread_index()] * cells;
        int c = static_cast<int>(pos);
        float w = pos - c;
        atomicAdd(&my[c], __float2uint_rn((1.0f - w) * 65536.0f));
        atomicAdd(&my[c + 1], __float2uint_rn(w * 65536.0f));
    }
    __syncthreads();
    for (int c = threadIdx.x; c <= cells; c += blockDim.x) {
        float sum = 0;
        for (int w = 0; w < 8; ++w) sum += mine[w][c];
        atomicAdd(&rho[c], sum / 65536.0f);
    }
}

K fb_deposit_2d_random(const float* __restrict__ xs, const float* __restrict__ ys, float* rho, int cells) {
    float px = xs[thread_index()] * (cells - 1), py = ys[thread_index()] * (cells - 1);
    int cx = min(static_cast<int>(px), cells - 2), cy = min(static_cast<int>(py), cells - 2);
    float wx = px - cx, wy = py - cy;
    float* at = rho + cy * cells + cx;
    atomicAdd(at, (1 - wx) * (1 - wy));
    atomicAdd(at + 1, wx * (1 - wy));
    atomicAdd(at + cells, (1 - wx) * wy);
    atomicAdd(at + cells + 1, wx * wy);
}

// ---- LU of many 8x8 matrices, with pivoting -----------------------------------------------------------------------
K fb_lu8_local_array(const float* __restrict__ in, float* out, unsigned m) {
    float a[64];
    unsigned me = thread_index();
#pragma unroll 1
    for (int e = 0; e < 64; ++e) a[e] = in[size_t(e) * m + me];
#pragma unroll 1
    for (int k = 0; k < 8; ++k) {
        int p = k;
        for (int i = k + 1; i < 8; ++i)
            if (fabsf(a[i * 8 + k]) > fabsf(a[p * 8 + k])) p = i;
#pragma unroll 1
        for (int j = 0; j < 8; ++j) {
            float t = a[k * 8 + j];
            a[k * 8 + j] = a[p * 8 + j], a[p * 8 + j] = t;
        }
        float r = __frcp_rn(a[k * 8 + k]);
#pragma unroll 1
        for (int i = k + 1; i < 8; ++i) {
            float f = __fmul_rn(a[i * 8 + k], r);
            a[i * 8 + k] = f;
#pragma unroll 1
            for (int j = k + 1; j < 8; ++j) a[i * 8 + j] = fmaf(-f, a[k * 8 + j], a[i * 8 + j]);
        }
    }
#pragma unroll 1
    for (int e = 0; e < 64; ++e) out[size_t(e) * m + me] = a[e];
}

K fb_lu8_registers(const float* __restrict__ in, float* out, unsigned m) {
    float a[8][8];
    unsigned me = thread_index();
#pragma unroll
    for (int e = 0; e < 64; ++e) a[e / 8][e % 8] = in[size_t(e) * m + me];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        int p = k;
        float best = fabsf(a[k][k]);
#pragma unroll
        for (int i = k + 1; i < 8; ++i)
            if (fabsf(a[i][k]) > best) p = i, best = fabsf(a[i][k]);
#pragma unroll
        for (int i = k + 1; i < 8; ++i) {
            bool swap = p == i;
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                float t = a[k][j], u = a[i][j];
                a[k][j] = swap ? u : t, a[i][j] = swap ? t : u;
            }
        }
        float r = __frcp_rn(a[k][k]);
#pragma unroll
        for (int i = k + 1; i < 8; ++i) {
            float f = a[i][k] = __fmul_rn(a[i][k], r);
#pragma unroll
            for (int j = k + 1; j < 8; ++j) a[i][j] = fmaf(-f, a[k][j], a[i][j]);
        }
    }
#pragma unroll
    for (int e = 0; e < 64; ++e) out[size_t(e) * m + me] = a[e / 8][e % 8];
}

// ---- chained scan: each block waits for the one before. Tickets give the order, so a predecessor always runs already.
K fb_chained_scan(const uint32_t* __restrict__ in, uint32_t* out, unsigned* ticket, volatile unsigned* flag,
                  volatile unsigned* total) {
    __shared__ unsigned id, before, warp_sum[8];
    if (threadIdx.x == 0) id = atomicAdd(ticket, 1u);
    __syncthreads();
    unsigned mine = id;
    size_t at = size_t(mine) * 2048 + threadIdx.x * 8;
    uint32_t v[8], sum = 0;
    for (int k = 0; k < 8; ++k) v[k] = sum += in[at + k] & 15;
    uint32_t scan = sum;
    for (int s = 1; s < 32; s *= 2) {
        uint32_t t = __shfl_up_sync(~0u, scan, s);
        if (threadIdx.x % 32 >= s) scan += t;
    }
    if (threadIdx.x % 32 == 31) warp_sum[threadIdx.x / 32] = scan;
    __syncthreads();
    uint32_t offset = scan - sum, all = 0;
    for (unsigned w = 0; w < 8; ++w) {
        if (w < threadIdx.x / 32) offset += warp_sum[w];
        all += warp_sum[w];
    }
    if (threadIdx.x == 0) {
        unsigned prefix = 0;
        if (mine > 0) {
            while (flag[mine - 1] == 0) {}
            __threadfence();
            prefix = total[mine - 1];
        }
        total[mine] = prefix + all;
        __threadfence();
        flag[mine] = 1;
        before = prefix;
    }
    __syncthreads();
    for (int k = 0; k < 8; ++k) out[at + k] = before + offset + v[k];
}

// ---- Thomas solver, one system a thread ---------------------------------------------------------------------------
__device__ __forceinline__ void thomas(const float* kappa, const float* d, float* cp, float* x, float* flux, size_t first,
                                       size_t step, int n, unsigned me) {
    float c = 0, y = 0;
    size_t i = first;
    for (int k = 0; k < n; ++k, i += step) {
        float q = kappa[i], m = __frcp_rn(1.0f + 2.0f * q + q * c);
        c = -q * m;
        y = (d[i] + q * y) * m;
        cp[i] = c, x[i] = y;
    }
    float last = y, v = 0;
    for (int k = 0; k < n; ++k) {
        i -= step;
        v = x[i] - cp[i] * v;
        x[i] = v;
    }
    flux[me] = v + last;
}

K fb_thomas_row_major(const float* __restrict__ kappa, const float* __restrict__ d, float* __restrict__ cp,
                      float* __restrict__ x, float* __restrict__ flux, int n) {
    thomas(kappa, d, cp, x, flux, size_t(thread_index()) * n, 1, n, thread_index());
}

K fb_thomas_interleaved(const float* __restrict__ kappa, const float* __restrict__ d, float* __restrict__ cp,
                        float* __restrict__ x, float* __restrict__ flux, int n) {
    thomas(kappa, d, cp, x, flux, thread_index(), thread_count(), n, thread_index());
}

// ---- rays: first sphere hit ends the loop -------------------------------------------------------------------------
K fb_ray_any_hit(const float* __restrict__ u, const float4* __restrict__ spheres, int* out) {
    __shared__ float4 s[512];
    for (int k = threadIdx.x; k < 512; k += blockDim.x) s[k] = spheres[k];
    __syncthreads();
    unsigned n = thread_count(), me = thread_index();
    float ox = u[me], oy = u[n + me], oz = u[2 * n + me];
    float dx = u[3 * n + me] - 0.5f, dy = u[4 * n + me] - 0.5f, dz = u[5 * n + me] - 0.5f;
    float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-9f);
    dx *= r, dy *= r, dz *= r;
    int hit = -1;
#pragma unroll 1
    for (int k = 0; k < 512; ++k) {
        float4 c = s[k];
        float cx = c.x - ox, cy = c.y - oy, cz = c.z - oz;
        float b = cx * dx + cy * dy + cz * dz;
        float e = cx * cx + cy * cy + cz * cz - c.w;
        if (b > 0 && b * b > e) {
            hit = k;
            break;
        }
    }
    out[me] = hit;
}

// ---- byte tensor permute (0,2,1,3) --------------------------------------------------------------------------------
K fb_permute_divide(const unsigned char* __restrict__ in, unsigned char* out, unsigned B, unsigned C, unsigned E) {
    unsigned i = thread_index();
    unsigned t = i / E, e = i % E, b = t % B;
    t /= B;
    unsigned c = t % C, a = t / C;
    out[i] = in[((a * B + b) * C + c) * E + e];
}

struct Divisor { unsigned d, mul, shift; };
__device__ __forceinline__ unsigned over(unsigned n, Divisor d) { return (__umulhi(n, d.mul) + n) >> d.shift; }

K fb_permute_magic(const unsigned char* __restrict__ in, unsigned char* out, Divisor B, Divisor C, Divisor E) {
    unsigned i = thread_index();
    unsigned t = over(i, E), e = i - t * E.d;
    unsigned t2 = over(t, B), b = t - t2 * B.d;
    unsigned a = over(t2, C), c = t2 - a * C.d;
    out[i] = in[((a * B.d + b) * C.d + c) * E.d + e];
}

// ---- gather -------------------------------------------------------------------------------------------------------
K fb_gather_random(const float* __restrict__ table, const uint32_t* __restrict__ index, unsigned mask, float* out) {
    unsigned i = thread_index();
    out[i] = table[(index[i] + (i >> 20) * 0x9E3779B9u) & mask];
}

K fb_gather_local(const float* __restrict__ table, const uint32_t* __restrict__ index, unsigned mask, float* out) {
    unsigned i = thread_index();
    out[i] = table[(i + (index[i] & 31)) & mask];
}

// ---- texture ------------------------------------------------------------------------------------------------------
K fb_texture_rotate(cudaTextureObject_t image, float* out, int width, float c, float s) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        float fx = x * 0.5f + 0.25f * (k & 1), fy = y * 0.5f + 0.25f * (k >> 1);
        sum += tex2D<float>(image, c * fx - s * fy + 600.0f, s * fx + c * fy + 0.5f);
    }
    out[size_t(y) * width + x] = 0.25f * sum;
}

K fb_texture_random(cudaTextureObject_t image, const uint32_t* __restrict__ where, float* out) {
    uint32_t w = where[thread_index()], v = w * 2654435761u + thread_index();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k, v = v * 1664525u + 1013904223u)
        sum += tex2D<float>(image, (v >> 21) + 0.3f, ((v >> 10) & 2047) + 0.6f);
    out[thread_index()] = sum;
}

// ---- box blur of bytes, 17 wide -----------------------------------------------------------------------------------
K fb_blur_bytes(const unsigned char* __restrict__ in, unsigned char* out, int width) {
    int x = blockIdx.x * 256 + threadIdx.x;
    size_t row = size_t(blockIdx.y) * width;
    if (x < 16 || x >= width - 16) return;
    unsigned sum = 0;
#pragma unroll
    for (int k = -8; k <= 8; ++k) sum += in[row + x + k];
    out[row + x] = sum / 17;
}

K fb_blur_sixteen(const uint4* __restrict__ in, uint4* out, int width16) {
    int x = blockIdx.x * 128 + threadIdx.x;
    size_t row = size_t(blockIdx.y) * width16;
    if (x < 1 || x >= width16 - 1) return;
    uint4 q[3] = {in[row + x - 1], in[row + x], in[row + x + 1]};
    unsigned w[12] = {q[0].x, q[0].y, q[0].z, q[0].w, q[1].x, q[1].y, q[1].z, q[1].w, q[2].x, q[2].y, q[2].z, q[2].w};
    auto byte = [&](int i) { return (w[i / 4] >> (8 * (i % 4))) & 255u; };  // byte 16 is the first output
    unsigned sum = 0, r[4] = {};
#pragma unroll
    for (int i = 8; i < 25; ++i) sum += byte(i);
#pragma unroll
    for (int o = 0; o < 16; ++o) {
        r[o / 4] |= (sum / 17) << (8 * (o % 4));
        if (o < 15) sum += byte(o + 25) - byte(o + 8);
    }
    out[row + x] = make_uint4(r[0], r[1], r[2], r[3]);
}

// ---- AES-like table rounds ----------------------------------------------------------------------------------------
template <class Table>
__device__ __forceinline__ uint4 ten_rounds(uint4 s, Table table) {
#pragma unroll 1
    for (int r = 0; r < 10; ++r) {
        uint4 t;
        t.x = table(0, s.x & 255) ^ table(1, (s.y >> 8) & 255) ^ table(2, (s.z >> 16) & 255) ^ table(3, s.w >> 24);
        t.y = table(0, s.y & 255) ^ table(1, (s.z >> 8) & 255) ^ table(2, (s.w >> 16) & 255) ^ table(3, s.x >> 24);
        t.z = table(0, s.z & 255) ^ table(1, (s.w >> 8) & 255) ^ table(2, (s.x >> 16) & 255) ^ table(3, s.y >> 24);
        t.w = table(0, s.w & 255) ^ table(1, (s.x >> 8) & 255) ^ table(2, (s.y >> 16) & 255) ^ table(3, s.z >> 24);
        s = make_uint4(t.x + r, t.y, t.z, t.w);
    }
    return s;
}

__constant__ uint32_t aes_constant[1024];

K fb_aes_constant(const uint4* __restrict__ in, uint4* out) {
    out[thread_index()] = ten_rounds(in[thread_index()], [](int t, unsigned b) { return aes_constant[t * 256 + b]; });
}

K fb_aes_shared(const uint4* __restrict__ in, uint4* out, const uint32_t* __restrict__ tables) {
    __shared__ uint32_t t[1024];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) t[k] = tables[k];
    __syncthreads();
    const uint32_t* p = t;
    out[thread_index()] = ten_rounds(in[thread_index()], [p](int which, unsigned b) { return p[which * 256 + b]; });
}

// -------------------------------------------------------------------------------------------------------------------
static Divisor magic(unsigned d) {
    unsigned s = 0;
    while ((1u << s) < d) ++s;
    return Divisor{d, static_cast<unsigned>(((uint64_t(1) << 32) * ((uint64_t(1) << s) - d)) / d + 1), s};
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        const int rows = 1 << 19;
        std::vector<uint32_t> rnd = Bench::random_words(rows, 3);
        std::vector<int> begin(rows + 1, 0);
        for (int r = 0; r < rows; ++r) begin[r + 1] = begin[r] + 32 + static_cast<int>(rnd[r] % 193);
        std::vector<int> col(begin[rows]);
        for (int r = 0; r < rows; ++r)
            for (int k = begin[r], c = r - 192; k < begin[r + 1]; ++k, c += 3) col[k] = std::min(std::max(c, 0), rows - 1);
        int *b = bench.upload(begin), *c = bench.upload(col);
        float *v = bench.floats(col.size()), *x = bench.floats(rows, 2), *y = bench.allocate<float>(rows);
        LAUNCH(bench, fb_spmv_row_thread, rows / 256, 256, 0, Bench::view(y, rows), b, c, v, x, y, rows);
        LAUNCH(bench, fb_spmv_row_warp, rows / 8, 256, 0, Bench::view(y, rows), b, c, v, x, y, rows);
        bench.same("fb_spmv_row_thread", "fb_spmv_row_warp", 1e-3);
        CUDA_OK(cudaFree(c));
        CUDA_OK(cudaFree(v));
    }
    {
        const int n = 16384;
        float4* p = reinterpret_cast<float4*>(bench.floats(4 * n));
        float* acc = bench.allocate<float>(3 * n);
        LAUNCH(bench, fb_nbody_global, n / 128, 128, 0, Bench::view(acc, 3 * n), p, acc, n);
        LAUNCH(bench, fb_nbody_split, dim3(n / 128, 32), 128, 0, Bench::view(acc, 3 * n), p, acc, n);
        bench.same("fb_nbody_global", "fb_nbody_split", 5e-3);
    }
    {
        const int n = 288;
        const size_t all = size_t(n) * n * n, from = size_t(n) * n * 100, some = size_t(1) << 21;
        float *in = bench.floats(all), *out = bench.allocate<float>(all);
        CUDA_OK(cudaMemset(out, 0, all * 4));
        LAUNCH(bench, fb_stencil_wrong_axis, dim3(n / 8, n, n / 32), dim3(32, 8), 0, Bench::view(out + from, some), in, out, n);
        LAUNCH(bench, fb_stencil_plain, dim3(n / 32, n / 8, n), dim3(32, 8), 0, Bench::view(out + from, some), in, out, n);
        bench.same("fb_stencil_wrong_axis", "fb_stencil_plain");
        std::vector<double> pattern(1 << 18);
        for (size_t i = 0; i < pattern.size(); ++i) pattern[i] = (i * 7919 % 1000) / 1000.0;
        double *din = bench.tiled(pattern, all), *dout = bench.allocate<double>(all);
        LAUNCH(bench, fb_stencil_f64_march, dim3(n / 32, n / 8, n / 32), dim3(32, 8), 0, Bench::view(dout + from, 4096), din, dout, n);
    }
    {
        const int width = 4096, height = 4100;
        const size_t all = size_t(width) * height;
        std::vector<float> w = Bench::random_floats(25, 9);
        float *in = bench.floats(all), *out = bench.allocate<float>(all), *weights = bench.upload(w);
        CUDA_OK(cudaMemcpyToSymbol(conv_weights, w.data(), 100));
        LAUNCH(bench, fb_conv5_weights_global, dim3(width / 32, (height + 7) / 8), dim3(32, 8), 0, Bench::view(out, 1 << 21), in,
               weights, out, width, height);
        LAUNCH(bench, fb_conv5_rows_in_registers, dim3(width / 128, (height - 4) / 8), 128, 0, Bench::view(out, 1 << 21), in, out,
               width, height);
        bench.same("fb_conv5_weights_global", "fb_conv5_rows_in_registers");
    }
    {
        const int width = 2048, blocks = 2 * bench.sms, height = 4 * blocks;
        int* out = bench.allocate<int>(size_t(width) * height);
        unsigned* queue = bench.allocate<unsigned>(1);
        bench.before_each([=] { CUDA_OK(cudaMemset(queue, 0, 4)); });
        LAUNCH(bench, fb_mandelbrot_bands, blocks, 1024, 0, Bench::view(out, size_t(width) * height), out, width, height, 1024);
        LAUNCH(bench, fb_mandelbrot_queue, 8 * bench.sms, 256, 0, Bench::view(out, size_t(width) * height), out, width, height,
               1024, queue);
        bench.before_each(nullptr);
        bench.same("fb_mandelbrot_bands", "fb_mandelbrot_queue");
    }
    {
        const unsigned blocks = 8 * bench.sms;
        const size_t n = size_t(blocks) * 256;
        uint32_t *in = bench.words(n * 16), *out = bench.allocate<uint32_t>(n);
        LAUNCH(bench, fb_monte_carlo_pi, blocks, 256, 0, Bench::view(out, n), out, 512);
        LAUNCH(bench, fb_sha_rounds, blocks, 256, 0, Bench::view(out, n), in, out, 4);
        uint64_t p = 0xffffffff00000001ull, inverse = 1;
        for (int k = 0; k < 6; ++k) inverse *= 2 - p * inverse;
        unsigned long long* wide = bench.allocate<unsigned long long>(n);
        LAUNCH(bench, fb_powmod64, blocks, 256, 0, Bench::view(wide, n), in, wide, p, inverse, 128);
    }
    {
        const size_t n = size_t(1) << 22;
        std::vector<double> pattern(1 << 16), coefficients(256);
        for (size_t i = 0; i < pattern.size(); ++i) pattern[i] = i / 65536.0 - 0.5;
        for (int i = 0; i < 256; ++i) coefficients[i] = 1.0 / (256 - i);
        CUDA_OK(cudaMemcpyToSymbol(horner_coefficients, coefficients.data(), 256 * 8));
        double *x = bench.tiled(pattern, n), *y = bench.allocate<double>(n);
        LAUNCH(bench, fb_horner_f64, n / 256, 256, 0, Bench::view(y, n), x, y);
    }
    {
        const size_t n = size_t(8) * bench.sms * 256;
        float *in = bench.floats(n), *out = bench.allocate<float>(n);
        LAUNCH(bench, fb_damping_promoted, n / 256, 256, 0, Bench::view(out, n), in, out, 2048);
        LAUNCH(bench, fb_damping_float, n / 256, 256, 0, Bench::view(out, n), in, out, 2048);
        bench.same("fb_damping_promoted", "fb_damping_float", 1e-3);
    }
    {
        const size_t n = size_t(1) << 22;
        uint32_t *in = bench.words(n), *out = bench.allocate<uint32_t>(n);
        LAUNCH(bench, fb_bitonic_shared, n / 1024, 512, 0, Bench::view(out, n), in, out);
    }
    {
        const unsigned n = 1u << 24, queries = 1u << 20;
        std::vector<uint32_t> a(n), q = Bench::random_words(queries, 5);
        for (unsigned i = 0; i < n; ++i) a[i] = i * 200u + (i * 2654435761u >> 25);
        std::vector<uint64_t> keyed(queries);
        for (unsigned i = 0; i < queries; ++i) keyed[i] = uint64_t(q[i]) << 32 | i;
        std::sort(keyed.begin(), keyed.end());
        std::vector<uint2> sorted(queries);
        for (unsigned i = 0; i < queries; ++i) sorted[i] = make_uint2(unsigned(keyed[i] >> 32), unsigned(keyed[i]));
        uint32_t *array = bench.upload(a), *random = bench.upload(q);
        uint2* ordered = bench.upload(sorted);
        unsigned* out = bench.allocate<unsigned>(queries);
        LAUNCH(bench, fb_search_random, queries / 256, 256, 0, Bench::view(out, queries), array, n, random, out);
        LAUNCH(bench, fb_search_sorted, queries / 256, 256, 0, Bench::view(out, queries), array, n, ordered, out);
        bench.same("fb_search_random", "fb_search_sorted");
    }
    {
        const size_t slots = size_t(1) << 25, inserts = size_t(1) << 22;
        uint32_t *table = bench.allocate<uint32_t>(slots), *keys = bench.words(inserts, 11);
        unsigned char* slow = bench.allocate<unsigned char>(1024);
        bench.before_each([=] { CUDA_OK(cudaMemset(table, 0, slots * 4)); });
        LAUNCH(bench, fb_hash_insert, inserts / 256, 256, 0, Bench::view(slow, 1024), keys, table, unsigned(slots - 1), slow);
        bench.before_each(nullptr);
    }
    {
        const int n = 1 << 20, cells = 64, grid2 = 1024;
        float *x = bench.floats(n, 21), *rho = bench.allocate<float>(cells + 1);
        LAUNCH(bench, fb_deposit_1d_global, n / 256, 256, 0, Bench::view(rho, cells + 1), x, rho, cells);
        LAUNCH(bench, fb_deposit_1d_private, n / 256 / 8, 256, 0, Bench::view(rho, cells + 1), x, rho, cells, 8);
        bench.same("fb_deposit_1d_global", "fb_deposit_1d_private", 1e-2);
        const size_t many = size_t(1) << 22;
        std::vector<float> px = Bench::random_floats(1 << 20, 22), py = Bench::random_floats((1 << 20) - 17, 23);
        float *xs = bench.tiled(px, many), *ys = bench.tiled(py, many), *rho2 = bench.allocate<float>(grid2 * grid2);
        LAUNCH(bench, fb_deposit_2d_random, many / 256, 256, 0, Bench::view(rho2, grid2 * grid2), xs, ys, rho2, grid2);
    }
    {
        const unsigned m = 31u * 8192;
        float *in = bench.floats(size_t(64) * m), *out = bench.allocate<float>(size_t(64) * m);
        LAUNCH(bench, fb_lu8_local_array, m / 128, 128, 0, Bench::view(out + size_t(56) * m, 8 * m), in, out, m);
        LAUNCH(bench, fb_lu8_registers, m / 128, 128, 0, Bench::view(out + size_t(56) * m, 8 * m), in, out, m);
        bench.same("fb_lu8_local_array", "fb_lu8_registers", 1e-3);
    }
    {
        const unsigned blocks = 512;
        const size_t n = size_t(blocks) * 2048;
        uint32_t *in = bench.words(n), *out = bench.allocate<uint32_t>(n);
        unsigned* state = bench.allocate<unsigned>(1 + 2 * blocks);
        bench.before_each([=] { CUDA_OK(cudaMemset(state, 0, 4 * (1 + 2 * blocks))); });
        LAUNCH(bench, fb_chained_scan, blocks, 256, 0, Bench::view(out, n), in, out, state, state + 1, state + 1 + blocks);
        bench.before_each(nullptr);
    }
    {
        const size_t systems = size_t(1) << 18;
        const int n = 32;
        std::vector<float> rows = Bench::random_floats(systems * n, 31), turned(systems * n);
        auto turn = [&] {
            for (size_t m0 = 0; m0 < systems; m0 += 32)
                for (int k = 0; k < n; ++k)
                    for (size_t m = m0; m < m0 + 32; ++m) turned[size_t(k) * systems + m] = rows[m * n + k];
        };
        float* kappa = bench.upload(rows);
        turn();
        float* kappa_turned = bench.upload(turned);
        for (auto& v : rows) v = 1.0f - v * v;
        float* d = bench.upload(rows);
        turn();
        float* d_turned = bench.upload(turned);
        float *cp = bench.allocate<float>(systems * n), *x = bench.allocate<float>(systems * n), *flux = bench.allocate<float>(systems);
        LAUNCH(bench, fb_thomas_row_major, systems / 256, 256, 0, Bench::view(flux, systems), kappa, d, cp, x, flux, n);
        LAUNCH(bench, fb_thomas_interleaved, systems / 256, 256, 0, Bench::view(flux, systems), kappa_turned, d_turned, cp, x, flux, n);
        bench.same("fb_thomas_row_major", "fb_thomas_interleaved", 1e-3);
    }
    {
        const size_t rays = size_t(1) << 20;
        std::vector<float> u = Bench::random_floats(6 * rays, 41), c = Bench::random_floats(512 * 4, 42);
        for (int k = 0; k < 512; ++k) c[4 * k + 3] = 0.08f * 0.08f;
        float *random = bench.upload(u), *spheres = bench.upload(c);
        int* out = bench.allocate<int>(rays);
        LAUNCH(bench, fb_ray_any_hit, rays / 256, 256, 0, Bench::view(out, rays), random, reinterpret_cast<float4*>(spheres), out);
    }
    {
        const unsigned A = 60, B = 60, C = 100, E = 96, n = A * B * C * E;
        unsigned char *in = reinterpret_cast<unsigned char*>(bench.words(n / 4)), *out = bench.allocate<unsigned char>(n);
        LAUNCH(bench, fb_permute_divide, n / 256, 256, 0, Bench::view(out, 1 << 22), in, out, B, C, E);
        LAUNCH(bench, fb_permute_magic, n / 256, 256, 0, Bench::view(out, 1 << 22), in, out, magic(B), magic(C), magic(E));
        bench.same("fb_permute_divide", "fb_permute_magic");
    }
    {
        const size_t table = size_t(1) << 26, n = size_t(1) << 23;
        float *t = bench.floats(table), *out = bench.allocate<float>(n * 4);
        uint32_t* index = bench.words(n * 4, 51);
        LAUNCH(bench, fb_gather_random, n / 256, 256, 0, Bench::view(out, 1 << 20), t, index, unsigned(table - 1), out);
        LAUNCH(bench, fb_gather_local, 4 * n / 256, 256, 0, Bench::view(out, 1 << 20), t, index, unsigned(table - 1), out);
    }
    {
        const int side = 2048, width = 4096, height = 2048;
        std::vector<float> texels = Bench::random_floats(size_t(side) * side, 61);
        cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        cudaArray_t array;
        CUDA_OK(cudaMallocArray(&array, &format, side, side));
        CUDA_OK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), side * 4, side * 4, side, cudaMemcpyHostToDevice));
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        cudaTextureDesc how = {};
        how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
        how.filterMode = cudaFilterModeLinear;
        how.readMode = cudaReadModeElementType;
        cudaTextureObject_t image = 0;
        CUDA_OK(cudaCreateTextureObject(&image, &resource, &how, nullptr));
        const size_t n = size_t(width) * height;
        float* out = bench.allocate<float>(n);
        uint32_t* where = bench.words(n, 62);
        LAUNCH(bench, fb_texture_rotate, dim3(width / 16, height / 16), dim3(16, 16), 0, Bench::view(out, 1 << 20), image, out, width,
               0.8660254f, 0.5f);
        LAUNCH(bench, fb_texture_random, n / 2 / 256, 256, 0, Bench::view(out, 1 << 20), image, where, out);
    }
    {
        const int width = 8192, height = 4096;
        const size_t n = size_t(width) * height;
        unsigned char *in = reinterpret_cast<unsigned char*>(bench.words(n / 4, 71)), *out = bench.allocate<unsigned char>(n);
        LAUNCH(bench, fb_blur_bytes, dim3(width / 256, height), 256, 0, Bench::view(out, 1 << 22), in, out, width);
        LAUNCH(bench, fb_blur_sixteen, dim3(width / 16 / 128, height), 128, 0, Bench::view(out, 1 << 22),
               reinterpret_cast<uint4*>(in), reinterpret_cast<uint4*>(out), width / 16);
        bench.same("fb_blur_bytes", "fb_blur_sixteen");
    }
    {
        const size_t n = size_t(1) << 19;
        std::vector<uint32_t> t = Bench::random_words(1024, 81);
        CUDA_OK(cudaMemcpyToSymbol(aes_constant, t.data(), 4096));
        uint32_t* tables = bench.upload(t);
        uint4 *in = reinterpret_cast<uint4*>(bench.words(4 * n, 82)), *out = bench.allocate<uint4>(n);
        Output view = Bench::view(reinterpret_cast<uint32_t*>(out), 4 * n);
        LAUNCH(bench, fb_aes_constant, n / 256, 256, 0, view, in, out);
        LAUNCH(bench, fb_aes_shared, n / 256, 256, 0, view, in, out, tables);
        bench.same("fb_aes_constant", "fb_aes_shared");
    }
    return bench.finish();
}
