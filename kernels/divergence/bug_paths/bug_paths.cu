// bug_paths lets robots walk to their goals among obstacles: straight on where they can, around the obstacle where they cannot,
// until they are closer than where they met it (Lumelsky and Stepanov's Bug algorithms), a robot a thread.
// Conditions with early exits inside a loop, and two ways to go on that meet in the step ("path-finding" in "SIMD
// Re-Convergence At Thread Frontiers", section 5).
extern "C" __global__ void bug_paths(const unsigned char *walls, int size, const int *tasks, int robots, int most, int *out) {
    int robot = blockIdx.x * blockDim.x + threadIdx.x;
    if (robot >= robots) {
        return;
    }
    int at = tasks[2 * robot], goal = tasks[2 * robot + 1];
    int goalx = goal % size, goaly = goal / size;
    int x = at % size, y = at / size, heading = 0, met = -1, turns = 0;
    int result = -1; // no way found
    int step = 0;
#pragma unroll 1
    for (; step < most; step++) {
        int dx = goalx - x, dy = goaly - y;
        int distance = abs(dx) + abs(dy);
        if (distance == 0) {
            result = step;
            goto arrived;
        }
        if (met >= 0 && distance >= met) {
            goto around;
        }
        met = -1;
        // Straight on: first along the longer side of the way, then along the other.
        heading = abs(dx) >= abs(dy) ? (dx > 0 ? 0 : 2) : (dy > 0 ? 1 : 3);
        if (!walls[(y + (heading == 1) - (heading == 3)) * size + x + (heading == 0) - (heading == 2)]) {
            goto walk;
        }
        heading = abs(dx) >= abs(dy) ? (dy > 0 ? 1 : 3) : (dx > 0 ? 0 : 2);
        if (min(abs(dx), abs(dy)) > 0 && !walls[(y + (heading == 1) - (heading == 3)) * size + x + (heading == 0) - (heading == 2)]) {
            goto walk;
        }
        met = distance;
        heading = (heading + 3) & 3;
    around: // the wall stays at the right hand
        heading = (heading + 1) & 3;
#pragma unroll 1
        for (int turn = 0; turn < 4; turn++) {
            if (!walls[(y + (heading == 1) - (heading == 3)) * size + x + (heading == 0) - (heading == 2)]) {
                turns += turn;
                goto walk;
            }
            heading = (heading + 3) & 3;
        }
        result = -2; // walled in
        goto arrived;
    walk:
        x += (heading == 0) - (heading == 2);
        y += (heading == 1) - (heading == 3);
    }
arrived:
    out[4 * robot] = result;
    out[4 * robot + 1] = y * size + x;
    out[4 * robot + 2] = turns;
    out[4 * robot + 3] = step;
}
