package emu

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// Generic addresses of shared and of local memory, made as compiled code makes them: from the windows in constant bank 0 or,
// of shared memory on sm_90, from a special register. 64-bit local addresses are stack addresses plus the window.
func TestWindows(t *testing.T) {
	const local = `
		MOV R4, c[0x0][0x28]
		IADD3 R4, R4, -0x10, RZ
		STL [R4], R0
		IADD3 R6, P0, R4, c[0x0][0x20], RZ
		IADD3.X R7, RZ, c[0x0][0x24], RZ, P0, !PT
		LD.E.SYS R9, [R6]
		IMAD R9, R9, 0x3, RZ
		ST.E.SYS [R6], R9
		LDL R9, [R4]`
	triple := func(n uint32) uint32 { return 3 * n }
	eachArch(t, sass.SM70, 32, local, triple)
	for _, a := range architectures {
		window := "MOV R7, c[0x0][0x1c]\nIADD3 R6, P0, R4, c[0x0][0x18], RZ\nIADD3.X R7, RZ, R7, RZ, P0, !PT\n"
		if a >= sass.SM90 {
			window = "S2R R7, SR_SWINHI\nMOV R6, R4\n"
		}
		eachOf(t, []sass.Arch{a}, 32, "SHF.L.U32 R4, R0, 0x2, RZ\nSTS [R4], R0\n"+window+`
			LD.E.SYS R9, [R6]
			IMAD R9, R9, 0x3, RZ
			ST.E.SYS [R6], R9
			LDS R9, [R4]`, triple)
	}
}

// Clocks go on, as words and as pairs of words.
func TestClocks(t *testing.T) {
	eachArch(t, sass.SM70, 32, `
		CS2R R4, SR_CLOCKLO
		CS2R.32 R8, SR_CLOCKLO
		CS2R R6, SR_CLOCKLO
		ISETP.GT.U32.AND P0, PT, R8, R4, PT
		ISETP.GT.U32.AND P0, PT, R6, R8, P0
		ISETP.EQ.AND P0, PT, R5, R7, P0
		CS2R R4, SR_GLOBALTIMERLO
		CS2R R6, SR_GLOBALTIMERLO
		ISETP.GE.U32.AND P0, PT, R6, R4, P0
		MOV R9, RZ
		@P0 MOV R9, 0x1`, func(uint32) uint32 { return 1 })
}

// What decodes and is not executed, as atomics of surfaces, shaders' instructions, and the asynchronous matrix products and
// copies of sm_90, is an error that names the instruction and, where it is known, what it is for.
func TestUnsupportedInstructions(t *testing.T) {
	named := map[sass.Op]bool{}
	r := rand.New(rand.NewPCG(53, 54))
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		samples(f, r, 1, func(in sass.Inst) bool {
			if compilers[f.Op] != nil && !in.Opaque() {
				return false
			}
			x := newMemoryTest(t, in, r)
			x.w.active = allLanes
			var fault *Fault
			switch err := x.w.step(); {
			case !errors.As(err, &fault) || fault.Kind != Unsupported:
				t.Errorf("%s: %v", in.Text(), err)
			case !regexp.MustCompile(`\b` + f.Op.String() + `\b\S* is not supported`).MatchString(fault.Error()):
				t.Errorf("%s: the error does not name it: %v", in.Text(), err)
			case !strings.Contains(fault.Error(), in.Purpose()):
				t.Errorf("%s: the error does not say that it is of %s: %v", in.Text(), in.Purpose(), err)
			}
			named[f.Op] = true
			return false
		})
	}
	for _, op := range []sass.Op{sass.TMML, sass.FOOTPRINT, sass.SURED, sass.SUATOM, sass.LDGMC, sass.IPA, sass.RPCMOV, sass.JMP} {
		if !named[op] {
			t.Errorf("%s was not tried", op)
		}
	}
}
