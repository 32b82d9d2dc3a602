// box_rolled adds up the squared distances between the particles of a box, as lavaMD does.
// One particle a round. Its partner is box_unrolled.
extern "C" __global__ void box_rolled(const float *in, float *out, int particles) {
    __shared__ float box[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float mine = in[i], sum = 0.0f;
    box[t] = mine;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < particles; k++) {
        float d = mine - box[k];
        sum += d * d;
    }
    out[i] = sum;
}
