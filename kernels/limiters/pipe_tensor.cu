// pipe-tensor: the matrix unit is near what its warp-level instructions can reach; operands stay in registers.
#include <cuda_fp16.h>
#include <mma.h>

#include "harness.cuh"

using namespace nvcuda;

constexpr int tiles = 4;  // independent accumulators a warp

// The sum over k of A * B_k, a 16 x 16 product for each of the `terms` matrices, in turn the same four.
// All values are small integers, so that 16-bit products and 32-bit sums are exact.
extern "C" __global__ void tensor_sum_of_products(const __half* in, float* out, int terms) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[tiles];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b[4];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[tiles];
    for (int t = 0; t < tiles; ++t) {
        wmma::load_matrix_sync(a[t], in + t * 256, 16);
        wmma::fill_fragment(sum[t], 0.0f);
    }
    for (int k = 0; k < 4; ++k) wmma::load_matrix_sync(b[k], in + 1024 + k * 256, 16);
#pragma unroll 1
    for (int i = 0; i < terms; i += 4) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
            for (int t = 0; t < tiles; ++t) wmma::mma_sync(sum[t], a[t], b[k], sum[t]);
        }
    }
    size_t warp = thread_index() / 32;
    for (int t = 0; t < tiles; ++t)
        wmma::store_matrix_sync(out + (warp * tiles + t) * 256, sum[t], 16, wmma::mem_row_major);
}

// Twin: A * (sum of B_k): the four matrices are added first, a quarter of the products. The limiter stays.
extern "C" __global__ void tensor_product_of_sum(const __half* in, float* out, int terms) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[tiles];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b, more;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[tiles];
    for (int t = 0; t < tiles; ++t) {
        wmma::load_matrix_sync(a[t], in + t * 256, 16);
        wmma::fill_fragment(sum[t], 0.0f);
    }
    wmma::load_matrix_sync(b, in + 1024, 16);
    for (int k = 1; k < 4; ++k) {
        wmma::load_matrix_sync(more, in + 1024 + k * 256, 16);
        for (int i = 0; i < b.num_elements; ++i) b.x[i] = __hadd(b.x[i], more.x[i]);
    }
#pragma unroll 4
    for (int i = 0; i < terms; i += 4) {
#pragma unroll
        for (int t = 0; t < tiles; ++t) wmma::mma_sync(sum[t], a[t], b, sum[t]);
    }
    size_t warp = thread_index() / 32;
    for (int t = 0; t < tiles; ++t)
        wmma::store_matrix_sync(out + (warp * tiles + t) * 256, sum[t], 16, wmma::mem_row_major);
}

// The same question in 8-bit integers: another data path of the matrix unit.
extern "C" __global__ void tensor_integers(const signed char* in, int* out, int terms) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a[tiles];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b[4];
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum[tiles];
    for (int t = 0; t < tiles; ++t) {
        wmma::load_matrix_sync(a[t], in + t * 256, 16);
        wmma::fill_fragment(sum[t], 0);
    }
    for (int k = 0; k < 4; ++k) wmma::load_matrix_sync(b[k], in + 1024 + k * 256, 16);
#pragma unroll 1
    for (int i = 0; i < terms; i += 4) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
            for (int t = 0; t < tiles; ++t) wmma::mma_sync(sum[t], a[t], b[k], sum[t]);
        }
    }
    size_t warp = thread_index() / 32;
    for (int t = 0; t < tiles; ++t)
        wmma::store_matrix_sync(out + (warp * tiles + t) * 256, sum[t], 16, wmma::mem_row_major);
}

// Twin: the four matrices are added first; their values are small enough for eight bits.
extern "C" __global__ void tensor_integers_of_sum(const signed char* in, int* out, int terms) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a[tiles];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b, more;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum[tiles];
    for (int t = 0; t < tiles; ++t) {
        wmma::load_matrix_sync(a[t], in + t * 256, 16);
        wmma::fill_fragment(sum[t], 0);
    }
    wmma::load_matrix_sync(b, in + 1024, 16);
    for (int k = 1; k < 4; ++k) {
        wmma::load_matrix_sync(more, in + 1024 + k * 256, 16);
        for (int i = 0; i < b.num_elements; ++i) b.x[i] = static_cast<signed char>(b.x[i] + more.x[i]);
    }
#pragma unroll 4
    for (int i = 0; i < terms; i += 4) {
#pragma unroll
        for (int t = 0; t < tiles; ++t) wmma::mma_sync(sum[t], a[t], b, sum[t]);
    }
    size_t warp = thread_index() / 32;
    for (int t = 0; t < tiles; ++t)
        wmma::store_matrix_sync(out + (warp * tiles + t) * 256, sum[t], 16, wmma::mem_row_major);
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    unsigned blocks = bench.sms * bench.scaled(8);
    size_t n = size_t(blocks) * 8 * tiles * 256;
    std::vector<uint32_t> random = Bench::random_words(2048);
    std::vector<__half> halves(2048);
    std::vector<signed char> bytes(2048);
    for (int i = 0; i < 2048; ++i) {
        int small = static_cast<int>(random[i] % 5) - 2;
        halves[i] = __float2half(static_cast<float>(small));
        bytes[i] = static_cast<signed char>(small);
    }
    int terms = 1024;
    __half* in = bench.upload(halves);
    float* out = bench.allocate<float>(n);
    LAUNCH(bench, tensor_sum_of_products, blocks, 256, 0, Bench::view(out, n), in, out, terms);
    LAUNCH(bench, tensor_product_of_sum, blocks, 256, 0, Bench::view(out, n), in, out, terms);
    bench.same("tensor_sum_of_products", "tensor_product_of_sum", 0);
    signed char* in8 = bench.upload(bytes);
    int* out8 = reinterpret_cast<int*>(out);
    LAUNCH(bench, tensor_integers, blocks, 256, 0, Bench::view(out8, n), in8, out8, terms);
    LAUNCH(bench, tensor_integers_of_sum, blocks, 256, 0, Bench::view(out8, n), in8, out8, terms);
    bench.same("tensor_integers", "tensor_integers_of_sum", 0);
    return bench.finish();
}
