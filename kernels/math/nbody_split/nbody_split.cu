// nbody_split computes the gravitational acceleration of every body by all others, as nbody does.
// Blocks also divide the bodies that pull, and a second kernel adds up the parts: 128 blocks instead of four. The partner
// of nbody.
#define BLOCK 64

extern "C" __global__ void nbody_part(const float4 *bodies, float4 *parts, int n, int share, float softening) {
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 own = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    int end = (blockIdx.y + 1) * share;
    for (int start = blockIdx.y * share; start < end; start += BLOCK) {
        int count = min(BLOCK, end - start);
        if (threadIdx.x < count) {
            tile[threadIdx.x] = bodies[start + threadIdx.x];
        }
        __syncthreads();
        for (int j = 0; j < count; j++) {
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
    parts[blockIdx.y * n + i] = make_float4(ax, ay, az, 0.0f);
}

extern "C" __global__ void nbody_sum(const float4 *parts, float4 *acceleration, int n, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 sum = parts[i];
    for (int p = 1; p < count; p++) {
        float4 v = parts[p * n + i];
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
    }
    acceleration[i] = sum;
}
