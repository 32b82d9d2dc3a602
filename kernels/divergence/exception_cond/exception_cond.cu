// exception_cond turns dates of three kinds into day numbers: year, month and day; year and day of the year; year, week and
// weekday (ISO 8601). Dates that do not exist are thrown to one handler.
// The edges to the handler leave conditionals at every depth ("exception-conditional" in "SIMD Re-Convergence At Thread
// Frontiers", section 5).
__device__ bool leap(int y) { return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0); }

// The days before a year, of the Gregorian calendar from the year 1 on.
__device__ int before(int y) {
    y--;
    return 365 * y + y / 4 - y / 100 + y / 400;
}

extern "C" __global__ void exception_cond(const int *dates, int n, const int *month_days, const int *month_starts, int *days) {
    int stride = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int kind = dates[4 * i], year = dates[4 * i + 1], day, mistake;
        if (kind == 0) {
            int month = dates[4 * i + 2], d = dates[4 * i + 3];
            if (month < 1 || month > 12) {
                mistake = -1;
                goto wrong;
            }
            int longest = month_days[month - 1];
            if (month == 2 && leap(year)) {
                longest++;
            }
            if (d < 1 || d > longest) {
                mistake = -2;
                goto wrong;
            }
            day = month_starts[month - 1] + d;
            if (month > 2 && leap(year)) {
                day++;
            }
            day += before(year);
        } else if (kind == 1) {
            int d = dates[4 * i + 3];
            if (d < 1) {
                mistake = -3;
                goto wrong;
            }
            if (d > 365) {
                if (!leap(year) || d > 366) {
                    mistake = -4;
                    goto wrong;
                }
            }
            day = before(year) + d;
        } else {
            int week = dates[4 * i + 2], d = dates[4 * i + 3];
            if (week < 1 || week > 53 || d < 1 || d > 7) {
                mistake = -5;
                goto wrong;
            }
            int fourth = before(year) + 4;             // 4 January is always in week 1
            int monday = fourth - (fourth + 6) % 7;    // day 1 was a Monday
            if (week == 53) {
                int next = before(year + 1) + 4;
                if (next - (next + 6) % 7 == monday + 52 * 7) {
                    mistake = -6;
                    goto wrong;
                }
            }
            day = monday + 7 * (week - 1) + d - 1;
        }
        days[i] = day;
        continue;
    wrong:
        days[i] = mistake * 10000 - year;
    }
}
