package profiler

import (
	"strings"

	"gpa/emu/stall"
)

// Nsight Compute's source page as CSV (ncu --csv --page source --print-source sass): for each launch a line with the kernel's
// name, a header, and a row for each instruction. Columns are found by their names, of which there are several generations.

// A csvField is what a column tells of an instruction.
type csvField uint8

const (
	csvAddress csvField = iota
	csvSource
	csvSamples
	csvLatency
	csvExecutions
	csvThreads
	csvSectors
	csvSectorsIdeal
	csvWavefronts
	csvWavefrontsIdeal
	csvLine // of print-source cuda,sass: the number of a CUDA row
	numCSVFields
)

// csvColumns are the names of the columns, the newest first, which is the one that is written. The second column of the name
// Instructions Executed repeats the first.
var csvColumns = [numCSVFields][]string{
	csvAddress:         {"Address", "PC"},
	csvSource:          {"Source", "SASS"},
	csvSamples:         {"Warp Stall Sampling (All Samples)", "Warp Stall Sampling (All Cycles)", "Sampling Data (All)", "# Samples", "smsp__pcsamp_sample_count"},
	csvLatency:         {"Warp Stall Sampling (Not-issued Samples)", "Warp Stall Sampling (Not-issued Cycles)", "Sampling Data (Not Issued)"},
	csvExecutions:      {"Instructions Executed", "inst_executed", "smsp__inst_executed"},
	csvThreads:         {"Predicated-On Thread Instructions Executed", "thread_inst_executed_true", "Thread Instructions Executed", "thread_inst_executed"},
	csvSectors:         {"L2 Theoretical Sectors Global", "memory_l2_theoretical_sectors_global"},
	csvSectorsIdeal:    {"L2 Theoretical Sectors Global Ideal", "memory_l2_theoretical_sectors_global_ideal"},
	csvWavefronts:      {"L1 Wavefronts Shared", "memory_l1_wavefronts_shared"},
	csvWavefrontsIdeal: {"L1 Wavefronts Shared Ideal", "memory_l1_wavefronts_shared_ideal"},
	csvLine:            {"Line No"},
}

// csvStalls are the names of the stall columns after stall_, as the page shows them; the metrics have the hardware's own.
var csvStalls = [stall.NumReasons][]string{
	stall.Selected: {"selected"}, stall.NotSelected: {"not_selected"}, stall.Wait: {"wait"}, stall.LongScoreboard: {"long_sb"},
	stall.ShortScoreboard: {"short_sb"}, stall.Barrier: {"barrier"}, stall.Membar: {"membar"}, stall.NoInstructions: {"no_inst", "no_instruction"},
	stall.BranchResolving: {"branch_resolving"}, stall.ImcMiss: {"imc"}, stall.MathPipeThrottle: {"math"}, stall.MioThrottle: {"mio"},
	stall.LgThrottle: {"lg"}, stall.TexThrottle: {"tex"}, stall.Drain: {"drain"}, stall.DispatchStall: {"dispatch"},
	stall.Sleeping: {"sleeping", "sleep"}, stall.Misc: {"misc"}, stall.GMMA: {"gmma"},
}

const notIssued = " (Not Issued)"

// stallColumn recognises a stall column; latency says that it counts the samples in whose cycle nothing was issued.
func stallColumn(name string) (r stall.Reason, latency, ok bool) {
	name, latency = strings.CutSuffix(name, notIssued)
	for _, prefix := range []string{"stall_", "smsp__pcsamp_warps_issue_stalled_"} {
		short, found := strings.CutPrefix(name, prefix)
		if !found {
			continue
		}
		if plain, cut := strings.CutSuffix(short, "_not_issued"); cut {
			short, latency = plain, true
		}
		for r := range stall.NumReasons {
			if r.String() == short {
				return r, latency, true
			}
			for _, alias := range csvStalls[r] {
				if alias == short {
					return r, latency, true
				}
			}
		}
	}
	return 0, false, false
}
