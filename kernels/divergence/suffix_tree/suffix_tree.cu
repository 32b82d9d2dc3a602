// suffix_tree finds for every place of a read the longest string from there on that is somewhere in a genome, with a suffix tree
// and its suffix links, a read a thread (as MUMmer does).
// Threads stand at nodes and inside edges of different lengths, and a match ends in many places ("suffix-tree" in "SIMD
// Re-Convergence At Thread Frontiers", section 5).
struct Node {
    int start; // where its edge's characters begin in the text
    int depth; // characters from the root
    int link;  // the node without the first character
    int children[4];
};

extern "C" __global__ void suffix_tree(const Node *tree, const unsigned char *text, const unsigned char *reads, int count,
                                       int length, unsigned char *longest) {
    int read = blockIdx.x * blockDim.x + threadIdx.x;
    if (read >= count) {
        return;
    }
    const unsigned char *s = reads + read * length;
    int node = 0, child = 0, matched = 0, depth = 0;
    for (int i = 0; i < length; i++) {
        // matched characters from i on are known to be in the text, depth of them down to the node.
        child = -1;
        while (depth < matched) {
            child = tree[node].children[s[i + depth]];
            int below = tree[child].depth;
            if (below > matched) {
                goto on_edge;
            }
            node = child;
            depth = below;
        }
        for (;;) {
            if (i + matched == length) {
                goto ended;
            }
            child = tree[node].children[s[i + matched]];
            if (child < 0) {
                goto ended;
            }
        on_edge:
            int below = tree[child].depth;
            const unsigned char *edge = text + tree[child].start;
            while (matched < below) {
                if (i + matched == length || edge[matched - depth] != s[i + matched]) {
                    goto ended;
                }
                matched++;
            }
            node = child;
            depth = below;
        }
    ended:
        longest[read * length + i] = matched;
        if (matched > 0) {
            matched--;
        }
        node = tree[node].link;
        depth = tree[node].depth;
    }
}
