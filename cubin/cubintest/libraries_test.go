package cubintest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
)

func TestSpread(t *testing.T) {
	if got, want := spread(6), []int{0, 4, 2, 1, 5, 3}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestVisit visits the cubins of a kernel of the project, each a file of one entry.
func TestVisit(t *testing.T) {
	dir := t.TempDir()
	for name, from := range map[string]string{"a.cubin": "vecadd.sm_70.cubin", "b.cubin": "vecadd.sm_80.cubin", "c.txt": "vecadd.cu"} {
		data, err := cubin.ReadFile(filepath.Join("../../kernels/basic/vecadd", from))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := errors.New("refused")
	for _, tt := range []struct {
		name   string
		sample int
		archs  []sass.Arch
		err    error
		visits int
	}{
		{"one architecture", 1, []sass.Arch{sass.SM70}, nil, 1},
		{"both", 1, []sass.Arch{sass.SM70, sass.SM80}, nil, 2},
		{"another", 1, []sass.Arch{sass.SM90}, nil, 0},
		{"no sample", 0, []sass.Arch{sass.SM70}, nil, 0},
		{"an error", 1, []sass.Arch{sass.SM70, sass.SM80}, refused, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			visits := 0
			err := Libraries{Dir: dir, Sample: tt.sample}.Visit(tt.archs, func(arch sass.Arch, code []byte) (int, error) {
				visits++
				return len(code) / sass.InstSize, tt.err
			})
			if !errors.Is(err, tt.err) || visits != tt.visits {
				t.Errorf("%d visits, error %v; want %d, %v", visits, err, tt.visits, tt.err)
			}
		})
	}
}
