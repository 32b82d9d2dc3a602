//go:build linux && (amd64 || arm64)

package cuda

import "testing"

// Memory is mapped to reserved addresses, one piece behind the other, and moves with what it holds.
func TestVirtualMemory(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.context()
	const n = granularity / 4
	var free, total, before uint64
	c.must("cuMemGetInfo_v2", pointer(&before), pointer(&total))
	var base uint64
	c.must("cuMemAddressReserve", pointer(&base), 3*granularity, 0, 0, 0)
	prop := [8]uint32{1, 0, 1, 0}
	var handles [2]uint64
	for i := range handles {
		c.must("cuMemCreate", pointer(&handles[i]), granularity, pointer(&prop), 0)
		c.must("cuMemMap", base+uint64(i)*granularity, granularity, 0, handles[i], 0)
	}
	c.must("cuMemGetInfo_v2", pointer(&free), pointer(&total))
	if before-free != 2*granularity {
		t.Errorf("%d bytes are taken", before-free)
	}
	f := c.function(saxpyFile, "saxpy")
	access := [3]uint32{1, 0, accessReadWrite}
	c.want(ErrInvalidValue, "cuMemSetAccess", base, 3*granularity, pointer(&access), 1) // the last third is not mapped
	c.must("cuMemSetAccess", base, 2*granularity, pointer(&access), 1)
	c.must("cuMemsetD32_v2", base, 0x3f800000, 2*n)                           // ones, through both
	args := saxpyArguments{n: 64, a: 2, x: base, y: base + granularity - 128} // from the first into the second
	if r := c.launch(f, 1, 64, args.list()...); r != Success {
		t.Fatal(r)
	}
	c.must("cuCtxSynchronize")
	if got := c.read(base+granularity-128, 64); got[0] != 3 || got[63] != 3 {
		t.Errorf("%g", got)
	}
	c.want(ErrNotSupported, "cuMemMap", base+2*granularity, granularity, 0, handles[0], 0) // it is mapped elsewhere
	c.must("cuMemUnmap", base+granularity, granularity)
	c.must("cuMemMap", base+2*granularity, granularity, 0, handles[1], 0)
	c.must("cuMemSetAccess", base+2*granularity, granularity, pointer(&access), 1)
	if got := c.read(base+2*granularity, 64); got[0] != 3 || got[63] != 1 {
		t.Errorf("%g", got)
	}
	c.want(ErrInvalidValue, "cuMemcpyDtoD_v2", base, base+granularity, 4) // nothing is mapped there
	c.want(ErrInvalidValue, "cuMemFree_v2", base)
	c.want(ErrInvalidValue, "cuMemAddressFree", base, 3*granularity)
	for i := range handles {
		c.must("cuMemRelease", handles[i])
		c.must("cuMemUnmap", base+2*uint64(i)*granularity, granularity)
	}
	c.must("cuMemAddressFree", base, 3*granularity)
	c.must("cuMemGetInfo_v2", pointer(&free), pointer(&total))
	if free != before {
		t.Errorf("%d bytes are free, %d before", free, before)
	}
	// Kernels no longer reach it.
	c.launch(f, 1, 64, args.list()...)
	c.want(ErrIllegalAddress, "cuCtxSynchronize")
}
