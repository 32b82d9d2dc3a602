// blackscholes prices European options by the formula of Black and Scholes (1973).
// Accurate logarithm, exponential, square root and division: the compiler's sequences with their checks and slow paths.
// The partner blackscholes_fast uses the approximate ones.
__device__ float normal_cdf(float x) { // Abramowitz and Stegun 26.2.17, error below 7.5e-8
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
    float tail = 0.39894228f * expf(-0.5f * x * x)
        * (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return x > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void blackscholes(const float *price, const float *strike, const float *years, float *call, float *put,
                                        float rate, float volatility, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float s = price[i], x = strike[i], t = years[i];
    float spread = volatility * sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / spread;
    float d2 = d1 - spread;
    float discounted = x * expf(-rate * t);
    float c1 = normal_cdf(d1), c2 = normal_cdf(d2);
    call[i] = s * c1 - discounted * c2;
    put[i] = discounted * (1.0f - c2) - s * (1.0f - c1);
}
