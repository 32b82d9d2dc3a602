// btree_reordered looks up keys in a search tree as btree does.
// What does not change with the level is loaded once, a node's keys and children are loaded together, before any is used,
// and the next node passes through shared memory with one barrier a level: the partner of btree.
#define ORDER 64

struct Node {
    int keys[ORDER + 1];     // child i holds the keys from keys[i] up to, not including, keys[i + 1]
    int children[ORDER];     // nodes; in the last level, records
};

extern "C" __global__ void btree_reordered(int height, const Node *nodes, int node_count, const int *queries, int *current,
                                           int *next, const int *records, int *answers) {
    __shared__ int chosen[2];
    int t = threadIdx.x;
    int key = queries[blockIdx.x];
    int node = current[blockIdx.x];
    for (int level = 0; level < height; level++) {
        int low = nodes[node].keys[t];
        int high = nodes[node].keys[t + 1];
        int child = nodes[node].children[t];
        if (low <= key && high > key) {
            chosen[level % 2] = child < node_count ? child : node;
        }
        __syncthreads();
        node = chosen[level % 2];
    }
    int found = nodes[node].keys[t];
    int record = nodes[node].children[t];
    if (found == key) {
        answers[blockIdx.x] = records[record];
    }
    if (t == 0) {
        current[blockIdx.x] = node;
        next[blockIdx.x] = node;
    }
}
