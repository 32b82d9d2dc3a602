package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal makes a terminal of a width: what is written to it can be read at the other end.
func openTerminal(t *testing.T, width uint16) (terminal, other *os.File) {
	t.Helper()
	other, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { other.Close() })
	fd := int(other.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width}); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return terminal, other
}

// progressLines are lines of progress up to where they are taken away: a busy machine shows some.
var progressLines = regexp.MustCompile(`(\r\x1b\[K[^\r\n]*)*\r\x1b\[K`)

// onTerminal runs a command line with its output on a terminal and returns what it printed.
func onTerminal(t *testing.T, width uint16, variables map[string]string, args ...string) string {
	t.Helper()
	terminal, other := openTerminal(t, width)
	read := make(chan string)
	go func() {
		var out strings.Builder
		buffer := make([]byte, 4096)
		for {
			n, err := other.Read(buffer)
			out.Write(buffer[:n])
			if err != nil { // EIO: the terminal was closed
				read <- out.String()
				return
			}
		}
	}()
	e := newEnv(terminal, terminal, func(name string) string { return variables[name] })
	if status := run(t.Context(), e, args); status != exitDone {
		t.Errorf("%v: status %d", args, status)
	}
	terminal.Close()
	return progressLines.ReplaceAllString(strings.ReplaceAll(<-read, "\r\n", "\n"), "")
}

// TestTerminal prints on terminals: what is printed fits, and colours come only where they are wanted.
func TestTerminal(t *testing.T) {
	inPipe, _, _ := invoke(t, "profile", "hotspot", "--try", "1")
	tests := []struct {
		name      string
		width     uint16
		variables map[string]string
		flags     []string
		most      int // columns of the longest line
		color     bool
	}{
		{"narrow", 60, nil, nil, 60, true},
		{"wide", 180, nil, nil, 180, true},
		{"COLUMNS", 180, map[string]string{"COLUMNS": "72"}, nil, 72, true},
		{"NO_COLOR", 80, map[string]string{"NO_COLOR": "1"}, nil, 80, false},
		{"dumb", 80, map[string]string{"TERM": "dumb"}, nil, 80, false},
		{"never", 80, nil, []string{"--color=never"}, 80, false},
		{"always wins over NO_COLOR", 80, map[string]string{"NO_COLOR": "1"}, []string{"--color=always"}, 80, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := onTerminal(t, test.width, test.variables, append([]string{"profile", "hotspot", "--try", "1"}, test.flags...)...)
			if colored := colorSequence.MatchString(text); colored != test.color {
				t.Errorf("colours: %t", colored)
			}
			for line := range strings.Lines(stripped(text)) {
				if n := len(strings.TrimSuffix(line, "\n")); n > test.most {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			if test.width == 180 && test.variables == nil && !strings.Contains(text, "temperature[ty][tx] = before[row * columns + col];") {
				t.Error("the table cuts what there is room for")
			}
		})
	}
	if strings.Contains(inPipe, "\x1b") {
		t.Error("colours in a pipe")
	}
	if always, _, _ := invoke(t, "profile", "hotspot", "--try", "1", "--color=always"); stripped(always) != inPipe || always == inPipe {
		t.Error("--color=always changes more than colours")
	}
}

// colorSequence is an escape sequence that sets a colour; progress uses others.
var colorSequence = regexp.MustCompile("\x1b\\[[0-9;]*m")

// stripped is what a terminal shows of a text in the end: no escape sequences, and of a line that was written again, as
// those of progress are, what was written last.
func stripped(text string) string {
	var out strings.Builder
	for text != "" {
		before, after, found := strings.Cut(text, "\x1b[")
		out.WriteString(before)
		if !found {
			break
		}
		i := strings.IndexAny(after, "mK")
		text = after[i+1:]
	}
	lines := strings.Split(out.String(), "\n")
	for i, line := range lines {
		lines[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	return strings.Join(lines, "\n")
}

// TestTables prints every command with a table on a narrow terminal.
func TestTables(t *testing.T) {
	const width = 80
	for _, args := range [][]string{{"arch"}, {"arch", "v100"}, {"compare", "vecadd", "saxpy"}, {"profile", "bfs"}} {
		text := onTerminal(t, width, nil, args...)
		for line := range strings.Lines(stripped(text)) {
			if n := len(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%v: %d columns: %s", args, n, line)
			}
		}
	}
}
