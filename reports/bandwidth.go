package reports

import (
	"fmt"
	"strings"

	"gpa/profiler"
)

// Bandwidth is what a launch asked of the memories, in bytes a second of device time. What the source of the profile does not
// tell is 0.
type Bandwidth struct {
	L1       float64 `json:"l1_requests,omitempty"` // sectors of 32 bytes that accesses to global memory asked L1 for
	L1Needed float64 `json:"l1_needed,omitempty"`   // share of them that the bytes used would fill
	L2       float64 `json:"l2,omitempty"`
	DRAM     float64 `json:"dram,omitempty"`
	Peak     float64 `json:"dram_peak,omitempty"` // by the GPU's data sheet
}

// bandwidthOf returns the bandwidths of a launch; nil where its time is not known or only part of it ran.
func bandwidthOf(l *profiler.Launch) *Bandwidth {
	f := &l.Facts
	seconds := f.Seconds()
	if seconds == 0 || f.Extrapolated {
		return nil
	}
	b := Bandwidth{L2: float64(f.L2Bytes) / seconds, DRAM: float64(f.DRAMReadBytes+f.DRAMWrittenBytes) / seconds}
	if sectors, ideal := l.GlobalSectors(); sectors > 0 {
		b.L1, b.L1Needed = 32*float64(sectors)/seconds, float64(ideal)/float64(sectors)
	}
	if b == (Bandwidth{}) {
		return nil
	}
	b.Peak = f.DRAMPeak
	return &b
}

// rounded has no more digits than mean something.
func (b *Bandwidth) rounded() *Bandwidth {
	if b == nil {
		return nil
	}
	return &Bandwidth{L1: round(b.L1, 0), L1Needed: round(b.L1Needed, 6), L2: round(b.L2, 0), DRAM: round(b.DRAM, 0), Peak: b.Peak}
}

// parts tells the bandwidths in words, from DRAM up.
func (b *Bandwidth) parts() []string {
	var list []string
	if b.DRAM > 0 || b.Peak > 0 && b.L2 > 0 {
		share := ""
		if b.Peak > 0 {
			share = fmt.Sprintf(" (%s of the peak)", percent(b.DRAM/b.Peak))
		}
		list = append(list, "DRAM "+gigabytes(b.DRAM)+share)
	}
	if b.L2 > 0 {
		list = append(list, "L2 "+gigabytes(b.L2))
	}
	if b.L1 > 0 {
		list = append(list, fmt.Sprintf("L1 %s (%s of the sectors needed)", gigabytes(b.L1), percent(b.L1Needed)))
	}
	return list
}

func gigabytes(perSecond float64) string { return significant(perSecond/1e9) + " GB/s" }

// bandwidthText is all bandwidths in one line; empty where none is known.
func bandwidthText(l *profiler.Launch) string {
	b := bandwidthOf(l)
	if b == nil {
		return ""
	}
	return strings.Join(b.parts(), ", ")
}
