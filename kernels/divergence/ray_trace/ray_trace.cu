// ray_trace draws mirrors, glowing and dull balls on a floor: a ray a thread, which bounces until it meets light, the sky or
// the limit. What it meets decides which function is called, and those call one more function ("ray tracing" in "SIMD
// Re-Convergence At Thread Frontiers", section 5). Every operation rounds once, so the picture is exact.
struct Vector {
    float x, y, z;
};

struct Ball {
    Vector center;
    float square; // of the radius
    float color;
    int material; // 0 dull, 1 mirror, 2 lamp
};

struct Ray {
    Vector from, way;
    float strength, light;
    unsigned noise;
};

__device__ float dot(Vector a, Vector b) {
    return __fadd_rn(__fadd_rn(__fmul_rn(a.x, b.x), __fmul_rn(a.y, b.y)), __fmul_rn(a.z, b.z));
}

__device__ Vector along(Vector a, Vector b, float t) {
    return {__fadd_rn(a.x, __fmul_rn(b.x, t)), __fadd_rn(a.y, __fmul_rn(b.y, t)), __fadd_rn(a.z, __fmul_rn(b.z, t))};
}

__device__ __noinline__ void normalize(Vector *v) {
    float n = __frcp_rn(__fsqrt_rn(dot(*v, *v)));
    *v = {__fmul_rn(v->x, n), __fmul_rn(v->y, n), __fmul_rn(v->z, n)};
}

__device__ float noise(Ray *ray) {
    ray->noise = ray->noise * 1664525u + 1013904223u;
    return __fadd_rn(__fmul_rn((float)(ray->noise >> 16), 3.0517578125e-5f), -1.0f);
}

// The way after a mirror, and after a dull face, whose way is the normal with noise.
__device__ __noinline__ void mirror(Ray *ray, Vector normal) {
    ray->way = along(ray->way, normal, __fmul_rn(-2.0f, dot(ray->way, normal)));
    normalize(&ray->way);
}

__device__ __noinline__ void scatter(Ray *ray, Vector normal) {
    Vector v;
    do {
        v = {noise(ray), noise(ray), noise(ray)};
    } while (dot(v, v) > 0.9375f);
    ray->way = along(normal, v, 1.0f);
    normalize(&ray->way);
}

extern "C" __global__ void ray_trace(const Ball *balls, int count, int width, int height, int bounces, float *picture) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= width * height) {
        return;
    }
    Ray ray;
    ray.from = {0.0f, 1.0f, -4.0f};
    ray.way = {__fmul_rn((float)(pixel % width - width / 2), 0.0625f), __fmul_rn((float)(height / 2 - pixel / width), 0.0625f), 2.0f};
    ray.strength = 1.0f;
    ray.light = 0.0f;
    ray.noise = pixel * 747796405u + 1u;
    normalize(&ray.way);
#pragma unroll 1
    for (int bounce = 0; bounce < bounces; bounce++) {
        float nearest = 1e30f;
        int hit = -1;
#pragma unroll 1
        for (int i = 0; i < count; i++) {
            Vector to = along(balls[i].center, ray.from, -1.0f);
            float middle = dot(to, ray.way);
            if (middle <= 0.0f) {
                continue;
            }
            float beside = __fadd_rn(dot(to, to), -__fmul_rn(middle, middle));
            float inside = __fadd_rn(balls[i].square, -beside);
            if (inside <= 0.0f) {
                continue;
            }
            float t = __fadd_rn(middle, -__fsqrt_rn(inside));
            if (t > 0.0009765625f && t < nearest) {
                nearest = t;
                hit = i;
            }
        }
        if (ray.way.y < 0.0f) { // the floor
            float t = __fmul_rn(-ray.from.y, __frcp_rn(ray.way.y));
            if (t > 0.0009765625f && t < nearest) {
                ray.from = along(ray.from, ray.way, t);
                bool dark = ((int)floorf(ray.from.x) + (int)floorf(ray.from.z)) & 1;
                ray.strength = __fmul_rn(ray.strength, dark ? 0.25f : 0.75f);
                scatter(&ray, {0.0f, 1.0f, 0.0f});
                goto faded;
            }
        }
        if (hit < 0) { // the sky
            ray.light = __fadd_rn(ray.light, __fmul_rn(ray.strength, __fadd_rn(0.5f, __fmul_rn(0.5f, ray.way.y))));
            goto done;
        }
        {
            const Ball *ball = &balls[hit];
            ray.from = along(ray.from, ray.way, nearest);
            Vector normal = along(ray.from, ball->center, -1.0f);
            normalize(&normal);
            ray.strength = __fmul_rn(ray.strength, ball->color);
            switch (ball->material) {
            case 0:
                scatter(&ray, normal);
                break;
            case 1:
                mirror(&ray, normal);
                continue;
            case 2:
                ray.light = __fadd_rn(ray.light, __fmul_rn(ray.strength, 4.0f));
                goto done;
            }
        }
    faded:
        if (ray.strength < 0.03125f) {
            goto done;
        }
    }
done:
    picture[pixel] = ray.light;
}
