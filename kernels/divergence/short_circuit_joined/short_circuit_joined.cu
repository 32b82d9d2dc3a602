// short_circuit_joined lets packets pass a firewall or drops them, as short_circuit does.
// Each operand of the condition is a branch, but threads wait for each other before its result chooses the arm. The partner of
// short_circuit.
struct Packet {
    unsigned short from, to, port, length;
};

extern "C" __global__ void short_circuit_joined(const Packet *packets, int n, const unsigned char *open, const unsigned char *trusted,
                                                const unsigned short *quota, const unsigned char *banned,
                                                const unsigned *keys, unsigned *verdicts) {
    int stride = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        Packet p = packets[i];
        unsigned verdict;
        bool pass = (open[p.port] && trusted[p.from]) || (quota[p.from] > p.length && !banned[p.to] && keys[p.to] % 3 == 0);
        __syncwarp(); // threads come here by each of the operands
        if (pass) {
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
