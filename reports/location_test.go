package reports

import "testing"

// TestPlace tells files without the folders of who compiled them.
func TestPlace(t *testing.T) {
	for want, at := range map[string]Location{
		"saxpy.cu:6":     {File: "saxpy.cu", Line: 6},
		"lib/a.cuh:1":    {File: "lib/a.cuh", Line: 1},
		"app.cu:12":      {File: "/home/somebody/project/app.cu", Line: 12, PC: 16},
		"saxpy+0x0010":   {Function: "saxpy", PC: 16},
		"./near.cuh:120": {File: "./near.cuh", Line: 120},
	} {
		if got := at.place(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
