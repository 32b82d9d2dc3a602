package arch

import (
	"reflect"
	"strings"
	"testing"
)

func TestByName(t *testing.T) {
	for name, want := range map[string]string{
		"v100": "v100", "V100": "v100", "sm_70": "v100", "sm_75": "t4", "sm_80": "a100", "sm_86": "rtx3090", "sm_89": "rtx4090",
		"sm_90": "h100", "gh200": "gh200", "GTX1660S": "gtx1660s",
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

// TestSources holds that no figure of any model lacks its unit or source.
func TestSources(t *testing.T) {
	for _, m := range models() {
		if n := checkFigures(t, m.Name, reflect.ValueOf(*m)); n < 80 {
			t.Errorf("%s: only %d figures found", m.Name, n)
		}
	}
}

func checkFigures(t *testing.T, path string, v reflect.Value) int {
	switch f := v.Interface().(type) {
	case Figure:
		if f.Unit == "" || f.Source == "" {
			t.Errorf("%s: unit %q, source %q", path, f.Unit, f.Source)
		}
		return 1
	case Bound:
		if f.Source == "" || f.Min <= 0 || f.Max < f.Min {
			t.Errorf("%s: %+v", path, f)
		}
		return 1
	}
	var n int
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			n += checkFigures(t, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			n += checkFigures(t, path, v.Index(i))
		}
	}
	return n
}

func TestLatencyOfUnknownClass(t *testing.T) {
	m := v100()
	if m.Latency(NumLatencyClasses) != m.Latency(ClassOther) {
		t.Error("an unknown class is not treated as ClassOther")
	}
}
