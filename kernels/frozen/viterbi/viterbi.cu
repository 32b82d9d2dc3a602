// viterbi finds the likeliest path through a hidden Markov model of 32 states, a sequence a warp and a state a lane: the
// scores of the step before come by shuffles, and the matrix of transitions is read from global memory every step.
extern "C" __global__ void viterbi(const float *transition, const float *emission, const unsigned char *observed, unsigned char *from, float *best, int steps, int sequences) {
    int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (s >= sequences) {
        return;
    }
    float score = emission[observed[s * steps] * 32 + lane];
    for (int t = 1; t < steps; t++) {
        float most = -1e30f;
        int at = 0;
        for (int k = 0; k < 32; k++) {
            float v = __shfl_sync(0xffffffff, score, k) + transition[k * 32 + lane];
            if (v > most) {
                most = v;
                at = k;
            }
        }
        score = most + emission[observed[s * steps + t] * 32 + lane];
        from[(s * steps + t) * 32 + lane] = at;
    }
    best[s * 32 + lane] = score;
}
