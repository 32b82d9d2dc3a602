/* Writes occupancy.tsv: what NVIDIA's cuda_occupancy.h (CUDA 12.9, package nvidia-cuda-runtime) says of many blocks on every
 * architecture that gpa has a model of. Build and run it with
 *     cc -I INCLUDE -o occupancy occupancy.c && ./occupancy > occupancy.tsv
 */
#include <stdint.h>
#include <stdio.h>
#include <cuda_occupancy.h>

#define LENGTH(a) (sizeof(a) / sizeof(*(a)))

static const struct {
	int major, minor, threads;
	size_t shared, block, reserved; /* KiB of an SM; KiB of a block at most; bytes that the driver takes */
} sm[] = {
	{7, 0, 2048, 96, 96, 0},     {7, 5, 1024, 64, 64, 0},    {8, 0, 2048, 164, 163, 1024},
	{8, 6, 1536, 100, 99, 1024}, {8, 9, 1536, 100, 99, 1024}, {9, 0, 2048, 228, 227, 1024},
};

static const int threads[] = {1, 32, 33, 64, 96, 128, 160, 192, 224, 256, 288, 320, 384, 416, 512, 576, 640, 736, 768, 896, 1000, 1024};
static const int registers[] = {16, 24, 25, 32, 33, 40, 41, 48, 56, 64, 65, 72, 80, 96, 97, 128, 129, 160, 168, 192, 200, 248, 255};
static const int shared[] = {0, 1, 127, 128, 1000, 1024, 2048, 4000, 4097, 7168, 8192, 10000, 16384, 20000, 24576, 31744, 32768,
	49152, 50000, 65536, 66000, 98304, 98305, 101376, 133120, 166912, 166913, 200000, 232448};
static const int barriers[] = {0, 1, 2, 3, 4, 8, 16};

static uint32_t state = 1;

static uint32_t below(uint32_t n) /* xorshift of 32 bits */
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % n;
}

int main(void)
{
	const int rows = 300;
	printf("sm\tthreads\tregisters\tshared\tbarriers\tblocks\n");
	for (size_t i = 0; i < LENGTH(sm); i++) {
		cudaOccDeviceProp p = {.computeMajor = sm[i].major, .computeMinor = sm[i].minor, .maxThreadsPerBlock = 1024,
			.maxThreadsPerMultiprocessor = sm[i].threads, .regsPerBlock = 65536, .regsPerMultiprocessor = 65536, .warpSize = 32,
			.sharedMemPerBlock = 48 << 10, .sharedMemPerMultiprocessor = sm[i].shared << 10, .numSms = 1,
			.sharedMemPerBlockOptin = sm[i].block << 10, .reservedSharedMemPerBlock = sm[i].reserved};
		cudaOccDeviceState s = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
		for (int row = 0; row < rows; row++) {
			int t = threads[below(LENGTH(threads))], r = registers[below(LENGTH(registers))];
			size_t bytes = shared[row % 2 ? below(LENGTH(shared)) : below(LENGTH(shared) / 2)];
			cudaOccFuncAttributes a = {.maxThreadsPerBlock = 1024, .numRegs = r, .sharedSizeBytes = 0,
				.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN, .maxDynamicSharedSizeBytes = bytes,
				.numBlockBarriers = barriers[below(LENGTH(barriers))]};
			cudaOccResult o;
			if (cudaOccMaxActiveBlocksPerMultiprocessor(&o, &p, &a, &s, t, bytes) != CUDA_OCC_SUCCESS)
				return 1;
			printf("%d\t%d\t%d\t%zu\t%d\t%d\n", sm[i].major * 10 + sm[i].minor, t, r, bytes, a.numBlockBarriers,
				o.activeBlocksPerMultiprocessor);
		}
	}
	return 0;
}
