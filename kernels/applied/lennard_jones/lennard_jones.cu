// lennard_jones adds up the forces on atoms from their neighbour lists, an atom a thread. The lists are stored by neighbour
// so that a warp reads them together; the positions that they name lie anywhere, as float4, and those beyond the cutoff are
// skipped.
extern "C" __global__ void lennard_jones(const float4 *position, const int *neighbours, const int *count, float4 *force, int atoms, float cutoff2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= atoms) {
        return;
    }
    float4 p = position[i];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f, energy = 0.0f;
    int n = count[i];
    for (int k = 0; k < n; k++) {
        float4 q = position[neighbours[k * atoms + i]];
        float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
        float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < cutoff2) {
            float s = 1.0f / r2, s6 = s * s * s;
            float f = s * s6 * (48.0f * s6 - 24.0f);
            fx += f * dx;
            fy += f * dy;
            fz += f * dz;
            energy += 4.0f * s6 * (s6 - 1.0f);
        }
    }
    force[i] = make_float4(fx, fy, fz, energy);
}
