package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/cubin/asm"
	"gpa/emu"
	"gpa/emu/launch"
)

// Threads that store the same value to the same place do not race, whatever its width; those that store different ones do.
func TestEqualStores(t *testing.T) {
	const wide, narrow = `
		MOV R2, 0x5
		MOV R3, VALUE
		STS.64 [RZ], R2
		EXIT`, `
		MOV R10, 0x4
		IMAD.WIDE.U32 R4, RZ, R10, c[0x0][buf]
		MOV R2, VALUE
		STG.E.U8.SYS [R4+0x1], R2
		EXIT`
	for _, c := range []struct {
		name, text, value string
		races             bool
	}{
		{"second words that are equal", wide, "0x7", false},
		{"second words that differ", wide, "R0", true},
		{"bytes that are equal", narrow, "0x7", false},
		{"bytes that differ", narrow, "R0", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := ".arch sm_70\n.kernel k\n.param buf, 8\n.shared 64\nS2R R0, SR_TID.X\n" + strings.ReplaceAll(c.text, "VALUE", c.value) + "\n"
			raw, err := asm.Assemble("k.sass", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "k.cubin"), raw, 0o644); err != nil {
				t.Fatal(err)
			}
			command := launch.Command{Module: "k.cubin", Kernel: "k", Grid: [3]int{1, 1, 1}, Block: [3]int{64, 1, 1}, Args: []string{"i32[64]:zero"}}
			file, err := command.File(launch.OSDir(dir))
			if err != nil {
				t.Fatal(err)
			}
			found := checked(t, file, emu.Options{}, 0)
			if (len(found) > 0) != c.races {
				t.Errorf("%d findings, want some: %v", len(found), c.races)
			}
			for _, f := range found {
				if f.Kind.Family() != "race" {
					t.Errorf("%s: %s", f.Kind, f.Detail)
				}
			}
		})
	}
}
