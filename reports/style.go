package reports

// A Style says how text is laid out for where it is read. The zero value is that of files and pipes: lines of 100 columns at
// most, no colours, the same bytes everywhere.
type Style struct {
	Width int  // columns of the terminal; 0 where the text goes elsewhere
	Color bool // mark headings, good and bad news by ANSI escape sequences
}

// An ink is an ANSI attribute (ECMA-48, SGR). Nothing is told by colour alone.
type ink string

const (
	plainInk ink = ""
	boldInk  ink = "1"
	dimInk   ink = "2"
	goodInk  ink = "32"
	badInk   ink = "1;31"
)

// paint gives a text the attribute of an ink.
func (s Style) paint(i ink, text string) string {
	if !s.Color || i == plainInk || text == "" {
		return text
	}
	return "\x1b[" + string(i) + "m" + text + "\x1b[0m"
}

// narrowest is the least width that text is laid out for; a narrower terminal wraps it.
const narrowest = 40

// width is the most columns that a line takes.
func (s Style) width() int {
	if s.Width == 0 {
		return textWidth
	}
	return max(narrowest, s.Width)
}

// Bad marks bad news: an error's origin, say.
func (s Style) Bad(text string) string { return s.paint(badInk, text) }
