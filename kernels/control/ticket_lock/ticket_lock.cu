// ticket_lock guards a counter of each block by a ticket lock that the 32 lanes of one warp contend for.
// The lane that holds the lock must get to run while its neighbours spin: independent thread scheduling, as Volta brought
// it, completes; a machine that follows one side of a branch until it joins the other waits forever.
extern "C" __global__ void ticket_lock(int rounds, int *balances, int *holders) {
    __shared__ unsigned tickets;
    __shared__ volatile unsigned serving;
    __shared__ volatile int balance;
    int lane = threadIdx.x;
    if (lane == 0) {
        tickets = 0;
        serving = 0;
        balance = 0;
    }
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        unsigned ticket = atomicAdd(&tickets, 1u);
        while (serving != ticket) {
        }
        balance = balance + lane + 1; // a load and a store: only the lock makes them one
        holders[blockIdx.x * rounds * 32 + ticket] += 1;
        __threadfence_block();
        serving = ticket + 1;
    }
    __syncthreads();
    if (lane == 0) {
        balances[blockIdx.x] = balance;
    }
}
