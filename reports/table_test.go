package reports

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	cases := []struct {
		name  string
		table Table
		want  string
	}{
		{
			name: "alignment",
			table: Table{
				Columns: []Column{{Title: "stall_reason"}, {Title: "samples", Right: true}},
				Rows:    [][]string{{"long_scoreboard", "7"}, {"wait", "1200"}},
			},
			want: "" +
				"stall_reason     samples\n" +
				"long_scoreboard        7\n" +
				"wait                1200\n",
		},
		{
			name: "cut, indented, cells missing, not plain",
			table: Table{
				Columns: []Column{{Title: "sass", Width: 10}, {Title: "n"}},
				Rows:    [][]string{{"FFMA R0, R1, R2, R3"}, {"\x1b[31mred", "x"}},
				Indent:  "  ",
			},
			want: "" +
				"  sass        n\n" +
				"  FFMA R0...\n" +
				"  ?[31mred    x\n",
		},
		{
			name:  "no rows",
			table: Table{Columns: []Column{{Title: "kernel"}}},
			want:  "kernel\n",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			if err := c.table.Render(&out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{{"abcdef", 6, "abcdef"}, {"abcdefg", 6, "abc..."}, {"abcdef", 3, "..."}, {"abcdef", 1, "."}, {"abc", -1, ""}} {
		if got := cut(c.text, c.width); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := Wrap("Write 2.0f where 2.0 stands now, and an_identifier_that_is_too_long stays whole.", 20)
	want := []string{
		"Write 2.0f where 2.0", "stands now, and", "an_identifier_that_is_too_long", "stays whole.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Wrap("  ", 20); got != nil {
		t.Errorf("nothing wraps to %q", got)
	}
}
