// pipe-alu: the pipe for integer logic, shifts and comparisons is near its peak.
#include "harness.cuh"

constexpr int repeats = 64;

// CRC-32 of 64 words a thread, bit by bit: three logic operations a bit.
extern "C" __global__ void crc_by_bits(const unsigned* in, const unsigned* table, unsigned* out) {
    unsigned crc = ~0u;
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
        crc ^= in[size_t(r) * thread_count() + thread_index()];
#pragma unroll
        for (int bit = 0; bit < 32; ++bit) crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1u)));
    }
    out[thread_index()] = crc;
}

// Twin: four bits a step with a table of sixteen entries, a copy for each lane so that look-ups never conflict.
extern "C" __global__ void crc_by_table(const unsigned* in, const unsigned* table, unsigned* out) {
    __shared__ unsigned local[16][32];
    for (unsigned i = threadIdx.x; i < 16 * 32; i += blockDim.x) local[i / 32][i % 32] = table[i / 32];
    __syncthreads();
    unsigned crc = ~0u, lane = threadIdx.x % 32;
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
        crc ^= in[size_t(r) * thread_count() + thread_index()];
#pragma unroll
        for (int nibble = 0; nibble < 8; ++nibble) crc = (crc >> 4) ^ local[crc & 15u][lane];
    }
    out[thread_index()] = crc;
}

// Two 16-bit numbers are woven bit by bit into a Morton code, a shift and two logic operations a bit.
extern "C" __global__ void morton_by_bits(const unsigned* in, unsigned* out) {
    unsigned sum = 0, word = in[thread_index()];
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
        unsigned x = word & 0xFFFFu, y = word >> 16, code = 0;
#pragma unroll
        for (int bit = 0; bit < 16; ++bit) code |= (x & 1u << bit) << bit | (y & 1u << bit) << (bit + 1);
        sum ^= code;
        word = word * 1664525u + 1013904223u;
    }
    out[thread_index()] = sum;
}

__device__ unsigned spread(unsigned x) {
    x = (x | x << 8) & 0x00FF00FFu;
    x = (x | x << 4) & 0x0F0F0F0Fu;
    x = (x | x << 2) & 0x33333333u;
    return (x | x << 1) & 0x55555555u;
}

// Twin: all bits at once, in four steps that halve the distance. Still integer logic, but a quarter of it.
extern "C" __global__ void morton_by_halves(const unsigned* in, unsigned* out) {
    unsigned sum = 0, word = in[thread_index()];
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
        sum ^= spread(word & 0xFFFFu) | spread(word >> 16) << 1;
        word = word * 1664525u + 1013904223u;
    }
    out[thread_index()] = sum;
}

// Four bytes of a word are averaged with those of another word one by one: extract, add, shift, insert.
extern "C" __global__ void bytes_one_by_one(const unsigned* in, unsigned* out, int rounds) {
    unsigned word = in[thread_index()], other = in[thread_index()] * 2654435761u;
#pragma unroll 2
    for (int r = 0; r < rounds; ++r) {
        unsigned result = 0;
#pragma unroll
        for (int b = 0; b < 4; ++b) {
            unsigned x = word >> (8 * b) & 255u, y = other >> (8 * b) & 255u;
            result |= ((x + y + 1) >> 1) << (8 * b);
        }
        word = result;
        other = other * 1664525u + 1013904223u;
    }
    out[thread_index()] = word;
}

// Twin: the rounded averages of four bytes at once: (x | y) - (((x ^ y) & 0xFEFEFEFE) >> 1). Less work, the same pipe.
extern "C" __global__ void bytes_four_at_once(const unsigned* in, unsigned* out, int rounds) {
    unsigned word = in[thread_index()], other = in[thread_index()] * 2654435761u;
#pragma unroll 2
    for (int r = 0; r < rounds; ++r) {
        word = (word | other) - (((word ^ other) & 0xFEFEFEFEu) >> 1);
        other = other * 1664525u + 1013904223u;
    }
    out[thread_index()] = word;
}

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    {
        unsigned blocks = bench.sms * (bench.threads_per_sm / 256) * bench.scaled(4);
        size_t n = size_t(blocks) * 256;
        std::vector<unsigned> entries(16);
        for (unsigned i = 0; i < 16; ++i) {
            entries[i] = i;
            for (int bit = 0; bit < 4; ++bit) entries[i] = entries[i] >> 1 ^ (entries[i] & 1 ? 0xEDB88320u : 0u);
        }
        unsigned *in = bench.words(n * repeats), *table = bench.upload(entries), *out = bench.allocate<unsigned>(n);
        LAUNCH(bench, crc_by_bits, blocks, 256, 0, Bench::view(out, n), in, table, out);
        LAUNCH(bench, crc_by_table, blocks, 256, 0, Bench::view(out, n), in, table, out);
        bench.same("crc_by_bits", "crc_by_table", 0);
    }
    {
        unsigned blocks = bench.sms * (bench.threads_per_sm / 256) * bench.scaled(8);
        size_t n = size_t(blocks) * 256;
        unsigned *in = bench.words(n), *out = bench.allocate<unsigned>(n);
        LAUNCH(bench, morton_by_bits, blocks, 256, 0, Bench::view(out, n), in, out);
        LAUNCH(bench, morton_by_halves, blocks, 256, 0, Bench::view(out, n), in, out);
        bench.same("morton_by_bits", "morton_by_halves", 0);
        LAUNCH(bench, bytes_one_by_one, blocks / 2, 256, 0, Bench::view(out, n / 2), in, out, 256);
        LAUNCH(bench, bytes_four_at_once, blocks / 2, 256, 0, Bench::view(out, n / 2), in, out, 256);
        bench.same("bytes_one_by_one", "bytes_four_at_once", 0);
    }
    return bench.finish();
}
