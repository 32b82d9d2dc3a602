package advisor

import (
	"testing"

	"gpa/blamer/sasstest"
)

func TestAdded(t *testing.T) {
	// Five values are alive at most.
	live := inputOf(t, sasstest.New(t, `
		IADD3 R2, R0, 0x1, RZ ; // executed=8 threads=256
		IADD3 R3, R0, 0x2, RZ ; // executed=8 threads=256
		IADD3 R4, R0, 0x3, RZ ; // executed=8 threads=256
		IADD3 R5, R2, R3, RZ ; // executed=8 threads=256
		IADD3 R5, R5, R4, RZ ; // executed=8 threads=256
		STG.E.SYS [R6], R5 ; // executed=8 threads=256
		EXIT ; // executed=8 threads=256`)).liveBlocks()
	for registers, want := range map[int]float64{8: 0, 5: 0, 4: 1. / 7, 3: 2. / 7} {
		if got := added(live, registers); got != want {
			t.Errorf("%d registers: %v of the instructions more, want %v", registers, got, want)
		}
	}
	// The bound and the address are alive all along.
	loop := inputOf(t, sasstest.New(t, `
		IADD3 R2, R0, 0x1, RZ ; // executed=8 threads=256
		top: IADD3 R4, R2, 0x3, RZ ; // executed=80 threads=2560
		IADD3 R5, R2, R4, RZ ; // executed=80 threads=2560
		IADD3 R2, R5, R4, RZ ; // executed=80 threads=2560
		ISETP.LT.AND P0, PT, R2, R3, PT ; // executed=80 threads=2560
		@P0 BRA `+"`(top)"+` ; // executed=80 threads=2560
		STG.E.SYS [R6], R2 ; // executed=8 threads=256
		EXIT ; // executed=8 threads=256`)).liveBlocks()
	if got := added(loop, 3); got != 0 {
		t.Errorf("a loop in three registers: %v more, as the bound stays and the address has no use in it", got)
	}
	if got := added(loop, 2); got < 80./424 || got > 100./424 {
		t.Errorf("a loop in two registers: %v more, want the bound once a round", got)
	}
}
