// nbody computes the gravitational acceleration of every body by all others, one body a thread.
// Tiles of bodies pass through shared memory. 512 bodies make four blocks, so that most of the GPU has nothing to do. Its
// partners are nbody_split and nbody_lanes.
#define BLOCK 128

extern "C" __global__ void nbody(const float4 *bodies, float4 *acceleration, int n, float softening) {
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 own = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int start = 0; start < n; start += BLOCK) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < BLOCK; j++) {
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
    acceleration[i] = make_float4(ax, ay, az, 0.0f);
}
