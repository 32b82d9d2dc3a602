package terminal

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A detail is one that stays the same.
type detail string

func (d detail) String() string { return string(d) }

// A Progress draws nothing in the first second, then what is done, and is gone before anything else is printed.
func TestProgress(t *testing.T) {
	var screen strings.Builder
	now := time.Unix(0, 0)
	p := NewProgress(&screen, 80)
	p.clock = func() time.Time { return now }
	messages, results := p.Messages(&screen), p.Results(&screen)
	p.began, p.stages = now, []string{"gpa compare"}
	expect := func(want string) {
		t.Helper()
		if got := screen.String(); got != want {
			t.Errorf("%q instead of %q", got, want)
		}
		screen.Reset()
	}
	p.draw()
	expect("")
	now = now.Add(3 * time.Second)
	end := p.Stage("before 1 of 2")
	p.draw()
	expect("\r\x1b[Kgpa compare: before 1 of 2, 3 s")
	end()
	p.draw()
	expect("\r\x1b[Kgpa compare, 3 s")
	ended := p.Watch(detail("3 of 4 blocks"))
	p.draw()
	expect("\r\x1b[Kgpa compare, 3 of 4 blocks, 3 s")
	ended()
	p.draw()
	expect("\r\x1b[Kgpa compare, 3 s")
	fmt.Fprint(messages, "printed by the kernel")
	expect("\r\x1b[Kprinted by the kernel")
	p.draw() // not into somebody's line
	expect("")
	fmt.Fprintln(messages)
	p.draw()
	expect("\n\r\x1b[Kgpa compare, 3 s")
	fmt.Fprintln(results, "result")
	p.draw()
	expect("\r\x1b[Kresult\n")
	if NewProgress(&screen, 0) != nil {
		t.Error("there is progress in a pipe")
	}
}
