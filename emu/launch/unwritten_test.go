package launch

import (
	"context"
	"slices"
	"testing"

	"gpa/emu"
	"gpa/emu/arch"
	"gpa/kernels"
)

// Only buffers that the file says nobody has written count as unwritten, but for the device addresses stored in them.
func TestUnwritten(t *testing.T) {
	saxpy, err := kernels.Open("saxpy")
	if err != nil {
		t.Fatal(err)
	}
	const text = `
module: saxpy.sm_70.cubin
buffers:
  zeros: {type: i32, shape: [8]}
  given: {type: i32, shape: [8], init: {zero: true}}
  none: {type: i32, shape: [8], init: {none: true}}
  links: {type: u64, shape: [4], init: {none: true}, pointers: [{at: 8, buffer: zeros}]}
launches:
  - {kernel: saxpy, grid: [1], block: [32]}
`
	file, err := Parse("launch.yaml", []byte(text), FSDir{saxpy})
	if err != nil {
		t.Fatal(err)
	}
	module, err := file.LoadModule(0)
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := arch.ByName("sm_70")
	if err != nil {
		t.Fatal(err)
	}
	machine, err := emu.New(gpu, module, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(context.Background(), file, machine)
	if err != nil {
		t.Fatal(err)
	}
	list := s.Unwritten()
	if len(list) != 2 || list[0].Name != "none" || list[0].Written != nil || list[1].Name != "links" ||
		!slices.Equal(list[1].Written, []uint64{list[1].Addr + 8}) {
		t.Errorf("unwritten: %+v", list)
	}
}

// A module's variables cannot be unwritten.
func TestUnwrittenSymbol(t *testing.T) {
	const text = `
module: a.cubin
symbols:
  x: {init: {none: true}}
launches:
  - {kernel: k, grid: [1], block: [32]}
`
	if _, err := Parse("launch.yaml", []byte(text), nil); err == nil {
		t.Error("no error")
	}
}
