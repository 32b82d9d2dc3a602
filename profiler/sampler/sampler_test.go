package sampler

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/emu"
	"gpa/emu/stall"
	"gpa/profiler"
)

// A scriptedSM is an SM whose state is written down by the test: a list of warps for each scheduler.
type scriptedSM struct {
	sm     int
	warps  [][]emu.WarpState
	issued []bool // by scheduler
	asked  []int  // the schedulers of which a warp was looked at, in order
}

func (s *scriptedSM) SM() int                 { return s.sm }
func (s *scriptedSM) Schedulers() int         { return len(s.warps) }
func (s *scriptedSM) Warps(scheduler int) int { return len(s.warps[scheduler]) }
func (s *scriptedSM) Issued(scheduler int) bool {
	return scheduler < len(s.issued) && s.issued[scheduler]
}

func (s *scriptedSM) Warp(scheduler, i int) emu.WarpState {
	s.asked = append(s.asked, scheduler)
	return s.warps[scheduler][i]
}

// waiting returns an SM whose schedulers hold as many warps as counts says, the i-th of them at pc 16·i.
func waiting(counts ...int) *scriptedSM {
	s := &scriptedSM{warps: make([][]emu.WarpState, len(counts))}
	for scheduler, n := range counts {
		for i := range n {
			s.warps[scheduler] = append(s.warps[scheduler], emu.WarpState{PC: uint64(16 * i), Reason: stall.Wait})
		}
	}
	return s
}

func newSampler(t *testing.T, o Options) *Sampler {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run samples the SM for a number of periods as the emulator would.
func run(s *Sampler, sm *scriptedSM, end int64) {
	for cycle := s.NextSample(sm.sm, 0); cycle <= end; cycle = s.NextSample(sm.sm, cycle+1) {
		s.Sample(sm, cycle)
	}
}

func TestNewRejectsPeriods(t *testing.T) {
	for _, period := range []int{-32, 1, 16, 33, 48, 1 << 32} {
		if _, err := New(Options{Period: period}); err == nil {
			t.Errorf("period %d is taken", period)
		}
	}
	for n := 5; n <= 31; n++ {
		if s := newSampler(t, Options{Period: 1 << n}); s.Period() != 1<<n {
			t.Errorf("period 2^%d becomes %d", n, s.Period())
		}
	}
}

func TestNextSample(t *testing.T) {
	s := newSampler(t, Options{Period: 64})
	for _, c := range []struct{ cycle, want int64 }{{0, 64}, {1, 64}, {63, 64}, {64, 64}, {65, 128}, {1000, 1024}} {
		if got := s.NextSample(0, c.cycle); got != c.want {
			t.Errorf("after cycle %d the next sample is at %d, want %d", c.cycle, got, c.want)
		}
	}
}

// The schedule of Figure 1 of the GPA paper: six periods of an SM with four schedulers, of one warp each; N, 4N and 6N
// give latency samples, all but 2N a stall.
func TestFigure1(t *testing.T) {
	const period = 32
	script := []struct {
		scheduler int // whose turn it is
		issued    bool
		reason    stall.Reason
	}{
		{0, false, stall.LongScoreboard},
		{1, true, stall.Selected},
		{2, true, stall.NotSelected},
		{3, false, stall.ShortScoreboard},
		{0, true, stall.NotSelected},
		{1, false, stall.Barrier},
	}
	s := newSampler(t, Options{Period: period})
	for i, step := range script {
		sm := waiting(1, 1, 1, 1)
		sm.issued = make([]bool, 4)
		sm.issued[step.scheduler] = step.issued
		sm.warps[step.scheduler][0] = emu.WarpState{PC: 16, Reason: step.reason}
		s.Sample(sm, int64(i+1)*period)
		if !slices.Equal(sm.asked, []int{step.scheduler}) {
			t.Fatalf("sample %d looks at schedulers %v, want %d", i+1, sm.asked, step.scheduler)
		}
	}
	l := &profiler.Launch{Samples: s.Samples()}
	totals := l.Totals()
	if totals.Samples != 6 || totals.Active != 3 || totals.Latency != 3 || totals.Stalls() != 5 {
		t.Errorf("got %d samples, %d active, %d latency, %d stalls; want 6, 3, 3, 5",
			totals.Samples, totals.Active, totals.Latency, totals.Stalls())
	}
	if totals.StallRatio() != 3.0/6 || totals.ActiveRatio() != 3.0/6 {
		t.Errorf("stall ratio %v, active ratio %v, want 3/6", totals.StallRatio(), totals.ActiveRatio())
	}
}

func TestSchedulersTakeTurns(t *testing.T) {
	cases := []struct {
		name  string
		warps []int
		want  []int
	}{
		{"all busy", []int{2, 2, 2, 2}, []int{0, 1, 2, 3, 0, 1, 2, 3}},
		{"one passed over", []int{1, 0, 1, 1}, []int{0, 2, 3, 0, 2, 3, 0, 2}},
		{"two passed over", []int{1, 1, 0, 0}, []int{0, 1, 0, 1, 0, 1, 0, 1}},
		{"a single one", []int{0, 0, 1, 0}, []int{2, 2, 2, 2, 2, 2, 2, 2}},
		{"no warp at all", []int{0, 0, 0, 0}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, sm := newSampler(t, Options{Period: 32}), waiting(c.warps...)
			run(s, sm, 8*32)
			if !slices.Equal(sm.asked, c.want) {
				t.Errorf("schedulers sampled: %v, want %v", sm.asked, c.want)
			}
		})
	}
}

