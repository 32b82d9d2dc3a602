// csr_pagerank takes a step of page rank on a graph in compressed rows, a warp a page: lanes gather the ranks of the pages
// that link here and divide them by their numbers of links; shuffles add them up.
extern "C" __global__ void csr_pagerank(const int *start, const int *source, const float *rank, const int *links, float *next, int pages, float damping) {
    int page = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (page >= pages) {
        return;
    }
    float sum = 0.0f;
    int end = start[page + 1];
    for (int i = start[page] + lane; i < end; i += 32) {
        int s = source[i];
        sum += __fdividef(rank[s], (float)links[s]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    }
    if (lane == 0) {
        next[page] = (1.0f - damping) / pages + damping * sum;
    }
}
