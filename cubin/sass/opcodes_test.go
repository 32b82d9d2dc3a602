package sass_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// opcodesFile lists the opcodes that nvdisasm gives a text, found by trying all 4,096 with many upper bits: the opcode, its
// mnemonic, and the architectures.
const opcodesFile = "testdata/opcodes.txt"

// An opcode is bits 0 to 11 of a word on an architecture.
type opcode struct {
	arch sass.Arch
	code uint16
}

// TestOpcodes holds that the table has a row with the same mnemonic for each opcode that nvdisasm knows. With -update and
// NVDISASM it writes the list anew, which takes minutes.
func TestOpcodes(t *testing.T) {
	if *update && os.Getenv("NVDISASM") != "" {
		updateOpcodes(t)
	}
	have := make(map[opcode]map[string]bool)
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		for _, a := range allArchs {
			if o := (opcode{a, f.Opcode}); f.Archs.Has(a) {
				if have[o] == nil {
					have[o] = make(map[string]bool)
				}
				have[o][f.Op.String()] = true
			}
		}
	}
	lacking := make(map[sass.Arch]int)
	listed := readOpcodes(t)
	for _, o := range slices.SortedFunc(maps.Keys(listed), compareOpcodes) {
		if name := listed[o]; !have[o][name] {
			lacking[o.arch]++
			t.Errorf("sm_%d: no row of %s %#03x", o.arch, name, o.code)
		}
	}
	for _, a := range allArchs {
		n := 0
		for o := range listed {
			if o.arch == a {
				n++
			}
		}
		t.Logf("sm_%d: nvdisasm knows %d opcodes, of which the table lacks %d", a, n, lacking[a])
	}
}

func compareOpcodes(x, y opcode) int {
	if x.code != y.code {
		return int(x.code) - int(y.code)
	}
	return int(x.arch) - int(y.arch)
}

// readOpcodes returns the mnemonics of the list.
func readOpcodes(t *testing.T) map[opcode]string {
	t.Helper()
	data, err := os.ReadFile(opcodesFile)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[opcode]string)
	for line := range strings.Lines(string(data)) {
		field := strings.Fields(line)
		if len(field) < 3 {
			t.Fatalf("%s: line %q: want an opcode, its mnemonic and architectures", opcodesFile, line)
		}
		code, err := strconv.ParseUint(field[0], 0, 12)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range field[2:] {
			arch, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			all[opcode{sass.Arch(arch), uint16(code)}] = field[1]
		}
	}
	return all
}

// base finds the mnemonic in a text, behind a guard and before the first dot.
var base = regexp.MustCompile(`^(?:@!?U?P\w+ +)?(\w+)`)

// updateOpcodes tries all opcodes with the upper bits of random words of the table and of random bits, and adds what nvdisasm
// names to the list.
func updateOpcodes(t *testing.T) {
	found := make(map[opcode]string)
	if _, err := os.Stat(opcodesFile); err == nil {
		found = readOpcodes(t)
	}
	for _, arch := range allArchs {
		words := sass.RandomWords(arch, rand.New(rand.NewSource(2)), 1)
		r := rand.New(rand.NewSource(3))
		r.Shuffle(len(words), func(i, k int) { words[i], words[k] = words[k], words[i] })
		for _, w := range words[:min(50, len(words))] {
			var tried []sass.Word
			for code := range uint64(1 << 12) {
				if code == 0 { // nvdisasm calls every word with a low half of zeros NOP
					continue
				}
				if found[opcode{arch, uint16(code)}] == "" {
					tried = append(tried, sass.Word{Lo: w.Lo&^0xfff | code, Hi: w.Hi})
				}
			}
			for k, text := range nvdisasm(t, arch, tried) {
				if m := base.FindStringSubmatch(text); m != nil && !strings.Contains(text, "???") && !strings.Contains(text, "INVALID") {
					found[opcode{arch, uint16(tried[k].Lo & 0xfff)}] = m[1]
				}
			}
		}
	}
	writeOpcodes(t, found)
}

// writeOpcodes writes the list, a line for each opcode and mnemonic.
func writeOpcodes(t *testing.T, found map[opcode]string) {
	t.Helper()
	archs := make(map[string][]int)
	for o, name := range found {
		key := fmt.Sprintf("0x%03x %s", o.code, name)
		archs[key] = append(archs[key], int(o.arch))
	}
	var out bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(archs)) {
		slices.Sort(archs[key])
		fmt.Fprintln(&out, key, strings.Trim(fmt.Sprint(archs[key]), "[]"))
	}
	if err := os.WriteFile(opcodesFile, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}
