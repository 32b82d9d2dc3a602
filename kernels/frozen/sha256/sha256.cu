// sha256 hashes messages of one block of 64 bytes, a message a thread: 64 rounds of integer logic on eight words, with the
// schedule in registers and the constants in constant memory.
__constant__ unsigned K[64];

__device__ __forceinline__ unsigned right(unsigned x, int n) { return __funnelshift_r(x, x, n); }

extern "C" __global__ void sha256(const unsigned *messages, const unsigned *initial, unsigned *digests, int count) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= count) {
        return;
    }
    unsigned w[16], s[8];
    for (int i = 0; i < 16; i++) {
        w[i] = messages[m * 16 + i];
    }
    for (int i = 0; i < 8; i++) {
        s[i] = initial[i];
    }
#pragma unroll 16
    for (int i = 0; i < 64; i++) {
        unsigned x = w[i % 16];
        if (i >= 16) {
            unsigned a = w[(i + 1) % 16], b = w[(i + 14) % 16];
            x += w[(i + 9) % 16] + (right(a, 7) ^ right(a, 18) ^ a >> 3) + (right(b, 17) ^ right(b, 19) ^ b >> 10);
            w[i % 16] = x;
        }
        unsigned t = s[7] + (right(s[4], 6) ^ right(s[4], 11) ^ right(s[4], 25)) + (s[4] & s[5] ^ ~s[4] & s[6]) + K[i] + x;
        unsigned u = (right(s[0], 2) ^ right(s[0], 13) ^ right(s[0], 22)) + (s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2]);
        s[7] = s[6];
        s[6] = s[5];
        s[5] = s[4];
        s[4] = s[3] + t;
        s[3] = s[2];
        s[2] = s[1];
        s[1] = s[0];
        s[0] = t + u;
    }
    for (int i = 0; i < 8; i++) {
        digests[m * 8 + i] = s[i] + initial[i];
    }
}
