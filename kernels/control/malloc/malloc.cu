// malloc builds linked lists on the device's heap and frees them; a block's first thread also allocates for all others.
// Allocation is a call of the system's, and the nodes lie where the heap puts them.
struct Node {
    Node *next;
    int value;
};

extern "C" __global__ void malloc_lists(const int *lengths, int n, int *sums, int *block_sums) {
    __shared__ int *shared_values;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) {
        shared_values = (int *)malloc(blockDim.x * sizeof(int));
    }
    Node *head = nullptr;
    int length = i < n ? lengths[i] : 0;
    for (int k = 0; k < length; k++) {
        Node *node = (Node *)malloc(sizeof(Node));
        if (node == nullptr) {
            break;
        }
        node->next = head;
        node->value = i + k * k;
        head = node;
    }
    int sum = 0, weight = 1;
    while (head != nullptr) {
        Node *node = head;
        sum += weight++ * node->value; // the last one made counts once, the one before it twice
        head = node->next;
        free(node);
    }
    if (i < n) {
        sums[i] = sum;
    }
    __syncthreads();
    shared_values[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int k = 0; k < blockDim.x; k++) {
            total += shared_values[k];
        }
        block_sums[blockIdx.x] = total;
        free(shared_values);
    }
}
