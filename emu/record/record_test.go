package record_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gpa/cubin"
	"gpa/cubin/asm"
	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/record"
	"gpa/profiler"
)

// A program is a kernel with a buffer of zeros, whose address is its parameter buf. In its text, @name behind an instruction names it.
type program struct {
	text        string
	grid, block int
	bytes       int64 // of the buffer
}

// prologue leaves the number of the thread in R0, its word of the buffer in R2, counted in the block, and 4 in R10.
const prologue = `
	S2R R0, SR_TID.X
	MOV R10, 0x4
	IMAD.WIDE.U32 R2, R0, R10, c[0x0][buf]
	MOV R5, RZ
`

var named = regexp.MustCompile(`^(.*?)\s*@(\w+)$`)

// run records the program and returns the record with the names of its instructions.
func (p program) run(t *testing.T, timing emu.TimingLevel) (*profiler.Record, map[string]profiler.Place) {
	t.Helper()
	var text strings.Builder
	var names []string
	text.WriteString(".arch sm_70\n.kernel k\n.param buf, 8\n.shared 1024\n")
	for _, line := range strings.Split(prologue+p.text, "\n") {
		line = strings.TrimSpace(line)
		name := ""
		if m := named.FindStringSubmatch(line); m != nil {
			line, name = m[1], m[2]
		}
		if line != "" && !strings.HasSuffix(line, ":") && !strings.HasPrefix(line, ".") {
			names = append(names, name)
		}
		text.WriteString(line + "\n")
	}
	raw, err := asm.Assemble("k.sass", []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	module, err := cubin.NewFile("k.cubin", raw)
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]profiler.Place{}
	for i, name := range names {
		places[name] = profiler.Place{Code: module.Kernels[0].Code.Index, PC: uint64(i) * sass.InstSize}
	}
	model, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	m, err := emu.New(model, module, emu.Options{Timing: timing, MaxInstructions: 1 << 22})
	if err != nil {
		t.Fatal(err)
	}
	addr, err := m.Alloc("buf", p.bytes)
	if err != nil {
		t.Fatal(err)
	}
	var r record.Recorder
	_, err = m.Launch(context.Background(), &emu.Launch{Kernel: module.Kernels[0], Grid: [3]int{p.grid, 1, 1}, Block: [3]int{p.block, 1, 1},
		Params: binary.LittleEndian.AppendUint64(nil, addr), Recorder: &r})
	if err != nil {
		t.Fatal(err)
	}
	return r.Record(), places
}

// again reads each thread's word four times in a loop and once behind it, overwrites it and reads it once more.
const again = `
	loop:
	LDG.E.SYS R4, [R2] @looped
	IADD3 R5, R5, 0x1, RZ
	ISETP.LT.AND P0, PT, R5, 0x4, PT
	@P0 BRA loop
	LDG.E.SYS R6, [R2] @behind
	STG.E.SYS [R2], R4 @store
	LDG.E.SYS R7, [R2] @changed
	EXIT`