func TestSMsTakeTurnsByThemselves(t *testing.T) {
	s := newSampler(t, Options{Period: 32})
	first, other := waiting(1, 1, 1, 1), waiting(1, 1, 1, 1)
	other.sm = 5
	run(s, first, 3*32)
	run(s, other, 2*32)
	if !slices.Equal(other.asked, []int{0, 1}) {
		t.Errorf("another SM begins with scheduler %v", other.asked)
	}
}

// However often every second period is dropped, each scheduler that holds warps keeps its share of the rest.
func TestThinnedTurnsAreFair(t *testing.T) {
	for _, warps := range [][]int{{1, 1, 1, 1}, {1, 1, 0, 1}, {0, 1, 0, 1}, {1, 1, 0, 0}, {0, 0, 1, 0}} {
		for shift := range 6 {
			t.Run(fmt.Sprintf("%v dropped %d times", warps, shift), func(t *testing.T) {
				seen := make([]int, len(warps))
				for period := range int64(24) {
					scheduler, ok := thinnedTurn(warps, (period+12)<<shift)
					if !ok || warps[scheduler] == 0 {
						t.Fatalf("scheduler %d, %v", scheduler, ok)
					}
					seen[scheduler]++
				}
				busy := slices.Max(seen)
				for scheduler, n := range seen {
					if want := busy * warps[scheduler]; n != want {
						t.Errorf("scheduler %d is sampled %d times of 24, want %d", scheduler, n, want)
					}
				}
			})
		}
	}
	if _, ok := thinnedTurn([]int{0, 0, 0, 0}, 1); ok {
		t.Error("an SM without warps gives a sample")
	}
}

// The warps of a scheduler are drawn with equal chances: Pearson's statistic stays below the value that chance exceeds
// once in a thousand times.
func TestWarpsAreDrawnUniformly(t *testing.T) {
	const warps, draws, critical = 16, 16000, 37.70 // chi-squared, 15 degrees of freedom
	for seed := range uint64(4) {
		var seen [warps]float64
		for i := range int64(draws) {
			seen[draw(seed, int(i%80), 32*i, warps)]++
		}
		var statistic float64
		for _, n := range seen {
			statistic += (n - draws/warps) * (n - draws/warps) / (draws / warps)
		}
		if statistic > critical {
			t.Errorf("seed %d: chi-squared %.1f, more than %.1f", seed, statistic, critical)
		}
	}
}

