package patch

import (
	"regexp"
	"strconv"
)

// A loop is a statement that repeats.
type loop struct {
	keyword     int // token of for, while or do
	first, last int // its lines
	header      int // last line of its header; of do its first line
	pragma      int // token of the directive before it that says how it is unrolled, -1 for none
}

// Full is the factor of a loop that is unrolled in full.
const Full = 0

// Unroll puts #pragma unroll before the loop whose header is at a line, or else before the innermost loop around it: by a factor, Full
// for all rounds, 1 for none. A pragma that is there is replaced.
func (s *Source) Unroll(line, factor int) ([]byte, error) {
	l := s.loopAt(line)
	if l == nil {
		return nil, nothing("no loop at line %d", line)
	}
	pragma := "#pragma unroll"
	if factor != Full {
		pragma += " " + strconv.Itoa(factor)
	}
	if l.pragma >= 0 {
		t := s.tokens[l.pragma]
		if string(s.text[t.start:t.end]) == pragma {
			return nil, nothing("the loop at line %d has %s already", line, pragma)
		}
		return s.apply([]edit{{t.start, t.end, pragma}})
	}
	at := s.tokens[l.keyword].start
	space, first := s.indent(at)
	if !first { // if (x) for (…): the line is divided
		pragma = s.newline() + space + pragma
	}
	return s.apply([]edit{{at, at, pragma + s.newline() + space}})
}

// LoopHeader reports whether the header of a loop is at a line.
func (s *Source) LoopHeader(line int) bool {
	l := s.loopAt(line)
	return l != nil && l.first <= line && line <= l.header
}

// loopAt is the loop whose header is at a line, the innermost of several, else the innermost around it.
func (s *Source) loopAt(line int) *loop {
	var best *loop
	at := func(l *loop) bool { return l.first <= line && line <= l.header }
	for i := range s.loops {
		l := &s.loops[i]
		if l.first <= line && line <= l.last && (best == nil || at(l) || !at(best)) { // inner loops come later
			best = l
		}
	}
	return best
}

// findLoops lists the loops, in the order of their headers.
func (s *Source) findLoops() {
	ends := make(map[int]bool) // while that belongs to a do
	for i := range s.tokens {
		if s.at(i) == "do" {
			if end := s.statementEnd(i+1, 0); end >= 0 {
				ends[end+1] = true
			}
		}
		if l := s.loop(i); l != nil && !ends[i] {
			s.loops = append(s.loops, *l)
		}
	}
}

// loop is the loop that begins at a token, nil for none.
func (s *Source) loop(i int) *loop {
	if !s.is(i, identifier) {
		return nil
	}
	l := &loop{keyword: i, first: s.tokens[i].line, pragma: -1}
	l.header = l.first
	switch s.at(i) {
	case "for", "while":
		closing := s.match(i + 1)
		if s.at(i+1) != "(" || closing < 0 {
			return nil
		}
		l.header = s.tokens[closing].line
	case "do":
	default:
		return nil
	}
	end := s.statementEnd(i, 0)
	if end < 0 {
		return nil
	}
	l.last = s.tokens[end].line
	if s.is(i-1, directive) && unrolls.Match(s.text[s.tokens[i-1].start:s.tokens[i-1].end]) {
		l.pragma = i - 1
	}
	return l
}

var unrolls = regexp.MustCompile(`^#[ \t]*pragma[ \t]+(unroll|nounroll)\b`)

// deepest is how many statements may be in each other without braces.
const deepest = 100

// statementEnd is the last token of the statement that begins at a token, -1 where it has no end.
func (s *Source) statementEnd(i, depth int) int {
	if depth > deepest {
		return -1
	}
	for s.is(i, directive) {
		i++
	}
	switch s.at(i) {
	case "":
		if !s.is(i, text) {
			return -1
		}
	case "{":
		return s.match(i)
	case "for", "while", "switch":
		return s.behind(i+1, depth)
	case "if":
		next := i + 1
		if s.at(next) == "constexpr" {
			next++
		}
		end := s.behind(next, depth)
		if end >= 0 && s.at(end+1) == "else" {
			return s.statementEnd(end+2, depth+1)
		}
		return end
	case "do":
		end := s.statementEnd(i+1, depth+1)
		if end < 0 || s.at(end+1) != "while" || s.match(end+2) < 0 || s.at(s.match(end+2)+1) != ";" {
			return -1
		}
		return s.match(end+2) + 1
	}
	return s.semicolon(i)
}

// behind is the end of the statement behind a condition in parentheses.
func (s *Source) behind(parenthesis, depth int) int {
	closing := s.match(parenthesis)
	if s.at(parenthesis) != "(" || closing < 0 {
		return -1
	}
	return s.statementEnd(closing+1, depth+1)
}

// semicolon is the next one that is in no brackets, -1 where the block ends before.
func (s *Source) semicolon(i int) int {
	for ; i < len(s.tokens); i++ {
		switch s.at(i) {
		case ";":
			return i
		case "(", "[", "{":
			if i = s.match(i); i < 0 {
				return -1
			}
		case ")", "]", "}":
			return -1
		}
	}
	return -1
}
