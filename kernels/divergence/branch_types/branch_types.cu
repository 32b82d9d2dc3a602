// branch_types has the control flow of the example of Gupta and Datta, "Characterizing performance loss from mapping general
// purpose applications onto GPU architectures" (Figures 3 and 4): an extrinsic branch in A, by the thread's number, and an intrinsic
// one in C, by the data. Blocks are A to {B, C}, B to G, C to {D, E}, D and E to F, F to G.
extern "C" __global__ void branch_types(const volatile int *data, int n, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum; // A
    if (threadIdx.x % 4 == 0) {
        sum = 3 * data[i]; // B
    } else {
        int value = data[n + i]; // C
        if (value > 0) {
            sum = value * data[2 * n + i]; // D
        } else {
            sum = value - data[3 * n + i]; // E
        }
        sum ^= data[4 * n + i]; // F
    }
    out[i] = sum + data[5 * n + i]; // G
}