func TestSeedChangesTheDraw(t *testing.T) {
	sample := func(seed uint64) []profiler.Sample {
		s := newSampler(t, Options{Period: 32, Seed: seed})
		run(s, waiting(16, 16, 16, 16), 100*32)
		return s.Samples()
	}
	if diff := cmp.Diff(sample(1), sample(1)); diff != "" {
		t.Errorf("the same seed gives other samples:\n%s", diff)
	}
	if cmp.Equal(sample(1), sample(2)) {
		t.Error("another seed gives the same samples")
	}
}

// stamped is an SM whose only warp stands at a pc that tells the cycle.
func stamped(sm int, cycle int64) *scriptedSM {
	return &scriptedSM{sm: sm, warps: [][]emu.WarpState{{{PC: uint64(cycle) * 16, Reason: stall.Wait}}}}
}

func TestPeriodDoublesAndKeepsEverySecond(t *testing.T) {
	s := newSampler(t, Options{})
	for i := range int64(maxHeld) {
		s.Sample(stamped(0, (i+1)*MinPeriod), (i+1)*MinPeriod)
	}
	if s.Period() != MinPeriod || len(s.samples) != maxHeld {
		t.Fatalf("%d samples are held at period %d, want %d at %d", len(s.samples), s.Period(), maxHeld, MinPeriod)
	}
	s.Sample(stamped(0, (maxHeld+1)*MinPeriod), (maxHeld+1)*MinPeriod)
	if s.Period() != 2*MinPeriod || len(s.samples) != maxHeld/2 {
		t.Fatalf("one more leaves %d samples at period %d, want %d at %d",
			len(s.samples), s.Period(), maxHeld/2, 2*MinPeriod)
	}
	for i, kept := range s.Samples() {
		if want := uint64(i+1) * 2 * MinPeriod * 16; kept.PC != want || kept.Count != 1 {
			t.Fatalf("sample %d was taken at cycle %d, want %d", i, kept.PC/16, want/16)
		}
	}
	if next := s.NextSample(0, (maxHeld+1)*MinPeriod); next != (maxHeld+2)*MinPeriod {
		t.Errorf("the next sample is at %d, want %d", next, (maxHeld+2)*MinPeriod)
	}
}

// The automatic period must not depend on the order in which SMs are advanced: here one after another, and all of them
// period by period.
func TestAutomaticPeriodIgnoresTheOrderOfSMs(t *testing.T) {
	const sms, periods = 7, 5000
	bySM, byCycle := newSampler(t, Options{}), newSampler(t, Options{})
	for sm := range sms {
		for i := range int64(periods) {
			bySM.Sample(stamped(sm, (i+1)*MinPeriod), (i+1)*MinPeriod)
		}
	}
	for i := range int64(periods) {
		for sm := range sms {
			byCycle.Sample(stamped(sm, (i+1)*MinPeriod), (i+1)*MinPeriod)
		}
	}
	if bySM.Period() != byCycle.Period() {
		t.Errorf("periods %d and %d", bySM.Period(), byCycle.Period())
	}
	if diff := cmp.Diff(bySM.Samples(), byCycle.Samples()); diff != "" {
		t.Errorf("samples differ by the order of SMs:\n%s", diff)
	}
}

// Samples of a whole launch obey n = SM active cycles / period at any period.
func TestOneSampleAPeriod(t *testing.T) {
	for _, period := range []int{0, 32, 1024} {
		s := newSampler(t, Options{Period: period})
		var active int64
		for sm := range 4 {
			end := int64(70000 + 1000*sm)
			active += end
			run(s, &scriptedSM{sm: sm, warps: waiting(3, 3, 3, 3).warps}, end)
		}
		l := &profiler.Launch{Samples: s.Samples(), Period: s.Period()}
		l.Facts = profiler.Facts{SMActiveCycles: active, SMs: 4}
		if err := l.CheckSampling(0); err != nil {
			t.Errorf("period %d: %v", period, err)
		}
	}
}

