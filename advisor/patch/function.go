package patch

import (
	"strconv"

	"gpa/cubin/cxx"
)

// kernel is the definition of a kernel, of which there must be one.
func (s *Source) kernel(name string) (*cxx.Function, error) {
	var found []cxx.Function
	for _, f := range s.Functions(name) {
		for j := f.Begin; j < f.Name; j++ {
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

// Restrict declares the pointers of a kernel __restrict__, and const where it only reads what they point to. const is part of a C++
// function's symbol, so that only functions with C linkage that are declared once get it.
func (s *Source) Restrict(kernel string) ([]byte, error) {
	f, err := s.kernel(kernel)
	if err != nil {
		return nil, err
	}
	var edits []edit
	for _, p := range s.Parameters(f) {
		if p.Star < 0 || p.Restricted {
			continue
		}
		if !p.Constant && s.hasCLinkage(f) && s.onlyReads(f, s.At(p.Name)) {
			at := s.Tokens[p.First].Start
			edits = append(edits, edit{at, at, "const "})
		}
		after := p.Star // behind the * and its qualifiers
		for s.At(after+1) == "const" || s.At(after+1) == "volatile" {
			after++
		}
		at := s.Tokens[after].End
		to := " __restrict__"
		if at == s.Tokens[after+1].Start {
			to += " "
		}
		first := p.Star
		for s.At(first-1) == "*" {
			first--
		}
		if after == p.Star && s.Tokens[first].Start > s.Tokens[first-1].End {
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
func (s *Source) hasCLinkage(f *cxx.Function) bool {
	names := 0
	for i := range s.Tokens {
		if s.At(i) == s.At(f.Name) && s.At(i+1) == "(" {
			names++
		}
	}
	return names == 1 && s.At(f.Begin) == "extern" && s.Is(f.Begin+1, cxx.Literal)
}

// onlyReads reports whether a function only reads what a pointer points to: all that it does with the pointer is p[…] as a value.
func (s *Source) onlyReads(f *cxx.Function, name string) bool {
	for i := f.Body; i < f.End; i++ {
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
	for i := f.Begin; i < f.Name; i++ {
		if s.At(i) == "__launch_bounds__" && s.Match(i+1) > 0 {
			if s.Between(i, s.Match(i+1)) == bounds {
				return nil, nothing("%s has %s already", kernel, bounds)
			}
			return s.apply([]edit{{s.Tokens[i].Start, s.Tokens[s.Match(i+1)].End, bounds}})
		}
	}
	at := s.Tokens[f.Name].Start
	return s.apply([]edit{{at, at, bounds + " "}})
}

// Inline marks a device function __forceinline__, in the place of __noinline__ where that stands there.
func (s *Source) Inline(name string) ([]byte, error) {
	list := s.Functions(name)
	if len(list) != 1 {
		return nil, nothing("%d device functions %s are defined there", len(list), name)
	}
	f := list[0]
	for i := f.Begin; i < f.Name; i++ {
		switch s.At(i) {
		case "__noinline__":
			return s.apply([]edit{{s.Tokens[i].Start, s.Tokens[i].End, "__forceinline__"}})
		case "__forceinline__", "__global__":
			return nil, nothing("%s is %s", name, s.At(i))
		}
	}
	for i := f.Begin; i < f.Name; i++ {
		if s.At(i) == "__device__" {
			return s.apply([]edit{{s.Tokens[i].End, s.Tokens[i].End, " __forceinline__"}})
		}
	}
	return nil, ErrNothing
}
