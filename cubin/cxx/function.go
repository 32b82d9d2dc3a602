package cxx

import "slices"

// A Function is a definition, by tokens.
type Function struct {
	Name        int
	Open, Close int // of the parameters
	Body        int // the brace
	End         int // its other one
	Begin       int // the first one of the declaration
}

// Functions lists the definitions of __global__ and __device__ functions, by name where that is not "".
func (s *Source) Functions(name string) (list []Function) {
	for i := range s.Tokens {
		if f := s.function(i); f != nil && (name == "" || s.At(f.Name) == name) {
			list = append(list, *f)
		}
	}
	return list
}

// function is the definition whose name is at a token, nil for none.
func (s *Source) function(i int) *Function {
	closing := s.Match(i + 1)
	if !s.Is(i, Identifier) || s.At(i+1) != "(" || closing < 0 || slices.Contains([]string{"__launch_bounds__", "__attribute__", "alignas", "__align__"}, s.At(i)) {
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
	if s.Is(begin-1, Literal) && s.At(begin-2) == "extern" { // extern "C"
		begin -= 2
		for j := begin; j < i; j++ {
			device = device || s.At(j) == "__global__" || s.At(j) == "__device__"
		}
	}
	if !device {
		return nil
	}
	return &Function{i, i + 1, closing, body, s.Match(body), begin}
}

// A Parameter is a part of a list of them.
type Parameter struct {
	First, Last int  // tokens, without the comma
	Name        int  // token, -1 for none
	Star        int  // of a pointer to data, the last * of its type; -1 where it is none
	Constant    bool // what it points to
	Restricted  bool
}

// Parameters takes a function's list apart.
func (s *Source) Parameters(f *Function) (list []Parameter) {
	first, angle := f.Open+1, 0
	for i := first; i <= f.Close; i++ {
		switch t := s.At(i); {
		case i == f.Close || t == "," && angle == 0:
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
func (s *Source) parameter(first, last int) Parameter {
	p := Parameter{First: first, Last: last, Name: -1, Star: -1}
	stars, angle := 0, 0
	for i := first; i <= last; i++ {
		t := s.At(i)
		if t == "=" || t == "(" || t == "[" {
			if t != "=" {
				p.Star = -1
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
			p.Star = i
			stars++
		case t == "__restrict__" || t == "__restrict":
			p.Restricted = true
		case t == "const" && p.Star < 0:
			p.Constant = true
		case t == "&" || t == "&&" || t == "...":
			return Parameter{First: first, Last: last, Name: -1, Star: -1}
		case s.Is(i, Identifier) && p.Star >= 0:
			p.Name = i
		case s.Is(i, Directive):
			return Parameter{First: first, Last: last, Name: -1, Star: -1}
		}
	}
	if p.Name < 0 {
		p.Star = -1
	}
	p.Constant = p.Constant || stars > 1 // what the inner pointer points to is another matter
	return p
}
