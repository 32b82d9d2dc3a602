package branch

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"gpa/cubin"
)

// A Rule gives the branches of source lines a type, as the labels do that the paper's authors put into the source. All
// copies of a line that the compiler makes have it.
type Rule struct {
	File        string // base name, or the end of a path
	First, Last int    // lines
	Type        Type
}

// ParseRule reads FILE:LINE=TYPE or FILE:FIRST-LAST=TYPE.
func ParseRule(text string) (Rule, error) {
	bad := func(why string) (Rule, error) {
		return Rule{}, fmt.Errorf("%q: %s; a rule is FILE:LINE=TYPE or FILE:FIRST-LAST=TYPE", text, why)
	}
	place, name, ok := strings.Cut(text, "=")
	colon := strings.LastIndexByte(place, ':')
	if !ok || colon < 1 {
		return bad("there is no line or no type")
	}
	r := Rule{File: place[:colon]}
	first, last, several := strings.Cut(place[colon+1:], "-")
	if !several {
		last = first
	}
	var err, err2 error
	r.First, err = strconv.Atoi(first)
	r.Last, err2 = strconv.Atoi(last)
	if err != nil || err2 != nil || r.First < 1 || r.Last < r.First {
		return bad("its lines are no lines")
	}
	if r.Type, err = ParseType(name); err != nil {
		return bad(err.Error())
	}
	return r, nil
}

// String is the rule as [ParseRule] reads it.
func (r *Rule) String() string {
	if r.First == r.Last {
		return fmt.Sprintf("%s:%d=%s", r.File, r.First, r.Type)
	}
	return fmt.Sprintf("%s:%d-%d=%s", r.File, r.First, r.Last, r.Type)
}

// covers reports whether a frame lies on the rule's lines.
func (r *Rule) covers(f *cubin.Frame) bool {
	return f.Line >= r.First && f.Line <= r.Last && (f.File == r.File || strings.HasSuffix(f.File, "/"+r.File) || path.Base(f.File) == r.File)
}

// Apply gives branches the types that rules have for their lines, the last rule that covers a line or the call that it was
// inlined by. It returns for each rule how many branches it decided: one without any is a mistake, or its branch did not
// survive compilation.
func Apply(module *cubin.File, list []Branch, rules []Rule) []int {
	used := make([]int, len(rules))
	for i := range list {
		b := &list[i]
		frames := module.Codes[b.Code].Frames(b.PC)
		for k := len(rules) - 1; k >= 0 && b.Rule == nil; k-- {
			for f := range frames {
				if rules[k].covers(&frames[f]) {
					b.Rule, b.Type = &rules[k], rules[k].Type
					used[k]++
					break
				}
			}
		}
	}
	return used
}
