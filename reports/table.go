package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// A Column is one column of a table.
type Column struct {
	Title string
	Right bool // aligned to the right, as numbers are
	Width int  // longer cells are cut to it; 0 for no limit
	Place bool // cells are file names and lines: cut at the front, so that the line stays
	Wrap  bool // cells too long for the terminal go on below instead of being cut
}

// A Table is a list with headers for the terminal: plain ASCII without borders. On a terminal it fits the width.
type Table struct {
	Columns []Column
	Rows    [][]string
	Indent  string // before every line
	Style   Style
}

// Add appends a row. Cells that are missing stay empty.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Render writes the table. Lines have no spaces at the end.
func (t *Table) Render(w io.Writer) error {
	var out bytes.Buffer
	if err := t.lay(&out); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	heading := boldInk
	for line := range strings.Lines(out.String()) {
		// The renderer puts one space before every cell.
		line = strings.TrimRight(strings.TrimPrefix(line, " "), " \n")
		if _, err := fmt.Fprintf(w, "%s%s\n", t.Indent, t.Style.paint(heading, line)); err != nil {
			return err
		}
		heading = plainInk
	}
	return nil
}

// lay has tablewriter lay the cells out.
func (t *Table) lay(w io.Writer) error {
	alignments := make([]tw.Align, len(t.Columns))
	titles := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		titles[i] = c.Title
		alignments[i] = tw.AlignLeft
		if c.Right {
			alignments[i] = tw.AlignRight
		}
	}
	table := tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint()),
		tablewriter.WithRendition(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone},
		}),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: alignments}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: alignments}),
	)
	table.Header(titles)
	widths := t.fit()
	for _, row := range t.Rows {
		for _, line := range t.lines(row, widths) {
			if err := table.Append(line); err != nil {
				return err
			}
		}
	}
	return table.Render()
}
