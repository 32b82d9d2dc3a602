package reports

// gap is the space between two columns.
const gap = 2

// fit returns the widths of the columns. Without a terminal each is as wide as its widest cell, or its limit. On a terminal the
// limits fall where there is room; where there is too little, the widest columns that are not of numbers give way.
func (t *Table) fit() []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = t.widest(i)
		if c.Width > 0 && t.Style.Width == 0 {
			widths[i] = min(widths[i], max(c.Width, len(c.Title)))
		}
	}
	if t.Style.Width == 0 {
		return widths
	}
	room := t.Style.width() - len(t.Indent)
	for total(widths) > room {
		i := t.yielding(widths)
		if i < 0 {
			break
		}
		widths[i]--
	}
	return widths
}

func (t *Table) widest(column int) int {
	n := len(t.Columns[column].Title)
	for _, row := range t.Rows {
		if column < len(row) {
			n = max(n, len(plain(row[column])))
		}
	}
	return n
}

func total(widths []int) int {
	sum := -gap
	for _, w := range widths {
		sum += w + gap
	}
	return sum
}

// yielding is the widest column that can be made narrower, -1 for none: numbers and titles stay whole.
func (t *Table) yielding(widths []int) int {
	const least = 8
	widest := -1
	for i, c := range t.Columns {
		if !c.Right && widths[i] > max(least, len(c.Title)) && (widest < 0 || widths[i] > widths[widest]) {
			widest = i
		}
	}
	return widest
}

// lines lays a row out in cells of the given widths: one line of cells, or more where a column wraps.
func (t *Table) lines(row []string, widths []int) [][]string {
	cells := make([][]string, len(t.Columns))
	height := 1
	for i, c := range t.Columns {
		text := ""
		if i < len(row) {
			text = plain(row[i])
		}
		cells[i] = c.lay(text, widths[i])
		height = max(height, len(cells[i]))
	}
	lines := make([][]string, height)
	for y := range lines {
		lines[y] = make([]string, len(cells))
		for x := range cells {
			if y < len(cells[x]) {
				lines[y][x] = cells[x][y]
			}
		}
	}
	return lines
}

// lay brings a cell to a width.
func (c *Column) lay(text string, width int) []string {
	switch {
	case len(text) <= width:
		return []string{text}
	case c.Wrap:
		return Wrap(text, width)
	case c.Place:
		return []string{cutFront(text, width)}
	}
	return []string{cut(text, width)}
}
