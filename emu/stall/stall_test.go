package stall

import "testing"

// TestReasons holds that every reason has a name of its own that is found again, and a class; and that every class but that of
// warps that issue has a reason.
func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	reached := map[Class]bool{None: true}
	for r := range NumReasons {
		if found, ok := ParseReason(r.String()); !ok || found != r {
			t.Errorf("%s is read as %s, %v", r, found, ok)
		}
		if seen[r.String()] || r.String() == "" {
			t.Errorf("%q is the name of two reasons or of none", r)
		}
		seen[r.String()] = true
		if (r.Class() == None) != (r == Selected) {
			t.Errorf("%s has class %s", r, r.Class())
		}
		reached[r.Class()] = true
	}
	for c := range NumClasses {
		if !reached[c] || c.String() == "" {
			t.Errorf("class %d, %q, has no reason", c, c)
		}
	}
	if NumReasons.String() != "invalid" || NumReasons.Class() != Other || NumClasses.String() != "invalid" {
		t.Error("what is no reason has a name or a class")
	}
	if _, ok := ParseReason("stalled"); ok {
		t.Error("a name that there is not is found")
	}
}

// TestClasses holds classes of NVIDIA's table of the metrics of nvprof, which have CUPTI's classes, and those of Nsight Compute.
func TestClasses(t *testing.T) {
	for name, class := range map[string]string{
		"barrier": "sync", "membar": "sync", "long_scoreboard": "memory_dependency", "short_scoreboard": "exec_dependency",
		"wait": "exec_dependency", "imc_miss": "constant_memory_dependency", "no_instructions": "inst_fetch",
		"math_pipe_throttle": "pipe_busy", "mio_throttle": "pipe_busy", "drain": "memory_throttle", "lg_throttle": "memory_throttle",
		"tex_throttle": "texture", "not_selected": "not_selected", "sleeping": "sleeping", "dispatch_stall": "other", "misc": "other",
	} {
		if r, ok := ParseReason(name); !ok || r.Class().String() != class {
			t.Errorf("%s has class %s, want %s", name, r.Class(), class)
		}
	}
}
