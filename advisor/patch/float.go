package patch

import (
	"regexp"
	"slices"
	"strings"

	"gpa/cubin/cxx"
)

// doubleLiteral matches a floating constant without suffix: decimal or hexadecimal, with a point or an exponent.
var doubleLiteral = regexp.MustCompile(`^((\d['\d]*)?\.(\d['\d]*)?([eE][+-]?\d+)?|\d['\d]*[eE][+-]?\d+|0[xX][\da-fA-F'.]+[pP][+-]?\d+)$`)

// FloatConstants writes f behind the double constants at some lines; no lines stand for all __global__ and __device__ functions. Statements
// about variables that are declared double stay as they are.
func (s *Source) FloatConstants(lines []int) ([]byte, error) {
	var edits []edit
	for _, f := range s.Functions("") {
		doubles := s.declared(&f, "double")
		for i := f.Body; i < f.End; i++ {
			t := s.Tokens[i]
			if t.Kind != cxx.Number || !wanted(lines, t.Line) || !doubleLiteral.Match(s.Text[t.Start:t.End]) {
				continue
			}
			if from, to := s.statementAround(i, f.Body, f.End); !s.mentions(from, to, doubles) {
				edits = append(edits, edit{t.End, t.End, "f"})
			}
		}
	}
	if len(edits) == 0 {
		return nil, nothing("no double constant among floats")
	}
	return s.apply(edits)
}

func wanted(lines []int, line int) bool { return len(lines) == 0 || slices.Contains(lines, line) }

// statementAround is the tokens of the statement, or of the part of a for header, that a token is in.
func (s *Source) statementAround(i, first, last int) (from, to int) {
	border := func(i int) bool { return s.At(i) == ";" || s.At(i) == "{" || s.At(i) == "}" || s.Is(i, cxx.Directive) }
	from, to = i, i
	for from > first && !border(from-1) {
		from--
	}
	for to < last && !border(to+1) {
		to++
	}
	return from, to
}

// mentions reports whether tokens name one of the variables, or double itself.
func (s *Source) mentions(from, to int, names map[string]int) bool {
	for i := from; i <= to; i++ {
		if _, ok := names[s.At(i)]; ok || s.At(i) == "double" {
			return true
		}
	}
	return false
}

// declared lists the variables and parameters of a function that are declared with a type, with how many [] and * each has.
func (s *Source) declared(f *cxx.Function, kind string) map[string]int {
	names := make(map[string]int)
	for i := f.Open; i < f.End; i++ {
		if s.At(i) != kind || s.At(i-1) == "<" || s.At(i-1) == "(" && s.At(i+1) == ")" || s.At(i-1) == "," && s.At(i+1) == ">" {
			continue
		}
		inParameters := i < f.Close
		for j := i + 1; j < f.End; j++ {
			stars := 0
			for ; slices.Contains([]string{"*", "&", "const", "__restrict__", "__restrict", "volatile"}, s.At(j)); j++ {
				if s.At(j) == "*" {
					stars++
				}
			}
			if !s.Is(j, cxx.Identifier) {
				break
			}
			name := s.At(j)
			for j++; s.At(j) == "[" && s.Match(j) > 0; j = s.Match(j) + 1 {
				stars++
			}
			if before, ok := names[name]; ok && before != stars {
				stars = -1 // two variables of one name
			}
			names[name] = stars
			j = s.declaratorEnd(j, f.End)
			if inParameters || s.At(j) != "," {
				break
			}
		}
	}
	return names
}

// declaratorEnd is the comma or what else ends a declarator whose name has been read.
func (s *Source) declaratorEnd(j, end int) int {
	for ; j < end; j++ {
		switch s.At(j) {
		case ",", ";", ")", "}", ":":
			return j
		case "(", "[", "{":
			if s.Match(j) < 0 {
				return end
			}
			j = s.Match(j)
		}
	}
	return end
}

// approximate is the function of less accuracy by the name of each.
var approximate = map[string]string{
	"expf": "__expf", "exp10f": "__exp10f", "logf": "__logf", "log2f": "__log2f", "log10f": "__log10f", "sinf": "__sinf", "cosf": "__cosf",
	"tanf": "__tanf", "powf": "__powf", "sincosf": "__sincosf", "fdividef": "__fdividef",
}

// overloaded are functions of C++ that take a float as well; they are float functions where their argument is one.
var overloaded = map[string]string{
	"exp": "__expf", "log": "__logf", "log2": "__log2f", "log10": "__log10f", "sin": "__sinf", "cos": "__cosf", "tan": "__tanf", "pow": "__powf",
}

// FastFunctions calls approximate single-precision functions at some lines: __expf for expf, __fdividef(x, y) for x / y, rsqrtf(x) for 1 / sqrtf(x).
// No lines stand for all __global__ and __device__ functions. A division is changed only where it is certain that it is one of floats.
func (s *Source) FastFunctions(lines []int) ([]byte, error) {
	var edits []edit
	for _, f := range s.Functions("") {
		floats, doubles := s.declared(&f, "float"), s.declared(&f, "double")
		for i := f.Body; i < f.End; i++ {
			if !wanted(lines, s.Tokens[i].Line) {
				continue
			}
			if to := s.faster(i, floats); to != "" {
				edits = append(edits, edit{s.Tokens[i].Start, s.Tokens[i].End, to})
			} else if s.At(i) == "/" {
				edits = append(edits, s.division(i, floats, doubles)...)
			}
		}
	}
	if len(edits) == 0 {
		return nil, nothing("no function or division of floats by name")
	}
	return s.apply(edits)
}

