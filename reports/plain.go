package reports

import "strings"

// plain makes a text from a file fit for a terminal: printable ASCII on one line. Tabs become spaces; whatever else a
// cubin's strings or a source line hold, escape sequences above all, becomes a question mark.
func plain(s string) string {
	if !strings.ContainsFunc(s, notPlain) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return ' '
		case notPlain(r):
			return '?'
		}
		return r
	}, s)
}

func notPlain(r rune) bool { return r < ' ' || r > '~' }

// cut shortens a plain text to width characters and shows that it did.
func cut(s string, width int) string {
	const more = "..."
	if len(s) <= width {
		return s
	}
	if width <= len(more) {
		return more[:max(width, 0)]
	}
	return s[:width-len(more)] + more
}

// cutFront shortens a plain text to width characters from its front, as file names are shortened.
func cutFront(s string, width int) string {
	const more = "..."
	if len(s) <= width {
		return s
	}
	if width <= len(more) {
		return more[:max(width, 0)]
	}
	return more + s[len(s)-width+len(more):]
}

// Wrap breaks a text at spaces into lines of at most width characters; a longer word stands alone.
func Wrap(s string, width int) []string {
	var lines []string
	var line string
	for _, word := range strings.Fields(s) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// wrappedAt is how many characters of a message stand on a line, which is less than what a PlainWriter cuts.
const wrappedAt = 200

// WrapMessage breaks a message into lines of less than LongestLine, without losing a character. Names of kernels that a compiler has made of
// closures and types can be hundreds of characters long, and what follows them is what matters.
func WrapMessage(message string) string {
	var lines []string
	rest := []rune(message)
	for len(rest) > wrappedAt {
		at := wrappedAt
		for i := wrappedAt; i > wrappedAt/2; i-- {
			if rest[i] == ' ' {
				at = i
				break
			}
		}
		lines = append(lines, string(rest[:at]))
		rest = []rune("  " + strings.TrimPrefix(string(rest[at:]), " "))
	}
	return strings.Join(append(lines, string(rest)), "\n")
}

// Suggestion is the end of a message about a name that is not known: the known one that it was most likely meant to be, or nothing.
func Suggestion(name string, known []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, k := range known {
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if name != "" && strings.HasPrefix(k, name) {
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance is the number of bytes to insert, delete, replace or swap with their neighbour to make b of a (the optimal string
// alignment distance).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// Reflow fills the lines of paragraphs to a width. A paragraph with an indented line stays as it is.
func Reflow(text string, width int) string {
	var out strings.Builder
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		if strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ") || strings.Contains(paragraph, ":  ") {
			out.WriteString(paragraph + "\n")
			continue
		}
		out.WriteString(strings.Join(Wrap(paragraph, width), "\n") + "\n")
	}
	return out.String()
}

// ShellQuoted puts what a shell would take for something else between quotes.
func ShellQuoted(line string) string {
	words := strings.Fields(line)
	for i, word := range words {
		if strings.ContainsAny(word, "[](){}*") {
			words[i] = "'" + word + "'"
		}
	}
	return strings.Join(words, " ")
}
