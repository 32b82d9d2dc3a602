package reports

import (
	"strings"
	"testing"

	"gpa/advisor"
	"gpa/cubin"
)

// Nothing of a message is lost behind a long name.
func TestWrapMessage(t *testing.T) {
	message := "gpa: out of bounds in kernel " + strings.Repeat("closure_of_", 100) + ", 4 bytes past the end of allocation 3"
	lines := strings.Split(WrapMessage(message), "\n")
	var joined strings.Builder
	for i, l := range lines {
		if len(l) > LongestLine || i > 0 && !strings.HasPrefix(l, "  ") {
			t.Errorf("%q", l)
		}
		joined.WriteString(strings.ReplaceAll(l, " ", ""))
	}
	if joined.String() != strings.ReplaceAll(message, " ", "") {
		t.Errorf("%q", lines)
	}
	if short := "gpa: a message"; WrapMessage(short) != short {
		t.Error(WrapMessage(short))
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"profile", "profile", 0}, {"", "run", 3}, {"prfile", "profile", 1}, {"hotsopt", "hotspot", 1}, {"saxpy", "spmv", 4}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != c.want {
			t.Errorf("from %q to %q: %d, not %d", c.a, c.b, got, c.want)
		}
	}
}

// Of the names of functions that templates make long a part is shown.
func TestScopeOfLongName(t *testing.T) {
	s := &advisor.Scope{Kind: advisor.FunctionScope, Frame: cubin.Frame{Function: "f<" + strings.Repeat("a, ", 1000) + "b>", File: "f.cu", Line: 7}}
	if text := scopeText(s); len(text) > 200 || !strings.HasSuffix(text, "... at f.cu:7") {
		t.Errorf("%s", text)
	}
}
