// table_interp evaluates a curve given by a table at many points: two neighbouring entries of an index that the data says.
extern "C" __global__ void table_interp(const float *at, const float *table, float *out, int n, int entries) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float position = at[i] * (entries - 1);
        int k = min((int)position, entries - 2);
        float part = position - k, low = table[k], high = table[k + 1];
        out[i] = low + part * (high - low);
    }
}
