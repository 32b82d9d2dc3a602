package launch

import (
	"encoding/binary"
	"math"
	"testing"

	"gpa/emu"
	"gpa/emu/arch"
)

// TestTensorTimes holds products whose sums are in tensor memory against what was measured on a B200 (SemiAnalysis microbench-blackwell, cycles
// with the wait for them): one product with A in shared memory, each further one, and one with A in tensor memory.
func TestTensorTimes(t *testing.T) {
	model, err := arch.ByName("b200")
	if err != nil {
		t.Fatal(err)
	}
	s := openOn(t, "../../kernels/blackwell/tensor_memory/launch.times.yaml", model, emu.Options{Timing: emu.TimingFull})
	runAll(t, s)
	data, err := s.read(s.buffers["cycles"])
	if err != nil {
		t.Fatal(err)
	}
	cycles := func(i int) float64 { return float64(binary.LittleEndian.Uint32(data[4*i:])) }
	const within = .1
	for i, p := range []struct {
		rows, columns       int
		one, next, inTensor float64
	}{
		{64, 64, 152, 32, 136}, {64, 128, 184, 64, 168}, {64, 256, 248, 128, 232},
		{128, 64, 168, 48, 136}, {128, 128, 200, 64, 168}, {128, 256, 264, 128, 232},
	} {
		one := cycles(3 * i)
		for _, x := range []struct {
			what      string
			got, want float64
		}{{"one", one, p.one}, {"each further one", (cycles(3*i+1) - one) / 32, p.next}, {"one with A in tensor memory", cycles(3*i + 2), p.inTensor}} {
			t.Logf("%dx%d, %s: %.0f cycles, %.0f measured", p.rows, p.columns, x.what, x.got, x.want)
			if math.Abs(x.got/x.want-1) > within {
				t.Errorf("%dx%d, %s: %.0f cycles, %.0f measured", p.rows, p.columns, x.what, x.got, x.want)
			}
		}
	}
}
