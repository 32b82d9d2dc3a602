package cubin_test

import (
	"testing"

	"gpa/cubin"
)

// TestOwnFrame holds that code of the toolkit's headers counts for the line that calls it.
func TestOwnFrame(t *testing.T) {
	for _, header := range []string{
		"/usr/local/cuda-12.9/targets/x86_64-linux/include/crt/math_functions.hpp", "/opt/cuda/include/cooperative_groups/details/reduce.h",
		"/opt/cuda/include/sm_30_intrinsics.hpp", "cuda_fp16.hpp", "cuda_bf16.h", "/usr/include/c++/12/cmath", "/opt/cuda/include/cub/block/block_load.cuh",
		"/opt/cuda/include/device_atomic_functions.hpp", "mma.hpp", "cuda/std/detail/libcxx/include/cmath/../cuda/std/x.h",
	} {
		stack := []cubin.Frame{{File: header, Line: 12}, {File: header, Line: 3}, {File: "src/cuda_utils.cuh", Line: 7}, {File: "src/softmax.cu", Line: 40}}
		if got := cubin.OwnFrame(stack); got != 2 {
			t.Errorf("%s: frame %d", header, got)
		}
		if got := cubin.OwnFrame(stack[:2]); got != 0 {
			t.Errorf("%s alone: frame %d", header, got)
		}
	}
	for _, own := range []string{"kernels/reduce.cu", "include/mma_tiles.h", "math.cuh", "cuda_utils.h", "/home/u/cubes/a.cu"} {
		if cubin.OfToolkit(own) {
			t.Errorf("%s counts as the toolkit's", own)
		}
	}
}
