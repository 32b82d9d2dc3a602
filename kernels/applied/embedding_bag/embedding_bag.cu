// embedding_bag adds up rows of a table that lists of words name, as recommenders do: a warp a bag, four columns a lane. The rows
// lie anywhere in the table, but each is read as a whole.
extern "C" __global__ void embedding_bag(const float4 *table, const int *words, const int *first, float4 *out, int bags) {
    int bag = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (bag >= bags) {
        return;
    }
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    int end = first[bag + 1];
    for (int i = first[bag]; i < end; i++) {
        float4 v = table[words[i] * 32 + lane];
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
    }
    out[bag * 32 + lane] = sum;
}