func TestSampleKeepsTheProducer(t *testing.T) {
	s := newSampler(t, Options{Period: 32})
	state := emu.WarpState{
		Code: 1, PC: 64, Reason: stall.LongScoreboard, HasProducer: true, ProducerCode: 1, ProducerPC: 32,
	}
	sm := &scriptedSM{warps: [][]emu.WarpState{{state}}, issued: []bool{true}}
	s.Sample(sm, 32)
	sm.issued[0] = false
	s.Sample(sm, 64)
	want := []profiler.Sample{{
		Code: 1, PC: 64, Reason: stall.LongScoreboard, Count: 2, Latency: 1,
		Producer: profiler.Producer{Known: true, Code: 1, PC: 32},
	}}
	if diff := cmp.Diff(want, s.Samples()); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
}

func TestBeginForgets(t *testing.T) {
	for _, c := range []struct{ period, first int }{{0, 1}, {32, 0}} { // first: the scheduler sampled at cycle 32
		s := newSampler(t, Options{Period: c.period})
		run(s, waiting(1, 1, 1, 1), 100*32)
		s.Begin(nil)
		if got := s.Samples(); len(got) != 0 || s.Period() != 32 {
			t.Errorf("period %d: %d samples are left at period %d", c.period, len(got), s.Period())
		}
		sm := waiting(1, 1, 1, 1)
		run(s, sm, 32)
		if !slices.Equal(sm.asked, []int{c.first}) {
			t.Errorf("period %d: the next launch begins with schedulers %v, want %d", c.period, sm.asked, c.first)
		}
	}
}

func TestPeriodStopsAtTheLargest(t *testing.T) {
	s := newSampler(t, Options{})
	s.period = MaxPeriod
	s.samples = make([]sample, maxHeld+1)
	s.thin()
	if s.period != MaxPeriod || len(s.samples) != maxHeld+1 {
		t.Errorf("period %d, %d samples", s.period, len(s.samples))
	}
	if got := draw(math.MaxUint64, math.MaxInt, math.MaxInt64, 1); got != 0 {
		t.Errorf("a draw from one warp gives %d", got)
	}
}

func BenchmarkSample(b *testing.B) {
	for _, period := range []int{0, 32} {
		b.Run(fmt.Sprintf("period=%d", period), func(b *testing.B) {
			s, err := New(Options{Period: period})
			if err != nil {
				b.Fatal(err)
			}
			sm := waiting(16, 16, 16, 16)
			var cycle int64
			for b.Loop() {
				if cycle >= 1<<24 {
					s.Begin(nil)
					cycle = 0
				}
				cycle = s.NextSample(0, cycle+1)
				sm.asked = sm.asked[:0]
				s.Sample(sm, cycle)
			}
		})
	}
}

// TestChosenAsSampled holds that a sampler which is asked for its choice first takes what it takes of a view.
func TestChosenAsSampled(t *testing.T) {
	sm := waiting(2, 0, 3, 1)
	held := []int{2, 0, 3, 1}
	viewed, chosen := newSampler(t, Options{Seed: 3}), newSampler(t, Options{Seed: 3})
	if !viewed.Chooses() || newSampler(t, Options{Period: 64}).Chooses() {
		t.Error("a sampler chooses with the automatic period, and with no other")
	}
	for cycle := int64(MinPeriod); cycle < 3*maxHeld*MinPeriod; cycle += MinPeriod {
		viewed.Sample(sm, cycle)
		scheduler, i := chosen.Choose(sm.SM(), held, cycle)
		chosen.Take(sm.Warp(scheduler, i), sm.Issued(scheduler), cycle)
	}
	if diff := cmp.Diff(viewed.Samples(), chosen.Samples()); diff != "" || viewed.Period() != chosen.Period() {
		t.Errorf("viewed (-), chosen (+):\n%s", diff)
	}
}