// faster is the function to call instead of that at a token, "" for none.
func (s *Source) faster(i int, floats map[string]int) string {
	closing := s.Match(i + 1)
	if !s.Is(i, cxx.Identifier) || s.At(i+1) != "(" || closing < 0 || s.At(i-1) == "." || s.At(i-1) == "->" || s.At(i-1) == "::" || s.Is(i-1, cxx.Identifier) && s.At(i-1) != "return" {
		return ""
	}
	if to := approximate[s.At(i)]; to != "" {
		return to
	}
	if to := overloaded[s.At(i)]; to != "" && s.isFloat(i+2, closing-1, floats) {
		return to
	}
	return ""
}

// division is the edits of x / y, none where it is not certain what x and y are.
func (s *Source) division(slash int, floats, doubles map[string]int) []edit {
	first, last := s.before(slash-1), s.operandBehind(slash+1)
	if first < 0 || last < 0 || !s.isFloat(first, slash-1, floats) && !s.isFloat(slash+1, last, floats) || s.mentions(first, last, doubles) {
		return nil
	}
	switch s.At(first - 1) { // what binds stronger, or as strong and from the left
	case ")", "]", "/", "%", "!", "~", ".", "->", "::", "++", "--", "":
		return nil
	case "*", "&":
		if k := s.At(first - 2); !(s.Is(first-2, cxx.Number) || s.Is(first-2, cxx.Identifier) && k != "return" || k == ")" || k == "]") {
			return nil // *p / x
		}
	}
	start, end := s.Tokens[first].Start, s.Tokens[slash-1].End
	one := s.At(slash-1) == "1.0f" || s.At(slash-1) == "1.f" || s.At(slash-1) == "1" || s.At(slash-1) == "1.0"
	if one && first == slash-1 && (s.At(slash+1) == "sqrtf" || s.At(slash+1) == "sqrt") && s.Match(slash+2) == last {
		return []edit{{start, s.Tokens[slash+1].End, "rsqrtf"}}
	}
	return []edit{
		{start, start, "__fdividef("},
		{end, s.Tokens[slash+1].Start, ", "},
		{s.Tokens[last].End, s.Tokens[last].End, ")"},
	}
}

// before is the first token of the operand that ends at a token: a name, a number or parentheses, with what is behind them; -1 where
// it is something else.
func (s *Source) before(last int) int {
	i := last
	for s.At(i) == ")" || s.At(i) == "]" {
		if i = s.Match(i); i < 0 {
			return -1
		}
		if s.At(i) == "(" && !s.Is(i-1, cxx.Identifier) {
			return i
		}
		if i--; s.At(i) == "return" {
			return i + 1
		}
	}
	if !s.Is(i, cxx.Identifier) && !s.Is(i, cxx.Number) || s.At(i) == "return" {
		return -1
	}
	for s.At(i-1) == "." || s.At(i-1) == "->" {
		if !s.Is(i-2, cxx.Identifier) {
			return -1
		}
		i -= 2
	}
	return i
}

// operandBehind is the last token of the operand that begins at a token.
func (s *Source) operandBehind(first int) int {
	i := first
	switch {
	case s.At(i) == "(":
		if i = s.Match(i); i < 0 || s.Is(i+1, cxx.Identifier) || s.Is(i+1, cxx.Number) || s.At(i+1) == "(" {
			return -1 // a cast
		}
		return i
	case !s.Is(i, cxx.Identifier) && !s.Is(i, cxx.Number):
		return -1
	}
	for {
		switch s.At(i + 1) {
		case "(", "[":
			if i = s.Match(i + 1); i < 0 {
				return -1
			}
		case ".", "->":
			i += 2
		case "::", "<", "++", "--":
			return -1
		default:
			return i
		}
	}
}

// isFloat reports whether an expression is certainly of type float: an operand of it is, and none is double.
func (s *Source) isFloat(first, last int, floats map[string]int) bool {
	found := false
	for i := first; i <= last; i++ {
		t := s.At(i)
		switch {
		case t == "double" || s.Is(i, cxx.Number) && doubleLiteral.MatchString(t):
			return false
		case t == "int" || t == "unsigned" || t == "long" || t == "size_t" || t == "?" || t == "<" || t == ">" || t == "==":
			return false
		case s.Is(i, cxx.Number):
			low := strings.ToLower(t)
			found = found || strings.HasSuffix(low, "f") && !strings.HasPrefix(low, "0x")
		case s.At(i+1) == "(" && s.Is(i, cxx.Identifier):
			known := approximate[t] != "" || slices.Contains([]string{"sqrtf", "rsqrtf", "fabsf", "fmaxf", "fminf", "fmaf", "tanhf", "exp2f", "__fdividef"}, t) || strings.HasPrefix(t, "__") && approximate[strings.TrimPrefix(t, "__")] != ""
			if i = s.Match(i + 1); i < 0 {
				return false
			}
			found = found || known
		case s.Is(i, cxx.Identifier):
			depth, ok := floats[t]
			if s.At(i-1) == "." || s.At(i-1) == "->" {
				ok = false
			}
			for s.At(i+1) == "[" && s.Match(i+1) > 0 {
				i = s.Match(i + 1)
				depth--
			}
			found = found || ok && depth == 0
		}
	}
	return found
}
