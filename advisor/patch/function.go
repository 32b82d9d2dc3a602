package patch

import (
	"slices"
	"strconv"

	"gpa/cubin/cxx"
)

// A function is a definition.
type function struct {
	name        int // token
	open, close int // of the parameters
	body        int // the brace
	end         int // its other one
	begin       int // the first token of the declaration
}

// functions lists the definitions of __global__ and __device__ functions, by name where that is not "".
func (s *Source) functions(name string) (list []function) {
	for i := range s.Tokens {
		if f := s.function(i); f != nil && (name == "" || s.At(f.name) == name) {
			list = append(list, *f)
		}
	}
	return list
}

// function is the definition whose name is at a token, nil for none.
func (s *Source) function(i int) *function {
	closing := s.Match(i + 1)
	if !s.Is(i, cxx.Identifier) || s.At(i+1) != "(" || closing < 0 || slices.Contains([]string{"__launch_bounds__", "__attribute__", "alignas", "__align__"}, s.At(i)) {
		return nil
	}
	body := closing + 1
	for s.At(body) == "const" || s.At(body) == "noexcept" {
		body++
	}
	if s.At(body) != "{" || s.Match(body) < 0 {
		return nil
	}
	begin, device := i, false
	for begin > 0 {
		t := s.At(begin - 1)
		if t == ";" || t == "}" || t == "{" || t == "" {
			break
		}
		device = device || t == "__global__" || t == "__device__"
		begin--
	}
	if s.Is(begin-1, cxx.Literal) && s.At(begin-2) == "extern" { // extern "C"
		begin -= 2
		for j := begin; j < i; j++ {
			device = device || s.At(j) == "__global__" || s.At(j) == "__device__"
		}
	}
	if !device {
		return nil
	}
	return &function{i, i + 1, closing, body, s.Match(body), begin}
}

