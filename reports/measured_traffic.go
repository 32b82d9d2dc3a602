package reports

import (
	"fmt"
	"io"
	"math"

	"gpa/profiler"
)

// MeasuredTraffic is the bytes that a launch moved, as measured and as emulated: what the SMs asked L2 for, and what DRAM read and wrote. What is
// dirty in L2 at the end was not written.
type MeasuredTraffic struct {
	L2          MeasuredBytes `json:"l2"`
	DRAMRead    MeasuredBytes `json:"dram_read"`
	DRAMWritten MeasuredBytes `json:"dram_written"`
}

// MeasuredBytes are bytes as measured and as emulated.
type MeasuredBytes struct {
	Measured int64 `json:"measured"`
	Emulated int64 `json:"emulated"`
}

// A TrafficSummary adds the traffic of launches up: the mean of |emulated - measured| / measured over the launches with at least enoughBytes of it.
type TrafficSummary struct {
	L2Launches   int     `json:"l2_launches"`
	L2Error      float64 `json:"l2_error"`
	DRAMLaunches int     `json:"dram_launches"`
	DRAMError    float64 `json:"dram_error"` // of what was read and written together
}

// enoughBytes is from how many measured bytes on their error counts in the summary: in those of fewer are instructions, constants and what other
// units asked for.
const enoughBytes = 1 << 20

// trafficOf compares the traffic of two launches, where it was measured.
func trafficOf(measured, emulated *profiler.Facts) *MeasuredTraffic {
	if measured.L2Bytes+measured.DRAMReadBytes+measured.DRAMWrittenBytes == 0 {
		return nil
	}
	return &MeasuredTraffic{L2: MeasuredBytes{measured.L2Bytes, emulated.L2Bytes}, DRAMRead: MeasuredBytes{measured.DRAMReadBytes, emulated.DRAMReadBytes},
		DRAMWritten: MeasuredBytes{measured.DRAMWrittenBytes, emulated.DRAMWrittenBytes}}
}

// cells are the measured and the emulated bytes in MB, and how far the latter are off where that counts.
func (b MeasuredBytes) cells() []string {
	list := []string{significant(float64(b.Measured) / 1e6), significant(float64(b.Emulated) / 1e6), ""}
	if e, ok := b.off(); ok {
		list[2] = percent(e)
	}
	return list
}

// trafficText writes the traffic of launches as a table below that of their cycles, nothing where none was measured.
func trafficText(w io.Writer, x *MeasuredEvaluation, style Style) error {
	t := &Table{Style: style, Columns: []Column{{Title: "traffic in MB", Wrap: true}, {Title: "kernel", Width: 30}, {Title: "gpu"}}}
	for _, title := range []string{"L2", "DRAM read", "DRAM written"} {
		t.Columns = append(t.Columns, Column{Title: title, Right: true}, Column{Title: "emulated", Right: true}, Column{Title: "error", Right: true})
	}
	for i := range x.Launches {
		l := &x.Launches[i]
		if l.Traffic == nil {
			continue
		}
		row := []string{l.Name, l.Kernel, l.GPU}
		for _, b := range []MeasuredBytes{l.Traffic.L2, l.Traffic.DRAMRead, l.Traffic.DRAMWritten} {
			row = append(row, b.cells()...)
		}
		t.Add(row...)
	}
	if len(t.Rows) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return t.Render(w)
}

// off is how far the emulated bytes are from the measured ones; !ok where these are too few to tell.
func (b MeasuredBytes) off() (_ float64, ok bool) {
	if b.Measured < enoughBytes {
		return 0, false
	}
	return math.Abs(float64(b.Emulated-b.Measured)) / float64(b.Measured), true
}

// dram is all that DRAM moved.
func (t *MeasuredTraffic) dram() MeasuredBytes {
	return MeasuredBytes{t.DRAMRead.Measured + t.DRAMWritten.Measured, t.DRAMRead.Emulated + t.DRAMWritten.Emulated}
}

// sumTraffic adds the traffic of launches up, nil where none was measured.
func sumTraffic(launches []MeasuredLaunch) *TrafficSummary {
	s := new(TrafficSummary)
	for i := range launches {
		t := launches[i].Traffic
		if t == nil {
			continue
		}
		if e, ok := t.L2.off(); ok {
			s.L2Launches++
			s.L2Error += e
		}
		if e, ok := t.dram().off(); ok {
			s.DRAMLaunches++
			s.DRAMError += e
		}
	}
	if s.L2Launches+s.DRAMLaunches == 0 {
		return nil
	}
	s.L2Error, s.DRAMError = round(s.L2Error/float64(max(1, s.L2Launches)), 6), round(s.DRAMError/float64(max(1, s.DRAMLaunches)), 6)
	return s
}

// text tells the summary.
func (s *TrafficSummary) text() string {
	return fmt.Sprintf("bytes asked of L2 %s off on average (%d measured at 1 MiB or more), of DRAM %s (%d)", percent(s.L2Error), s.L2Launches, percent(s.DRAMError), s.DRAMLaunches)
}
