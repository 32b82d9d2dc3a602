package sass_test

import (
	"fmt"
	"math/rand"
	"testing"

	"gpa/cubin/sass"
)

// TestEveryRowHasGolden holds that each row of the table occurs among the committed words of each of its architectures, so
// that nvdisasm has confirmed its text. Words of new rows come with -update and NVDISASM.
func TestEveryRowHasGolden(t *testing.T) {
	for _, arch := range allArchs {
		t.Run(fmt.Sprintf("sm_%d", arch), func(t *testing.T) {
			var words []sass.Word
			for _, g := range readGoldenFile(t, fmt.Sprintf("testdata/sm_%d.txt", arch)) {
				words = append(words, g.word)
			}
			for _, f := range without(arch, words) {
				if arch == sass.SM75 && f.Op == sass.F2FP {
					continue // nvdisasm accepts it and prints nothing
				}
				t.Errorf("%s %#03x: no golden: run this package's tests with -update and NVDISASM", f.Op, f.Opcode)
			}
		})
	}
}

// without returns the rows of an architecture that none of the words has.
func without(arch sass.Arch, words []sass.Word) []*sass.Form {
	seen := make(map[*sass.Form]bool)
	for _, w := range words {
		if inst, err := sass.Decode(arch, 0, w); err == nil {
			seen[inst.Form] = true
		}
	}
	var missing []*sass.Form
	for i := range sass.Forms() {
		if f := &sass.Forms()[i]; f.Archs.Has(arch) && !seen[f] {
			missing = append(missing, f)
		}
	}
	return missing
}

// wordsOfRows returns a word of each row that none of the words has, to which nvdisasm gives the same text as the table at
// address 0. Rows of which it finds none are logged.
func wordsOfRows(t *testing.T, arch sass.Arch, words []sass.Word) []sass.Word {
	t.Helper()
	r := rand.New(rand.NewSource(int64(arch)))
	missing := without(arch, words)
	var found []sass.Word
	for tries := 8; tries <= 512 && len(missing) > 0; tries *= 8 {
		var random []sass.Word
		for _, f := range missing {
			random = append(random, f.RandomWords(r, tries)...)
		}
		has := make(map[*sass.Form]bool)
		for i, text := range nvdisasm(t, arch, random) {
			inst, err := sass.Decode(arch, uint64(i*sass.InstSize), random[i])
			if err == nil && !has[inst.Form] && inst.Text() == text {
				has[inst.Form] = true
				found = append(found, random[i])
			}
		}
		missing = without(arch, append(found[:len(found):len(found)], words...))
	}
	for _, f := range missing {
		t.Logf("sm_%d: no word of %s %#03x", arch, f.Op, f.Opcode)
	}
	return found
}
