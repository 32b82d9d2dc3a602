// gaussian_fan2 takes a multiple of one row from the rows below it: a step of Gaussian elimination (after Rodinia's Fan2).
// All its branches are by the thread's number, so all lost lanes are extrinsic (Gupta and Datta, "Characterizing performance loss
// from mapping general purpose applications onto GPU architectures").
extern "C" __global__ void gaussian_fan2(const float *factors, float *a, float *b, int size, int step) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= size - 1 - step) {
        return;
    }
    if (column >= size - step) {
        return;
    }
    row += step + 1;
    float factor = factors[row * size + step];
    a[row * size + column + step] -= factor * a[step * size + column + step];
    if (column == 0) {
        b[row] -= factor * b[step];
    }
}
