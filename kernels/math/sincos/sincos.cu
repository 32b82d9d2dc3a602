// sincos computes accurate sines and cosines of small and large angles.
// Large angles take the slow path of Payne and Hanek's reduction, with a multi-word product in local memory; angles of both
// kinds share warps, so the path is taken by some lanes only.
extern "C" __global__ void sincos_of(const float *small, const float *large, float *sines, float *cosines, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float angle = i % 3 == 0 ? large[i] : small[i];
    sines[i] = sinf(angle);
    cosines[i] = cosf(angle);
}
