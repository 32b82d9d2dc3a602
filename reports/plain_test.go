package reports

import (
	"strings"
	"testing"
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
