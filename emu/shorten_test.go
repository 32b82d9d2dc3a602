package emu

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestPortions holds that a launch timed in portions leaves memory and counters as it does whole, comes near its cycles, and is the same
// for any number of workers; and that a launch which is small, or for which nobody asks it, is timed whole.
func TestPortions(t *testing.T) {
	const blocks = 4000
	whole := streamed(t, blocks, 32, 1, Extrapolation{Off: true}, false)
	whole.holdPart(t, Extrapolation{After: 1 << 16, Portions: true}, blocks/2, Extrapolation{After: 1 << 40}, Extrapolation{After: 1 << 40, Portions: true})
}

// A streamedRun is a launch of wordStream, and what it has left in memory.
type streamedRun struct {
	*Result
	blocks, sms int
	data        []byte
}

// streamed runs blocks of wordStream on so many SMs.
func streamed(t *testing.T, blocks, sms, workers int, e Extrapolation, dispensable bool) streamedRun {
	const threads = 256
	p := timedProgram{text: wordStream, blocks: blocks, threads: threads}
	n := blocks * threads
	p.buffers = [][]uint32{words(n), make([]uint32, n)}
	model := *testModel(t)
	model.SMs.Value = float64(sms)
	m, l, addrs := p.start(t, &model, Options{Timing: TimingFull, Workers: workers, Extrapolation: e})
	l.Dispensable = dispensable
	r, err := m.Launch(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 4*n)
	if err := m.Read(addrs[1], data); err != nil {
		t.Fatal(err)
	}
	return streamedRun{r, blocks, sms, data}
}

// holdPart holds a run that is timed in part, of no more than some blocks, against the whole, for one worker and three, and that others are
// timed whole.
func (whole streamedRun) holdPart(t *testing.T, x Extrapolation, most int, others ...Extrapolation) {
	t.Helper()
	part := streamed(t, whole.blocks, whole.sms, 1, x, false)
	again := streamed(t, whole.blocks, whole.sms, 3, x, false)
	if part.TimedBlocks == 0 || part.TimedBlocks > most {
		t.Errorf("%d of %d blocks were timed", part.TimedBlocks, whole.blocks)
	}
	part.Facts.Model, again.Facts.Model = nil, nil
	part.Facts.Kernel, again.Facts.Kernel, part.Facts.Module, again.Facts.Module = nil, nil, nil, nil
	if !reflect.DeepEqual(part.Result, again.Result) {
		t.Error("three workers come to another result than one")
	}
	if !bytes.Equal(part.data, whole.data) || part.WarpInstructions != whole.WarpInstructions ||
		!slices.EqualFunc(part.Counters, whole.Counters, func(a, b Counter) bool { return a.PC == b.PC && a.Executions == b.Executions }) {
		t.Error("other results or counters")
	}
	e := float64(part.Cycles)/float64(whole.Cycles) - 1
	t.Logf("%d blocks: %d cycles for %d, %+.2f %%, within %.2f %%", whole.blocks, part.Cycles, whole.Cycles, 100*e, 100*part.ErrorBound)
	if math.Abs(e) > part.ErrorBound {
		t.Errorf("%d cycles for %d, the bound is %.2f %%", part.Cycles, whole.Cycles, 100*part.ErrorBound)
	}
	for _, x := range others {
		if r := streamed(t, whole.blocks, whole.sms, 1, x, false); r.TimedBlocks != 0 || r.Cycles != whole.Cycles {
			t.Errorf("%+v: %d blocks timed, %d cycles for %d", x, r.TimedBlocks, r.Cycles, whole.Cycles)
		}
	}
}

// TestPortionsShare holds portions of launches whose blocks use the same memory: what all of them read comes from DRAM once, and what
// all of them add to is in one place.
func TestPortionsShare(t *testing.T) {
	const blocks, threads = 4000, 256
	number := "[B01----:R-:W-:-:S04] IMAD R0, R0, c[0x0][0x0], R1"
	rows := strings.Replace(wordStream, number, "[B01----:R-:W-:-:S08] LOP3.LUT R0, R0, 0x1ff, RZ, 0xc0, !PT\n"+number, 1)
	sum := strings.Replace(wordStream, "[B------:R-:W-:-:S08] IMAD.WIDE R6, R0, 0x4, R6\n", "", 1)
	sum = strings.Replace(sum, "STG.E.SYS [R6], R4", "RED.E.ADD.STRONG.GPU [R6], R4", 1)
	for name, text := range map[string]string{"rows": rows, "sum": sum} {
		t.Run(name, func(t *testing.T) {
			p := timedProgram{text: text, blocks: blocks, threads: threads}
			p.buffers = [][]uint32{words(blocks * threads), make([]uint32, blocks*threads)}
			run := func(e Extrapolation) *Result {
				model := *testModel(t)
				model.SMs.Value = 32
				m, l, _ := p.start(t, &model, Options{Timing: TimingFull, Extrapolation: e})
				r, err := m.Launch(context.Background(), l)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			whole, part := run(Extrapolation{Off: true}), run(Extrapolation{After: 1 << 16, Portions: true})
			if part.TimedBlocks == 0 {
				t.Fatal("the whole launch was timed")
			}
			e := float64(part.Cycles)/float64(whole.Cycles) - 1
			t.Logf("%d cycles for %d, %+.2f %%, within %.2f %%; %d sectors of DRAM read for %d", part.Cycles, whole.Cycles, 100*e, 100*part.ErrorBound,
				part.Traffic.DRAMRead, whole.Traffic.DRAMRead)
			if math.Abs(e) > part.ErrorBound {
				t.Errorf("%d cycles for %d, the bound is %.2f %%", part.Cycles, whole.Cycles, 100*part.ErrorBound)
			}
			if read := float64(part.Traffic.DRAMRead) / float64(whole.Traffic.DRAMRead); math.Abs(read-1) > .1 {
				t.Errorf("%d sectors of DRAM read for %d", part.Traffic.DRAMRead, whole.Traffic.DRAMRead)
			}
		})
	}
}

// TestPartTakesEachBlockOnce holds that the blocks of a part are other ones each and lie side by side in each round, and that smaller
// parts are parts of larger ones.
func TestPartTakesEachBlockOnce(t *testing.T) {
	const sms, perSM, all = 80, 4, 2777
	larger := make(map[int]bool)
	for parts := 2; parts <= 16; parts *= 2 {
		p := &Part{Share: 1 / float64(parts)}
		taken := make(map[int]bool)
		blocks, round := p.blocks(all), sms/parts
		for n := range blocks {
			number := p.numberOf(n, blocks, round, perSM)
			if number >= all || taken[number] || n%round > 0 && !taken[number-1] {
				t.Errorf("1/%d: block %d is %d", parts, n, number)
			}
			if parts > 2 && n/round < blocks/round && !larger[number] {
				t.Errorf("1/%d: block %d is in no larger part", parts, number)
			}
			taken[number] = true
		}
		larger = taken
	}
}