// kernel is the definition of a kernel, of which there must be one.
func (s *Source) kernel(name string) (*function, error) {
	var found []function
	for _, f := range s.functions(name) {
		for j := f.begin; j < f.name; j++ {
			if s.At(j) == "__global__" {
				found = append(found, f)
				break
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, nothing("no kernel %s is defined there", name)
	case 1:
		return &found[0], nil
	}
	return nil, nothing("several kernels %s are defined there", name)
}

// A parameter is a part of a list of them.
type parameter struct {
	first, last int // tokens, without the comma
	name        int // token, -1 for none
	star        int // of a pointer to data, the last * of its type; -1 where it is none
	constant    bool
	restricted  bool
}

// parameters takes a function's list apart.
func (s *Source) parameters(f *function) (list []parameter) {
	first, angle := f.open+1, 0
	for i := first; i <= f.close; i++ {
		switch t := s.At(i); {
		case i == f.close || t == "," && angle == 0:
			if i > first {
				list = append(list, s.parameter(first, i-1))
			}
			first = i + 1
		case t == "<":
			angle++
		case t == ">":
			angle = max(0, angle-1)
		case t == "(" || t == "[" || t == "{":
			if s.Match(i) < 0 {
				return nil
			}
			i = s.Match(i)
		}
	}
	return list
}

// parameter takes a declaration apart. Pointers to functions and arrays are no pointers to data here.
func (s *Source) parameter(first, last int) parameter {
	p := parameter{first: first, last: last, name: -1, star: -1}
	stars, angle := 0, 0
	for i := first; i <= last; i++ {
		t := s.At(i)
		if t == "=" || t == "(" || t == "[" {
			if t != "=" {
				p.star = -1
				return p
			}
			break
		}
		switch {
		case t == "<":
			angle++
		case t == ">":
			angle--
		case angle > 0:
		case t == "*":
			p.star = i
			stars++
		case t == "__restrict__" || t == "__restrict":
			p.restricted = true
		case t == "const" && p.star < 0:
			p.constant = true
		case t == "&" || t == "&&" || t == "...":
			return parameter{first: first, last: last, name: -1, star: -1}
		case s.Is(i, cxx.Identifier) && p.star >= 0:
			p.name = i
		case s.Is(i, cxx.Directive):
			return parameter{first: first, last: last, name: -1, star: -1}
		}
	}
	if p.name < 0 {
		p.star = -1
	}
	p.constant = p.constant || stars > 1 // what the inner pointer points to is another matter
	return p
}

// Restrict declares the pointers of a kernel __restrict__, and const where it only reads what they point to. const is part of a C++
// function's symbol, so that only functions with C linkage that are declared once get it.
func (s *Source) Restrict(kernel string) ([]byte, error) {
	f, err := s.kernel(kernel)
	if err != nil {
		return nil, err
	}
	var edits []edit
	for _, p := range s.parameters(f) {
		if p.star < 0 || p.restricted {
			continue
		}
		if !p.constant && s.hasCLinkage(f) && s.onlyReads(f, s.At(p.name)) {
			at := s.Tokens[p.first].Start
			edits = append(edits, edit{at, at, "const "})
		}
		after := p.star // behind the * and its qualifiers
		for s.At(after+1) == "const" || s.At(after+1) == "volatile" {
			after++
		}
		at := s.Tokens[after].End
		to := " __restrict__"
		if at == s.Tokens[after+1].Start {
			to += " "
		}
		first := p.star
		for s.At(first-1) == "*" {
			first--
		}
		if after == p.star && s.Tokens[first].Start > s.Tokens[first-1].End {
			to = to[1:] // float *x, not float* x
		}
		edits = append(edits, edit{at, at, to})
	}
	if len(edits) == 0 {
		return nil, nothing("%s has no pointer that is not restrict", kernel)
	}
	return s.apply(edits)
}

// hasCLinkage reports whether a function is extern "C", by its own declaration, and declared nowhere else.
func (s *Source) hasCLinkage(f *function) bool {
	names := 0
	for i := range s.Tokens {
		if s.At(i) == s.At(f.name) && s.At(i+1) == "(" {
			names++
		}
	}
	return names == 1 && s.At(f.begin) == "extern" && s.Is(f.begin+1, cxx.Literal)
}

// onlyReads reports whether a function only reads what a pointer points to: all that it does with the pointer is p[…] as a value.
func (s *Source) onlyReads(f *function, name string) bool {
	for i := f.body; i < f.end; i++ {
		if s.Is(i, cxx.Directive) {
			return false // a macro may hide a use
		}
		if s.At(i) != name || s.At(i-1) == "." || s.At(i-1) == "->" || s.At(i-1) == "::" {
			continue
		}
		closing := s.Match(i + 1)
		if s.At(i+1) != "[" || closing < 0 {
			return false
		}
		switch s.At(i - 1) {
		case "&", "++", "--":
			return false
		}
		if !s.isValue(closing + 1) {
			return false
		}
	}
	return true
}

// isValue reports whether what stands behind an operand leaves it as it is.
func (s *Source) isValue(i int) bool {
	switch s.At(i) {
	case "+", "-", "*", "/", "%", ";", ")", "]", ",", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "?", ":", "^", "}":
		return true
	case "&", "|", "<<":
		return true
	case ".":
		return s.Is(i+1, cxx.Identifier) && s.isValue(i+2)
	}
	return false
}

// LaunchBounds gives a kernel __launch_bounds__(threads, blocks), in the place of those that it has: blocks 0 leaves the blocks of an SM
// to the compiler.
func (s *Source) LaunchBounds(kernel string, threads, blocks int) ([]byte, error) {
	f, err := s.kernel(kernel)
	if err != nil {
		return nil, err
	}
	bounds := "__launch_bounds__(" + strconv.Itoa(threads)
	if blocks > 0 {
		bounds += ", " + strconv.Itoa(blocks)
	}
	bounds += ")"
	for i := f.begin; i < f.name; i++ {
		if s.At(i) == "__launch_bounds__" && s.Match(i+1) > 0 {
			if s.Between(i, s.Match(i+1)) == bounds {
				return nil, nothing("%s has %s already", kernel, bounds)
			}
			return s.apply([]edit{{s.Tokens[i].Start, s.Tokens[s.Match(i+1)].End, bounds}})
		}
	}
	at := s.Tokens[f.name].Start
	return s.apply([]edit{{at, at, bounds + " "}})
}

// Inline marks a device function __forceinline__, in the place of __noinline__ where that stands there.
func (s *Source) Inline(name string) ([]byte, error) {
	list := s.functions(name)
	if len(list) != 1 {
		return nil, nothing("%d device functions %s are defined there", len(list), name)
	}
	f := list[0]
	for i := f.begin; i < f.name; i++ {
		switch s.At(i) {
		case "__noinline__":
			return s.apply([]edit{{s.Tokens[i].Start, s.Tokens[i].End, "__forceinline__"}})
		case "__forceinline__", "__global__":
			return nil, nothing("%s is %s", name, s.At(i))
		}
	}
	for i := f.begin; i < f.name; i++ {
		if s.At(i) == "__device__" {
			return s.apply([]edit{{s.Tokens[i].End, s.Tokens[i].End, " __forceinline__"}})
		}
	}
	return nil, ErrNothing
}
