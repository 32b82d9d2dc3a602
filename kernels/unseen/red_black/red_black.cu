// red_black smooths a field of whole numbers in place, as a Gauss-Seidel solver does: in each step every second cell, as the fields of
// a chessboard, becomes the mean of itself and its four neighbours; cells at the edge keep their value.
// The launches take turns with the two colours.
extern "C" __global__ void red_black(int *field, const int *__restrict__ source, int width, int height, int color) {
    int row = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int column = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + (row + color) % 2;
    if (row >= height - 1 || column >= width - 1) {
        return;
    }
    int at = row * width + column;
    int around = field[at - width] + field[at + width] + field[at - 1] + field[at + 1];
    int kept = 4 * field[at];
    field[at] = (around + kept + source[at]) >> 3;
}
