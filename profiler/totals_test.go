package profiler

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/emu/stall"
)

// figure1 is the schedule of Figure 1 of the GPA paper: six samples of one SM, those at N, 4N and 6N taken while the
// scheduler issued nothing; only the one at 2N found its own warp issuing.
func figure1() *Launch {
	return &Launch{Samples: Collect([]Sample{
		{PC: 0, Reason: stall.LongScoreboard, Count: 1, Latency: 1},   // N
		{PC: 16, Reason: stall.Selected, Count: 1},                    // 2N
		{PC: 0, Reason: stall.LongScoreboard, Count: 1},               // 3N
		{PC: 32, Reason: stall.ShortScoreboard, Count: 1, Latency: 1}, // 4N
		{PC: 16, Reason: stall.NotSelected, Count: 1},                 // 5N
		{PC: 32, Reason: stall.Barrier, Count: 1, Latency: 1},         // 6N
	})}
}

func TestTotalsOfFigure1(t *testing.T) {
	totals := figure1().Totals()
	if totals.Samples != 6 || totals.Active != 3 || totals.Latency != 3 || totals.Stalls() != 5 {
		t.Errorf("got %d samples, %d active, %d latency, %d stalls; want 6, 3, 3, 5",
			totals.Samples, totals.Active, totals.Latency, totals.Stalls())
	}
	if totals.StallRatio() != 0.5 || totals.ActiveRatio() != 0.5 {
		t.Errorf("stall ratio %v, active ratio %v, want 3/6 for both", totals.StallRatio(), totals.ActiveRatio())
	}
	if got := totals.LatencyByReason[stall.LongScoreboard]; got != 1 {
		t.Errorf("%d latency samples with long_scoreboard, want 1", got)
	}
	want := []stall.Reason{
		stall.LongScoreboard, stall.Selected, stall.NotSelected, stall.ShortScoreboard, stall.Barrier,
	}
	if diff := cmp.Diff(want, totals.Ranked()); diff != "" {
		t.Errorf("reasons by frequency (-want +got):\n%s", diff)
	}
}

func TestEmptyTotals(t *testing.T) {
	totals := new(Launch).Totals()
	if totals.StallRatio() != 0 || totals.ActiveRatio() != 0 || totals.Ranked() != nil {
		t.Errorf("no samples give stall ratio %v, active ratio %v, reasons %v",
			totals.StallRatio(), totals.ActiveRatio(), totals.Ranked())
	}
}

func TestCollect(t *testing.T) {
	known := Producer{Known: true, PC: 16}
	got := Collect([]Sample{
		{PC: 32, Reason: stall.Wait, Count: 2, Latency: 1},
		{PC: 16, Reason: stall.Wait, Count: 1},
		{PC: 32, Reason: stall.LongScoreboard, Count: 1, Producer: known},
		{PC: 32, Reason: stall.LongScoreboard, Count: 1},
		{PC: 48, Reason: stall.Wait},
		{PC: 32, Reason: stall.Wait, Count: 3, Latency: 3},
		{Code: 1, PC: 0, Reason: stall.Wait, Count: 1},
	})
	want := []Sample{
		{PC: 16, Reason: stall.Wait, Count: 1},
		{PC: 32, Reason: stall.Wait, Count: 5, Latency: 4},
		{PC: 32, Reason: stall.LongScoreboard, Count: 1},
		{PC: 32, Reason: stall.LongScoreboard, Count: 1, Producer: known},
		{Code: 1, PC: 0, Reason: stall.Wait, Count: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("collected samples (-want +got):\n%s", diff)
	}
}

func TestAt(t *testing.T) {
	l := figure1()
	if got := l.At(0, 16); len(got) != 2 || got[0].Reason != stall.Selected || got[1].Reason != stall.NotSelected {
		t.Errorf("samples at 0x10: %v", got)
	}
	if got := l.At(0, 48); len(got) != 0 {
		t.Errorf("samples where none were taken: %v", got)
	}
	if got := l.At(1, 16); len(got) != 0 {
		t.Errorf("samples of another section: %v", got)
	}
}

func TestCounter(t *testing.T) {
	l := &Launch{PCs: []Counter{{PC: 16, Executions: 3}, {Code: 1, PC: 0, Executions: 4}}}
	if c, ok := l.Counter(1, 0); !ok || c.Executions != 4 {
		t.Errorf("got %v, %v", c, ok)
	}
	if c, ok := l.Counter(0, 0); ok {
		t.Errorf("an instruction that did not execute has counters: %v", c)
	}
}

func TestSeconds(t *testing.T) {
	f := Facts{Cycles: 1380, ClockHz: 1380e6}
	if got := f.Seconds(); got != 1e-6 {
		t.Errorf("1380 cycles at 1380 MHz are %v s, want 1e-6", got)
	}
	if got := (&Facts{Cycles: 5}).Seconds(); got != 0 {
		t.Errorf("without a clock the time is %v, want 0 for unknown", got)
	}
}
