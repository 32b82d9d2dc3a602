package reports

import (
	"strings"
)

// sources gives the text of source lines.
type sources struct {
	open  func(file string) []byte
	files map[string][]string
}

// line returns a line (1-based) of a source file without the space around it; empty where it is unknown.
func (s *sources) line(file string, n int) string {
	if s.open == nil || file == "" || n < 1 {
		return ""
	}
	lines, ok := s.files[file]
	if !ok {
		lines = strings.Split(string(s.open(file)), "\n")
		if s.files == nil {
			s.files = make(map[string][]string)
		}
		s.files[file] = lines
	}
	if n > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[n-1])
}
