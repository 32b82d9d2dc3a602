//go:build linux && (amd64 || arm64)

package cuda

import "testing"

// Structures that are passed by value and returned arrive from programs of every architecture.
func TestConventions(t *testing.T) {
	for name, calling := range conventions {
		t.Run(name, func(t *testing.T) {
			s := start(t, "a100")
			s.calling = calling
			one := newProcessClient(t, s)
			one.library = runtime13Library

			var channels [5]uint32
			at := pointer(&channels)
			if one.call("cudaCreateChannelDesc", at, 32, 0, 0, 0, channelFloat); channels != [5]uint32{32, 0, 0, 0, channelFloat} {
				t.Errorf("channels %v", channels)
			}
			var array, mipmaps, level uint64
			one.must("cudaMalloc3DArray", pointer(&array), at, 5, 6, 7, testSurface)
			var got struct {
				extent [3]uint64
				flags  uint32
			}
			one.must("cudaArrayGetInfo", 0, pointer(&got.extent), pointer(&got.flags), array)
			if got.extent != [3]uint64{5, 6, 7} || got.flags != testSurface {
				t.Errorf("array %+v", got)
			}
			one.must("cudaMallocMipmappedArray", pointer(&mipmaps), at, 8, 4, 0, 2, 0)
			one.must("cudaGetMipmappedArrayLevel", pointer(&level), mipmaps, 1)
			one.must("cudaArrayGetInfo", 0, pointer(&got.extent), 0, level)
			if got.extent != [3]uint64{4, 2, 0} {
				t.Errorf("the second level has extent %v", got.extent)
			}
			one.want(ErrInvalidValue, "cudaGetMipmappedArrayLevel", pointer(&level), mipmaps, 2)

			var memory [4]uint64
			one.must("cudaMalloc3D", pointer(&memory[0]), 16, 2, 1)
			one.must("cudaMemset3D", memory[0], memory[1], memory[2], memory[3], 7, 16, 2, 1)
			one.must("cudaMemset3DAsync", memory[0], memory[1], memory[2], memory[3], 9, 2, 1, 1, 0)
			one.want(ErrInvalidHandle, "cudaMemset3DAsync", memory[0], memory[1], memory[2], memory[3], 9, 2, 1, 1, 3)
			var bytes [4]byte
			one.must("cudaMemcpy", pointer(&bytes), memory[0], 4, 2)
			if bytes != [4]byte{9, 9, 7, 7} {
				t.Errorf("memory %v", bytes)
			}

			var handle shareHandle
			one.must("cudaIpcGetMemHandle", pointer(&handle), memory[0])
			two := newProcessClient(t, s)
			var opened uint64
			two.want(ErrInvalidValue, "cuIpcOpenMemHandle_v2", withHandle(&handle, pointer(&opened), 2)...)
			two.must("cuIpcOpenMemHandle_v2", withHandle(&handle, pointer(&opened), 1)...)
			two.must("cuMemcpyDtoH_v2", pointer(&bytes), opened+memory[1], 4)
			if bytes != [4]byte{7, 7, 7, 7} {
				t.Errorf("memory of the other process %v", bytes)
			}
		})
	}
}
