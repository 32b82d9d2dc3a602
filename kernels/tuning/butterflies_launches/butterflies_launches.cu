// Walsh-Hadamard transform of rows of 512 numbers: a launch for each of its nine steps.
extern "C" __global__ void butterflies_launches(int *x, int distance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int low = (i & -distance) * 2 + (i & (distance - 1));
    int a = x[low], b = x[low + distance];
    x[low] = a + b;
    x[low + distance] = a - b;
}
