package cuda

import "strings"

// Kernels of CuTe DSL (nvidia-cutlass-dsl 4.8) are launched by code that the DSL compiles for the host. It calls the runtime and the driver by functions
// of a library of its own, whose place CUTE_DSL_LIBS names: each takes what the function takes that it is named after.
const cuteName = "libcute_dsl_runtime.so"

// cuteFunctions are those functions, without the underscore that their names begin with.
const cuteFunctions = `
cuDeviceGet cuKernelGetAttribute cuLibraryGetGlobal cuLibraryGetKernel cuLibraryGetKernelCount cuLibraryGetManaged cuLibraryGetModule
cuLibraryGetUnifiedFunction cuLibraryLoadData cuLibraryLoadFromFile cuLibraryUnload cuTensorMapEncodeTiled cudaDeviceGetAttribute
cudaDeviceSynchronize cudaEventCreate cudaEventDestroy cudaEventElapsedTime cudaEventRecord cudaFree cudaFreeAsync cudaFreeHost cudaFuncSetAttribute
cudaGetDevice cudaGetDeviceCount cudaGetDeviceProperties cudaGraphDestroy cudaGraphExecDestroy cudaGraphInstantiate cudaGraphLaunch
cudaKernelSetAttributeForDevice cudaLaunchKernel cudaLibraryGetGlobal cudaLibraryGetKernel cudaLibraryGetKernelCount cudaLibraryGetManaged
cudaLibraryGetUnifiedFunction cudaLibraryLoadData cudaLibraryLoadFromFile cudaLibraryUnload cudaMalloc cudaMallocAsync cudaMallocHost
cudaMallocManaged cudaMemcpy cudaMemcpyAsync cudaMemset cudaMemsetAsync cudaOccupancyMaxActiveBlocksPerMultiprocessor cudaProfilerStart
cudaProfilerStop cudaSetDevice cudaStreamAddCallback cudaStreamBeginCapture cudaStreamCreate cudaStreamDestroy cudaStreamEndCapture
cudaStreamSynchronize cudaStreamWaitEvent
`

// cuteNames are the names in that library by the name of the function.
var cuteNames = func() map[string]string {
	names := map[string]string{"cudaLaunchKernelExC": "_cudaLaunchKernelEx", "cudaGetErrorName": "cuda_dialect_get_error_name"}
	for name := range strings.FieldsSeq(cuteFunctions) {
		names[name] = "_" + name
	}
	return names
}()
