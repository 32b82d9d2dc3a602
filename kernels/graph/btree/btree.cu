// btree looks up keys in a search tree whose nodes have up to 64 children, one key a block, one child a thread.
// At every level the loaded keys are used at once, nothing in between hides their latency, and two barriers a level make
// all threads wait: the case of Listing 2 of the GPA paper (Zhou et al., CGO 2021). Its partner is btree_reordered.
#define ORDER 64

struct Node {
    int keys[ORDER + 1];     // child i holds the keys from keys[i] up to, not including, keys[i + 1]
    int children[ORDER];     // nodes; in the last level, records
};

extern "C" __global__ void btree(int height, const Node *nodes, int node_count, const int *queries, int *current, int *next,
                                 const int *records, int *answers) {
    int t = threadIdx.x;
    int query = blockIdx.x;
    for (int level = 0; level < height; level++) {
        if (nodes[current[query]].keys[t] <= queries[query] && nodes[current[query]].keys[t + 1] > queries[query]) {
            if (nodes[next[query]].children[t] < node_count) {
                next[query] = nodes[next[query]].children[t];
            }
        }
        __syncthreads();
        if (t == 0) {
            current[query] = next[query];
        }
        __syncthreads();
    }
    if (nodes[current[query]].keys[t] == queries[query]) {
        answers[query] = records[nodes[current[query]].children[t]];
    }
}
