package blamer_test

import (
	"testing"

	"gpa/blamer"
)

// TestCounters holds that who waits for a dependence counter waits for all that it counts, back to the last wait for it; the
// paper's rules see its last user alone.
func TestCounters(t *testing.T) {
	const shared = `
		load: [B------:R-:W2:-:S01] LDG.E.64.SYS R4, [R2] ;
		fma: [B------:R-:W2:-:S03] DFMA R8, R10, R12, R8 ;
		use: [B--2---:R-:W-:-:S04] DADD R14, R4, R8 ; // long_scoreboard=10
		EXIT ;`
	check(t, shared, blamer.Options{}, "load>use global_memory 10")
	const settled = `
		first: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
		wait: [B0-----:R-:W-:-:S01] @P0 FADD R6, R7, R5 ;
		load: [B------:R-:W0:-:S01] LDG.E.SYS R1, [R10] ;
		use: [B0-----:R-:W-:-:S01] FADD R8, R9, R1 ; // long_scoreboard=10
		EXIT ;`
	check(t, settled, blamer.Options{}, "load>use global_memory 10")
}

// TestLastToArrive holds that of loads awaited together the one is blamed that should arrive last.
func TestLastToArrive(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"the later of two alike", `
			a: [B------:R-:W0:-:S04] LDG.E.SYS R0, [R2] ; // executed=10
			b: [B------:R-:W0:-:S04] LDG.E.SYS R1, [R10] ; // executed=10
			use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ; // long_scoreboard=10 executed=10
			EXIT ;`, "b>use global_memory 10"},
		{"not one that finds its sector fetched", `
			fetch: [B------:R-:W1:-:S04] LDG.E.SYS R6, [R10] ; // executed=10
			early: [B-1----:R-:W-:-:S04] FADD R7, R6, R6 ; // executed=10
			a: [B------:R-:W0:-:S04] LDG.E.SYS R0, [R2] ; // executed=10
			b: [B------:R-:W0:-:S04] LDG.E.SYS R1, [R10+0x4] ; // executed=10
			use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ; // long_scoreboard=10 executed=10
			EXIT ;`, "a>use global_memory 10"},
		{"one whose sector an atomic has taken away", `
			fetch: [B------:R-:W1:-:S04] LDG.E.SYS R6, [R10] ; // executed=10
			early: [B-1----:R-:W-:-:S04] FADD R7, R6, R6 ; // executed=10
			RED.E.ADD.STRONG.GPU [R10], R7 ; // executed=10
			a: [B------:R-:W0:-:S04] LDG.E.SYS R0, [R2] ; // executed=10
			b: [B------:R-:W0:-:S04] LDG.E.SYS R1, [R10+0x4] ; // executed=10
			use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ; // long_scoreboard=10 executed=10
			EXIT ;`, "b>use global_memory 10"},
		{"the one in the loop", `
			a: [B------:R-:W0:-:S04] LDG.E.SYS R0, [R2] ; // executed=1 threads=32
			loop: IADD3 R10, R10, R12, RZ ; // executed=100 threads=3200
			b: [B------:R-:W1:-:S04] LDG.E.SYS R1, [R10] ; // executed=100 threads=3200
			use: [B01----:R-:W-:-:S01] FADD R8, R0, R1 ; // long_scoreboard=10 executed=100 threads=3200
			@P0 BRA ` + "`(loop)" + ` ; // executed=100 threads=3200
			EXIT ;`, "b>use global_memory 10"},
		{"a guarded one that nearly all threads execute", `
			a: [B------:R-:W0:-:S04] LDG.E.SYS R0, [R2] ; // executed=10 threads=320
			b: [B------:R-:W0:-:S04] @P0 LDG.E.SYS R1, [R10] ; // executed=10 threads=310
			use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ; // long_scoreboard=10 executed=10 threads=320
			EXIT ;`, "b>use global_memory 10"},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.source, blamer.Options{}, c.want) })
	}
	// Half of the warps have only the first load to wait for.
	check(t, `
		a: [B------:R-:W0:-:S04] LDG.E.SYS R0, [R2] ; // executed=10 threads=320
		b: [B------:R-:W0:-:S04] @P0 LDG.E.SYS R1, [R10] ; // executed=10 threads=160
		use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ; // long_scoreboard=10 executed=10 threads=320
		EXIT ;`, blamer.Options{}, "a>use global_memory 4.953", "b>use global_memory 5.047")
}

// TestLoopAdvance holds that a loop's walk through memory is seen through the instructions that make the address: four bytes a
// round are in L1 seven times of eight, 128 bytes never.
func TestLoopAdvance(t *testing.T) {
	walk := func(step string) string {
		return `
		loop: IMAD.WIDE R10, R7, 0x4, R12 ; // executed=100 threads=3200
		a: [B------:R-:W0:-:S04] LDG.E.SYS R0, [R2] ; // executed=100 threads=3200
		b: [B------:R-:W0:-:S04] LDG.E.SYS R1, [R10] ; // executed=100 threads=3200
		use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ; // long_scoreboard=10 executed=100 threads=3200
		IADD3 R7, R7, ` + step + `, RZ ; // executed=100 threads=3200
		IADD3 R2, R2, R20, RZ ; // executed=100 threads=3200
		@P0 BRA ` + "`(loop)" + ` ; // executed=100 threads=3200
		EXIT ;`
	}
	check(t, walk("0x1"), blamer.Options{}, "a>use global_memory 10")
	check(t, walk("0x20"), blamer.Options{}, "b>use global_memory 10")
}

// TestYield holds that a warp whose lanes are on several ways waits for what all of them count on one dependence counter, as a YIELD hands
// the warp from one way to another; the registers of the others it does not see.
func TestYield(t *testing.T) {
	const program = `
		@P1 BRA ` + "`(other)" + ` ;
		a: [B------:R-:W2:-:S01] LDG.E.SYS R4, [R2] ; // executed=10 threads=80
		YIELD ; // executed=10 threads=80
		use: [B--2---:R-:W-:-:S04] FADD R8, R4, R5 ; // long_scoreboard=10 executed=10 threads=80
		EXIT ;
		other: [B------:R-:W2:-:S01] LDG.E.SYS R4, [R10] ; // executed=30 threads=240
		YIELD ; // executed=30 threads=240
		[B--2---:R-:W-:-:S04] FADD R9, R4, R5 ; // executed=30 threads=240
		EXIT ;`
	check(t, program, blamer.Options{}, "other>use global_memory 10")
	check(t, program, blamer.Options{Plain: true}, "a>use global_memory 10")
}

// TestMissesInOrder holds that what misses L1 comes back behind what its warp has asked for before, however near its data is: the second
// load waits for the line that another one has asked for, the last one before it for memory.
func TestMissesInOrder(t *testing.T) {
	check(t, `
		fetch: [B------:R-:W1:-:S04] LDG.E.SYS R6, [R10] ; // executed=10
		a: [B------:R-:W0:-:S04] LDG.E.SYS R0, [R2] ; // executed=10
		b: [B------:R-:W0:-:S04] LDG.E.SYS R1, [R10+0x4] ; // executed=10
		use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ; // long_scoreboard=10 executed=10
		EXIT ;`, blamer.Options{}, "b>use global_memory 10")
}
