package arch

import (
	"regexp"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

func TestByName(t *testing.T) {
	for name, want := range map[string]string{
		"v100": "v100", "V100": "v100", "sm_70": "v100", "sm_75": "t4", "sm_80": "a100", "sm_86": "rtx3090", "sm_89": "rtx4090",
		"sm_90": "h100", "sm_100": "b200", "sm_120": "rtx5090", "gh200": "gh200", "GTX1660S": "gtx1660s",
	} {
		m, err := ByName(name)
		if err != nil || m.Name != want {
			t.Errorf("ByName(%q) = %v, %v, want %s", name, m, err, want)
		}
	}
	_, err := ByName("sm_99")
	if err == nil || !strings.Contains(err.Error(), "v100") {
		t.Errorf("ByName(sm_99): error %v does not name the known GPUs", err)
	}
}

// TestModelsAreOnesOwn holds that every name finds its model, and that who changes a model changes nobody else's.
func TestModelsAreOnesOwn(t *testing.T) {
	for _, name := range Names() {
		first, err := ByName(name)
		if err != nil || first.Name != name {
			t.Fatalf("ByName(%q) = %v, %v", name, first, err)
		}
		arch := first.Arch
		first.Name, first.Arch, first.Latencies.L1.Value = "changed", 0, -1
		if again, err := ByName(name); err != nil || again.Name != name || again.Arch != arch || again.Latencies.L1.Value < 0 {
			t.Errorf("%s was changed by another's", name)
		}
	}
}

// known are the words by which a source can be found, or that say that there is none because the figure was fitted or follows from
// another.
var known = regexp.MustCompile(`^fitted: |whitepaper \(20|data sheet|product page|Programming Guide|cuda_occupancy\.h|Jia et al\.|Huerta et al\.|` +
	`Luo et al\.|^assumed: |Abdelkhalik et al\.|Accel-Sim|RRZE|TapiocaFox|mt4g|GPUArchitecture\.cpp|ptxas|Nsight Compute report|empty-kernel series on H100|` +
	`^SemiAnalysis microbench-blackwell|^basalt-sass|^no uniform registers|: no uniform registers|^one partition$|^no pipe of its own|^no wgmma|^no tensor memory|^no clusters`)

// TestSources holds that every figure of every model has its unit and a source that can be found, or the word fitted, and that
// every latency bound is a range.
func TestSources(t *testing.T) {
	for _, m := range models() {
		figures := m.Figures()
		if len(figures) < 100 {
			t.Errorf("%s: only %d figures found", m.Name, len(figures))
		}
		seen := map[string]bool{}
		for _, f := range figures {
			if f.Unit == "" || f.Source == "" {
				t.Errorf("%s: %s: unit %q, source %q", m.Name, f.Name, f.Unit, f.Source)
			}
			if !known.MatchString(f.Source) {
				t.Errorf("%s: %s: the source %q is none of the known", m.Name, f.Name, f.Source)
			}
			if seen[f.Name] {
				t.Errorf("%s: %s twice", m.Name, f.Name)
			}
			seen[f.Name] = true
		}
		for c := range sass.NumLatencyClasses {
			if b := m.Bound(c); b.Min <= 0 || b.Max < b.Min {
				t.Errorf("%s: bound %v: %+v", m.Name, c, b)
			}
		}
	}
}

func TestLatencyOfUnknownClass(t *testing.T) {
	m := v100()
	if m.Bound(sass.NumLatencyClasses) != m.Bounds[ClassOther] {
		t.Error("an unknown class is not treated as ClassOther")
	}
}
