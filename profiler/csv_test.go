package profiler

import (
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/emu/stall"
)

// Every stall reason has a column, the one that is written is recognised, and so are the names of the metrics.
func TestStallColumns(t *testing.T) {
	for r := range stall.NumReasons {
		if len(csvStalls[r]) == 0 {
			t.Errorf("%s has no column", r)
			continue
		}
		for _, c := range []struct {
			name    string
			latency bool
		}{
			{"stall_" + csvStalls[r][0], false},
			{"stall_" + csvStalls[r][0] + notIssued, true},
			{"smsp__pcsamp_warps_issue_stalled_" + r.String(), false},
			{"smsp__pcsamp_warps_issue_stalled_" + r.String() + "_not_issued", true},
		} {
			if got, latency, ok := stallColumn(c.name); !ok || got != r || latency != c.latency {
				t.Errorf("%s: %s, latency %v, %v", c.name, got, latency, ok)
			}
		}
	}
	if _, _, ok := stallColumn("Instructions Executed"); ok {
		t.Error("a counter was taken for a stall")
	}
}

// FuzzReadCSV holds that no file makes the reader panic, and that what it reads adds up.
func FuzzReadCSV(f *testing.F) {
	raw, err := cubin.ReadFile("../kernels/basic/vecadd/vecadd.sm_70.cubin")
	if err != nil {
		f.Fatal(err)
	}
	module, err := cubin.NewFile("vecadd.sm_70.cubin", raw)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`"Kernel Name","vecadd"` + "\nAddress,Source,# Samples,stall_long_sb\n0x0,\"IMAD\",\"1,234\",1234\n")
	f.Add("Address,Source\n0x10,\n")
	f.Add("==PROF== x\nPC,SASS,Instructions Executed,Instructions Executed\n/*0000*/,MOV,5,5\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadCSV(strings.NewReader(text), module, "")
		if err != nil {
			return
		}
		for _, l := range p.Launches {
			for _, s := range l.Samples {
				if s.Count < 0 || s.Latency < 0 || s.Latency > s.Count {
					t.Fatalf("%+v", s)
				}
			}
		}
	})
}
