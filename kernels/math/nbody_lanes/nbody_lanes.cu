// nbody_lanes computes the gravitational acceleration of every body by all others, as nbody does.
// The threads of a warp share a body: each adds up every 32nd pull, and shuffles put the parts together. 128 blocks instead
// of four. The partner of nbody.
#define BLOCK 128
#define LANES 32

extern "C" __global__ void nbody_lanes(const float4 *bodies, float4 *acceleration, int n, float softening) {
    __shared__ float4 tile[BLOCK];
    int i = (blockIdx.x * BLOCK + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES;
    float4 own = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int start = 0; start < n; start += BLOCK) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (int j = lane; j < BLOCK; j += LANES) {
            float dx = tile[j].x - own.x;
            float dy = tile[j].y - own.y;
            float dz = tile[j].z - own.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float pull = tile[j].w * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        __syncthreads();
    }
    for (int step = LANES / 2; step > 0; step /= 2) {
        ax += __shfl_xor_sync(0xffffffff, ax, step);
        ay += __shfl_xor_sync(0xffffffff, ay, step);
        az += __shfl_xor_sync(0xffffffff, az, step);
    }
    if (lane == 0) {
        acceleration[i] = make_float4(ax, ay, az, 0.0f);
    }
}
