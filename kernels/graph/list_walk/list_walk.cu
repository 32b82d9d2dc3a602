// list_walk adds up linked lists, one list a thread.
// Each load needs the address that the one before it brings, so nothing overlaps within a thread; lists differ in length.
// The launch file stores device addresses in the nodes.
struct Node {
    const Node *next;
    int value, weight;
};

extern "C" __global__ void list_walk(const Node *const *heads, int lists, long long *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lists) {
        return;
    }
    long long sum = 0;
    int rank = 0;
    for (const Node *node = heads[i]; node != nullptr; node = node->next) {
        sum += (long long)node->value * node->weight + rank++;
    }
    sums[i] = sum;
}
