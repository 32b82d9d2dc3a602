package rewrite

import (
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/launch"
)

// A loop in which threads meet is cut only where all lanes of a warp leave it together: those that left one by one would wait
// behind the loop for others that wait for them in it.
func TestMeetings(t *testing.T) {
	for _, arch := range []string{"sm_70", "sm_80"} {
		module, err := cubin.Open("testdata/meeting." + arch + ".cubin")
		if err != nil {
			t.Fatal(err)
		}
		r, err := Restructure(module)
		if err != nil {
			t.Fatal(err)
		}
		changes := make(map[string]*Change)
		for i := range r.Changes {
			changes[r.Changes[i].Function] = &r.Changes[i]
		}
		if c := changes["by_value"]; c == nil || c.Err == nil || !strings.Contains(c.Err.Error(), "cannot be cut") {
			t.Errorf("%s: by_value: %+v", arch, c)
		}
		if c := changes["together"]; c == nil || c.Err != nil || c.Cuts == 0 {
			t.Errorf("%s: together: %+v", arch, c)
		}
		for _, kernel := range []string{"by_value", "together"} {
			if err := runMeeting(r.File, kernel); err != nil {
				t.Errorf("%s: %s: %v", arch, kernel, err)
			}
		}
	}
}

func runMeeting(module *cubin.File, kernel string) error {
	f, err := launch.Parse("meeting.yaml", []byte(`
module: meeting.cubin
buffers:
  out: {type: i32, shape: [64]}
  in: {type: i32, shape: [256], init: {uniform: [0, 100], seed: 1}}
launches:
  - {kernel: `+kernel+`, grid: [1], block: [64], args: [{buffer: out}, {buffer: in}, {i32: 20}]}
`), launch.OSDir("."))
	if err != nil {
		return err
	}
	_, err = execute(f, module, emu.Options{MaxInstructions: 1 << 20})
	return err
}
