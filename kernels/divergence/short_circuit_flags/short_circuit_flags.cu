// short_circuit_flags lets packets pass a firewall or drops them, by a condition that is worked out without branches.
// Its partner is short_circuit: there each operand of the condition is a branch. Here all operands are read, whether they decide or not, and
// one branch chooses the arm.
struct Packet {
    unsigned short from, to, port, length;
};

extern "C" __global__ void short_circuit_flags(const Packet *packets, int n, const unsigned char *open, const unsigned char *trusted,
                                               const unsigned short *quota, const unsigned char *banned,
                                               const unsigned *keys, unsigned *verdicts) {
    int stride = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        Packet p = packets[i];
        unsigned verdict;
        bool known = open[p.port] & trusted[p.from];
        bool light = (quota[p.from] > p.length) & !banned[p.to] & (keys[p.to] % 3 == 0);
        if (known | light) {
            unsigned key = keys[p.from]; // the pass's signature
            verdict = key * 2654435761u;
            verdict ^= verdict >> 15;
            verdict = verdict * 2246822519u + p.length;
            verdict ^= verdict >> 13;
            verdict |= 1;
        } else {
            unsigned reason = keys[p.port];
            reason ^= reason << 7;
            reason += p.from;
            reason ^= reason >> 9;
            verdict = reason & ~1u;
        }
        verdicts[i] = verdict;
    }
}