func TestLoads(t *testing.T) {
	r, at := program{text: again, grid: 1, block: 64, bytes: 256}.run(t, emu.TimingNone)
	const words = 64 * 4
	// A warp accesses 128 bytes at a time, and without timing runs alone until it stores.
	want := &profiler.Record{
		Blocks: []int{0}, Complete: true,
		Loads: []profiler.LoadRecord{
			{Place: at["looped"], Bytes: 4 * words, InEarlierRound: [profiler.NumParties]int64{3 * words},
				Distances: []int64{8: 3 * words}, Distinct: words, Stored: words, Apart: 4 * words, Buffer: words},
			{Place: at["behind"], Bytes: words, Earlier: [profiler.NumParties]int64{words}, Distances: []int64{8: words}, Distinct: words, Stored: words, Apart: words, Buffer: words},
			{Place: at["changed"], Bytes: words, Distinct: words, Stored: words, Apart: words, Buffer: words},
		},
		Stores: []profiler.StoreRecord{{Place: at["store"], Bytes: words}},
		Dependences: []profiler.Dependence{
			{Kind: profiler.FlowDependence, From: at["store"], To: at["changed"], Space: "global", Bytes: words},
			{Kind: profiler.AntiDependence, From: at["behind"], To: at["store"], Space: "global", Bytes: words},
		},
	}
	if diff := cmp.Diff(want, r, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

// Every block reads its threads' words and the first word of all, and stores to the second kilobyte.
func TestLoadsOfOtherBlocks(t *testing.T) {
	r, at := program{grid: 24, block: 32, bytes: 2048, text: `
	LDG.E.SYS R4, [R2] @own
	MOV R6, c[0x0][buf]
	MOV R7, c[0x0][buf+4]
	LDG.E.SYS R8, [R6] @first
	STG.E.SYS [R2+0x400], R4
	LDG.E.SYS R8, [R2+0x410] @partly
	EXIT`}.run(t, emu.TimingFull)
	if diff := cmp.Diff([]int{0, 1, 12, 13, 23}, r.Blocks); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	for name, want := range map[string][3]int64{
		"own": {5 * 128, 5 * 128, 0}, "first": {5 * 4, 5 * 4, 0},
		"partly": {5 * 128, 5 * 128, 5 * 112}, // the last 16 bytes are in a sector that nobody stores to
	} {
		l := r.Load(at[name])
		if got := [3]int64{l.Distinct, l.Shared, l.Stored}; got != want {
			t.Errorf("%s: distinct, shared and stored %v, want %v", name, got, want)
		}
	}
	if own, first := r.Load(at["own"]), r.Load(at["first"]); own.Apart != own.Bytes || first.Apart != 0 || own.Buffer != 2048 {
		t.Errorf("lanes read %d of their own words and %d of the first one apart, from a buffer of %d bytes", own.Apart, first.Apart, own.Buffer)
	}
	if l := r.Load(at["first"]); l.Bytes != 5*128 || l.Earlier[profiler.SameThread] != 5*4 || l.Earlier[profiler.SameWarp] != 5*31*4 {
		t.Errorf("the first word: %+v; lane 0 has read it before, the others have not", l)
	}
}

// carried stores in each of 5 rounds what the one before has stored, plus 1, a word further: y[k] = y[k-1] + 1.
const carried = `
	header:
	LDG.E.SYS R4, [R2] @load
	IADD3 R4, R4, 0x1, RZ
	STG.E.SYS [R2+0x80], R4 @store
	IADD3 R2, P1, R2, 0x80, RZ
	IADD3.X R3, R3, RZ, RZ, P1, !PT
	IADD3 R5, R5, 0x1, RZ
	ISETP.LT.AND P0, PT, R5, 0x5, PT
	@P0 BRA header
	EXIT`

func TestCarried(t *testing.T) {
	for _, timing := range []emu.TimingLevel{emu.TimingNone, emu.TimingFull} {
		r, at := program{text: carried, grid: 1, block: 32, bytes: 6 * 128}.run(t, timing)
		want := []profiler.Dependence{{From: at["store"], To: at["load"], Space: "global", Carried: true, Loop: at["load"], Next: true, Bytes: 4 * 128}}
		if diff := cmp.Diff(want, r.Dependences); diff != "" {
			t.Errorf("%v: dependences (-want +got):\n%s", timing, diff)
		}
		if diff := cmp.Diff(want, r.CarriedBy(at["load"])); diff != "" {
			t.Errorf("%v: carried (-want +got):\n%s", timing, diff)
		}
	}
}

// Each of 3 rounds of the outer loop adds to the thread's word in 2 rounds of the inner one.
func TestCarriedByOneOfTwoLoops(t *testing.T) {
	r, at := program{grid: 1, block: 32, bytes: 128, text: `
	outer:
	MOV R6, RZ @outer
	inner:
	LDG.E.SYS R4, [R2] @load
	IADD3 R4, R4, 0x1, RZ
	STG.E.SYS [R2], R4 @store
	IADD3 R6, R6, 0x1, RZ
	ISETP.LT.AND P0, PT, R6, 0x2, PT
	@P0 BRA inner
	IADD3 R5, R5, 0x1, RZ
	ISETP.LT.AND P0, PT, R5, 0x3, PT
	@P0 BRA outer
	EXIT`}.run(t, emu.TimingNone)
	d := func(kind profiler.DependenceKind, from, to, loop string, times int64) profiler.Dependence {
		return profiler.Dependence{Kind: kind, From: at[from], To: at[to], Space: "global", Carried: loop != "", Loop: at[loop], Next: loop != "", Bytes: times * 128}
	}
	at[""] = profiler.Place{}
	want := []profiler.Dependence{
		d(profiler.FlowDependence, "store", "load", "outer", 2), // from the last inner round of an outer one to the first of the next
		d(profiler.FlowDependence, "store", "load", "load", 3),
		d(profiler.AntiDependence, "load", "store", "", 6),
		d(profiler.OutputDependence, "store", "store", "outer", 2),
		d(profiler.OutputDependence, "store", "store", "load", 3),
	}
	if diff := cmp.Diff(want, r.Dependences); diff != "" {
		t.Errorf("dependences (-want +got):\n%s", diff)
	}
}

// Rounds further apart than one: y[k] = y[k-2] + 1 over 5 rounds.
func TestCarriedFurther(t *testing.T) {
	r, at := program{text: strings.Replace(carried, "[R2+0x80], R4", "[R2+0x100], R4", 1), grid: 1, block: 32, bytes: 8 * 128}.run(t, emu.TimingNone)
	want := []profiler.Dependence{{From: at["store"], To: at["load"], Space: "global", Carried: true, Loop: at["load"], Bytes: 3 * 128}}
	if diff := cmp.Diff(want, r.Dependences); diff != "" {
		t.Errorf("dependences (-want +got):\n%s", diff)
	}
}

// Threads of two warps exchange words by shared memory: with their neighbours in the warp behind the first barrier, with the other
// warp behind the second.
func TestBarriers(t *testing.T) {
	r, at := program{grid: 1, block: 64, bytes: 256, text: `
	SHF.L.U32 R6, R0, 0x2, RZ
	LOP3.LUT R7, R6, 0x4, RZ, 0x3c, !PT
	LOP3.LUT R8, R6, 0x80, RZ, 0x3c, !PT
	STS [R6], R0 @store
	BAR.SYNC 0x0 @first
	LDS.U R4, [R7] @neighbour
	BAR.SYNC 0x0 @second
	LDS.U R4, [R8] @other
	BAR.SYNC 0x0 @idle
	LDG.E.SYS R4, [R2]
	EXIT`}.run(t, emu.TimingFull)
	want := []profiler.BarrierRecord{
		{Place: at["first"], Episodes: 1, Within: 1}, {Place: at["second"], Episodes: 1}, {Place: at["idle"], Episodes: 1},
	}
	if diff := cmp.Diff(want, r.Barriers); diff != "" {
		t.Errorf("barriers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]profiler.Place{{at["first"], at["second"]}}, r.Together); diff != "" {
		t.Errorf("together (-want +got):\n%s", diff)
	}
	flows := []profiler.Dependence{
		{From: at["store"], To: at["neighbour"], Party: profiler.SameWarp, Space: "shared", Bytes: 256},
		{From: at["store"], To: at["other"], Party: profiler.SameBlock, Space: "shared", Bytes: 256},
	}
	if diff := cmp.Diff(flows, r.Dependences); diff != "" {
		t.Errorf("dependences (-want +got):\n%s", diff)
	}
}

// In each of 4 rounds every thread stores a word of shared memory and reads that of the other warp: the first barrier of a round
// orders the store with the read, the second the read with the store of the next round.
func TestBarriersOfARound(t *testing.T) {
	r, at := program{grid: 1, block: 64, bytes: 256, text: `
	SHF.L.U32 R6, R0, 0x2, RZ
	LOP3.LUT R8, R6, 0x80, RZ, 0x3c, !PT
	loop:
	STS [R6], R0 @store
	BAR.SYNC 0x0 @full
	LDS.U R4, [R8] @load
	BAR.SYNC 0x0 @empty
	IADD3 R5, R5, 0x1, RZ
	ISETP.LT.AND P0, PT, R5, 0x4, PT
	@P0 BRA loop
	EXIT`}.run(t, emu.TimingNone)
	want := []profiler.BarrierRecord{{Place: at["full"], Episodes: 4, Between: 4}, {Place: at["empty"], Episodes: 4, Between: 3}}
	if diff := cmp.Diff(want, r.Barriers); diff != "" {
		t.Errorf("barriers (-want +got):\n%s", diff)
	}
	anti := profiler.Dependence{Kind: profiler.AntiDependence, From: at["load"], To: at["store"], Party: profiler.SameBlock, Space: "shared",
		Carried: true, Loop: at["store"], Next: true, Bytes: 3 * 256}
	output := profiler.Dependence{Kind: profiler.OutputDependence, From: at["store"], To: at["store"], Space: "shared",
		Carried: true, Loop: at["store"], Next: true, Bytes: 3 * 256}
	if diff := cmp.Diff([]profiler.Dependence{anti, output}, r.CarriedBy(at["store"])); diff != "" {
		t.Errorf("carried (-want +got):\n%s", diff)
	}
}

// A barrier for one of two warps orders what this record does not tell of.
func TestPartialBarrier(t *testing.T) {
	r, at := program{grid: 1, block: 64, bytes: 256, text: `
	ISETP.LT.U32.AND P0, PT, R0, 0x20, PT
	@!P0 EXIT
	BAR.SYNC 0x1, 0x20 @part
	EXIT`}.run(t, emu.TimingNone)
	want := []profiler.BarrierRecord{{Place: at["part"], Episodes: 1, Partial: true}}
	if diff := cmp.Diff(want, r.Barriers); diff != "" {
		t.Errorf("barriers (-want +got):\n%s", diff)
	}
}

// Threads that store to neighbouring bytes of a word do not depend on each other.
func TestNarrow(t *testing.T) {
	r, at := program{grid: 1, block: 32, bytes: 256, text: `
	STS.U8 [R0], R0 @store
	LDS.U8 R4, [R0] @load
	EXIT`}.run(t, emu.TimingNone)
	want := []profiler.Dependence{{From: at["store"], To: at["load"], Space: "shared", Bytes: 32}}
	if diff := cmp.Diff(want, r.Dependences); diff != "" {
		t.Errorf("dependences (-want +got):\n%s", diff)
	}
}

// Threads add to one word by atomics, and the last barrier orders that with the load.
func TestAtomics(t *testing.T) {
	r, at := program{grid: 1, block: 64, bytes: 256, text: `
	ATOMS.ADD R4, [RZ], R0 @add
	ATOMS.ADD R4, [RZ], R0 @more
	BAR.SYNC 0x0 @barrier
	LDS.U R6, [RZ] @load
	EXIT`}.run(t, emu.TimingNone)
	if len(r.Barriers) != 1 || r.Barriers[0].Between != 1 {
		t.Errorf("barriers %+v", r.Barriers)
	}
	for _, d := range r.Dependences {
		if d.Kind != profiler.FlowDependence || d.To != at["load"] {
			t.Errorf("dependence %+v: atomics do not depend on each other", d)
		}
	}
}

// A record stops where it would take too long, and says so.
func TestIncomplete(t *testing.T) {
	text := strings.Replace(carried, "0x5, PT", "0x10000, PT", 1)
	text = strings.Replace(text, "IADD3 R2, P1, R2, 0x80, RZ", "IADD3 R2, P1, R2, RZ, RZ", 1)
	r, at := program{text: text, grid: 1, block: 32, bytes: 256}.run(t, emu.TimingNone)
	if r.Complete || r.Load(at["load"]).Bytes == 0 {
		t.Errorf("complete %v, %d bytes", r.Complete, r.Load(at["load"]).Bytes)
	}
}

// Threads that go through long rows by themselves, one after the other in two loops: where the record of the whole block ends, that of one of its
// warps goes on, and knows what is read again and what the others store.
func TestLongRows(t *testing.T) {
	pass := func(name string) string {
		return name + `:
			LDG.E.SYS R4, [R6] @` + name + `
			IADD3 R6, R6, 0x4, RZ
			IADD3 R5, R5, 0x1, RZ
			ISETP.LT.AND P0, PT, R5, 0x80, PT
			@P0 BRA ` + name
	}
	r, at := program{grid: 1, block: 1024, bytes: 1024 * 512, text: `
		MOV R11, 0x200
		IMAD.WIDE.U32 R2, R0, R11, c[0x0][buf]
		MOV R6, R2
		MOV R7, R3
		` + pass("first") + `
		MOV R6, R2
		MOV R5, RZ
		` + pass("second") + `
		STG.E.SYS [R2], R4 @store
		LDG.E.SYS R4, [R2] @stored
		EXIT`}.run(t, emu.TimingFull)
	first, second := r.Load(at["first"]), r.Load(at["second"])
	if r.Complete || first == nil || second == nil {
		t.Fatalf("complete %v, loads %v and %v", r.Complete, first, second)
	}
	const warp = 32 * 512 // bytes of the rows of a warp
	if first.Bytes <= warp || second.Bytes != warp || second.Earlier[profiler.SameThread] != warp {
		t.Errorf("%d bytes in the first loop, %d in the second, of which the thread has read %d before", first.Bytes, second.Bytes, second.Earlier[profiler.SameThread])
	}
	want := profiler.Dependence{Kind: profiler.FlowDependence, From: at["store"], To: at["stored"], Space: "global", Bytes: 128}
	for _, d := range r.Dependences {
		if d == want {
			return
		}
	}
	t.Errorf("dependences %+v, want %+v among them", r.Dependences, want)
}

// A recorder changes nothing, and what it records does not depend on how many SMs are advanced at a time.
func TestRecorderChangesNothing(t *testing.T) {
	var results []string
	var records []*profiler.Record
	for _, workers := range []int{0, 1, 4} {
		result, r := recordCorpus(t, workers, workers > 0)
		results = append(results, fmt.Sprint(result.Cycles, result.Counters, result.Traffic, result.SMActiveCycles))
		records = append(records, r)
	}
	if results[0] != results[1] || results[0] != results[2] {
		t.Errorf("cycles and counters without a recorder and with one:\n%s", strings.Join(results, "\n"))
	}
	if diff := cmp.Diff(records[1], records[2]); diff != "" {
		t.Errorf("record of one worker and of four:\n%s", diff)
	}
}

// TestBeyond has products of doubles, of which one is more than single precision has numbers for, in half of a warp.
func TestBeyond(t *testing.T) {
	p := program{grid: 1, block: 32, bytes: 256, text: `
		I2F.F64.U32 R6, R0
		MOV R8, RZ
		IMAD.MOV.U32 R9, RZ, RZ, 0x47b00000
		DMUL R12, R6, R6 @squares
		DMUL R14, R6, R8 @beyond
		DMUL R16, R14, RZ @zero
		STG.E.SYS [R2], R17
		EXIT
	`}
	for _, timing := range []emu.TimingLevel{emu.TimingNone, emu.TimingFull} {
		r, at := p.run(t, timing)
		if want := []profiler.Place{at["beyond"]}; !cmp.Equal(r.Beyond, want) {
			t.Errorf("%v, want %v", r.Beyond, want)
		}
	}
}
