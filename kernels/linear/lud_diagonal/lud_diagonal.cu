// lud_diagonal factors 32 by 32 matrices into L·U in place, without pivoting, one matrix a block: the step on the diagonal
// of a blocked LU decomposition.
// A thread owns a row. Rows are 32 words apart, so that a column of the tile lies in one bank; the threads above the
// diagonal idle; and every column needs a division.
#define N 32

extern "C" __global__ void lud_diagonal(float *matrices, float shift) {
    __shared__ float a[N][N];
    float *matrix = matrices + blockIdx.x * N * N;
    int t = threadIdx.x;
    for (int i = 0; i < N; i++) {
        a[i][t] = matrix[i * N + t] + (i == t ? shift : 0.0f);
    }
    __syncthreads();
    for (int k = 0; k < N - 1; k++) {
        if (t > k) {
            float factor = a[t][k] / a[k][k];
            a[t][k] = factor;
            for (int j = k + 1; j < N; j++) {
                a[t][j] -= factor * a[k][j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < N; i++) {
        matrix[i * N + t] = a[i][t];
    }
}
