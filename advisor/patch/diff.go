package patch

import (
	"bytes"
	"fmt"
	"strings"
)

// context is the number of lines that a diff shows around a change.
const context = 3

// most is the number of lines up to which those that two texts have in common are looked for: the table takes their product.
const most = 2000

// A change is lines that go and lines that come in their place, by index.
type change struct{ a, b, x, y int } // before[a:b] becomes after[x:y]

// Diff is the unified diff of two texts, "" where they are equal.
func Diff(beforeName, afterName string, before, after []byte) string {
	if bytes.Equal(before, after) {
		return ""
	}
	old, now := lines(before), lines(after)
	list := changes(old, now)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", beforeName, afterName)
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].a-list[n-1].b <= 2*context {
			n++
		}
		writeHunk(&out, old, now, list[:n])
		list = list[n:]
	}
	return out.String()
}

func lines(text []byte) []string {
	list := strings.SplitAfter(string(text), "\n")
	if list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

// writeHunk writes neighbouring changes.
func writeHunk(out *strings.Builder, old, now []string, list []change) {
	first, last := list[0], list[len(list)-1]
	from, to := max(0, first.a-context), min(len(old), last.b+context)
	lead := first.a - from
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(from, to), span(first.x-lead, last.y+to-last.b))
	write := func(sign string, list []string) {
		for _, l := range list {
			out.WriteString(sign + l)
			if !strings.HasSuffix(l, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	at := from
	for _, c := range list {
		write(" ", old[at:c.a])
		write("-", old[c.a:c.b])
		write("+", now[c.x:c.y])
		at = c.b
	}
	write(" ", old[at:to])
}

// span is a range of lines as hunks have it: the first, 1-based, and how many.
func span(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

// changes compares by the longest common subsequence of the lines between what both begin and end with.
func changes(old, now []string) []change {
	head := 0
	for head < min(len(old), len(now)) && old[head] == now[head] {
		head++
	}
	tail := 0
	for tail < min(len(old), len(now))-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	a, b := old[head:len(old)-tail], now[head:len(now)-tail]
	if len(a) > most || len(b) > most {
		return []change{{head, len(old) - tail, head, len(now) - tail}}
	}
	common := commonLengths(a, b)
	var list []change
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		c := change{a: head + i, x: head + j}
		for i < len(a) || j < len(b) {
			if i < len(a) && j < len(b) && a[i] == b[j] {
				break
			}
			if j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1] {
				i++
			} else {
				j++
			}
		}
		c.b, c.y = head+i, head+j
		list = append(list, c)
	}
	return list
}

// commonLengths is the length of the longest common subsequence of a[i:] and b[j:] by i and j.
func commonLengths(a, b []string) [][]int32 {
	table := make([][]int32, len(a)+1)
	for i := range table {
		table[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}
