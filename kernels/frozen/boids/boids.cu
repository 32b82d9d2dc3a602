// boids steers birds by those of the cells of a grid around them: the birds are sorted by cell, and each thread goes through
// the lists of nine cells, of different lengths.
extern "C" __global__ void boids(const float4 *bird, const int *start, float2 *steer, int count, int side) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    float4 b = bird[i];
    int cx = (int)b.x, cy = (int)b.y;
    float2 away = make_float2(0.0f, 0.0f), speed = make_float2(0.0f, 0.0f);
    int near = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int x = cx + dx, y = cy + dy;
            if (x < 0 || y < 0 || x >= side || y >= side) {
                continue;
            }
            int cell = y * side + x;
            for (int k = start[cell]; k < start[cell + 1]; k++) {
                float4 o = bird[k];
                float ox = b.x - o.x, oy = b.y - o.y;
                if (k != i && ox * ox + oy * oy < 1.0f) {
                    away.x += ox;
                    away.y += oy;
                    speed.x += o.z;
                    speed.y += o.w;
                    near++;
                }
            }
        }
    }
    float scale = near ? 0.125f * near : 0.0f;
    steer[i] = make_float2(0.25f * away.x + scale * speed.x, 0.25f * away.y + scale * speed.y);
}
