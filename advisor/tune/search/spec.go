package search

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
)

// A Spec is a sweep file.
type Spec struct {
	Name      string            `yaml:"sweep"`
	Kernel    string            `yaml:"kernel"`  // CUDA source, launch file or its folder, or a pattern of launch files or cubins
	Launch    string            `yaml:"launch"`  // the launch file, where kernel is a source or a pattern of cubins
	Compile   string            `yaml:"compile"` // command of the compiler, as --compiler takes it
	Flags     string            `yaml:"flags"`   // further flags of the compiler
	AxisList  yaml.MapSlice     `yaml:"axes"`
	Macros    []string          `yaml:"macros"` // axes that are macros of the source; by default those in capitals
	Set       Set               `yaml:"set"`
	WhereList []string          `yaml:"where"`
	FirstList []map[string]any  `yaml:"first"`
	Objective string            `yaml:"objective"`
	Goal      string            `yaml:"goal"` // min or max
	Per       []string          `yaml:"per"`
	Check     string            `yaml:"check"`
	Try       int               `yaml:"try"` // pieces of advice tried in each run
	Advice    map[string]string `yaml:"advice"`
	Search    Search            `yaml:"search"`

	Axes  []Axis             `yaml:"-"`
	Where []*Expr            `yaml:"-"`
	First []map[string]Value `yaml:"-"`
}

// Set gives facts of the launches as expressions over the axes.
type Set struct {
	Grid    []string            `yaml:"grid"`
	Block   []string            `yaml:"block"`
	Shared  string              `yaml:"shared"`
	Args    map[string]string   `yaml:"args"`    // scalars by number, from 0
	Buffers map[string][]string `yaml:"buffers"` // shapes by name
}

// Search says how variants are chosen.
type Search struct {
	Method   string  `yaml:"method"`   // grid, random, halving, tpe or advice
	Budget   int     `yaml:"budget"`   // runs of each group; 0: as many as there are variants, or a quarter of them for tpe and advice
	Seed     uint64  `yaml:"seed"`     //
	Stop     float64 `yaml:"stop"`     // a run ends at this multiple of the best cycles of its group; 0: none does
	Fidelity string  `yaml:"fidelity"` // halving: the axis whose last value counts, those before being cheaper
	Eta      int     `yaml:"eta"`      // halving: one in so many goes on
}

// Names of axes that change the launch or the GPU. Other names in capitals are macros, the rest are variables.
const (
	ArchAxis      = "arch"
	ReconvergAxis = "reconverge"
	GridAxis      = "grid"
	BlockAxis     = "block"
	SharedAxis    = "shared"
	CubinAxis     = "cubin"
	LaunchAxis    = "launch" // of launch files, where kernel is a pattern of them
	TryAxis       = "try"    // of optimizers whose advice is followed in time only
)

// maxSpec bounds a sweep file, bytes.
const maxSpec = 1 << 20

// Parse reads a sweep file.
func Parse(name string, data []byte) (*Spec, error) {
	if len(data) > maxSpec {
		return nil, fmt.Errorf("%s: %d bytes are too many for a sweep file", name, len(data))
	}
	s := new(Spec)
	if err := yaml.UnmarshalWithOptions(data, s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %s", name, strings.Join(strings.Fields(yaml.FormatError(err, false, false)), " "))
	}
	if err := s.complete(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func (s *Spec) complete() error {
	if s.Kernel == "" {
		return fmt.Errorf("kernel is missing")
	}
	for _, item := range s.AxisList {
		a, err := parseAxis(fmt.Sprint(item.Key), item.Value)
		if err != nil {
			return err
		}
		s.Axes = append(s.Axes, a)
	}
	for _, text := range rejoined(s.WhereList) {
		w, err := ParseExpr(text)
		if err != nil {
			return fmt.Errorf("where: %w", err)
		}
		s.Where = append(s.Where, w)
	}
	for _, first := range s.FirstList {
		at := make(map[string]Value)
		for name, v := range first {
			at[name] = ValueOf(v)
		}
		s.First = append(s.First, at)
	}
	s.Set.Grid, s.Set.Block = rejoined(s.Set.Grid), rejoined(s.Set.Block)
	for name, shape := range s.Set.Buffers {
		s.Set.Buffers[name] = rejoined(shape)
	}
	if s.Macros == nil {
		for _, a := range s.Axes {
			if !strings.ContainsFunc(a.Name, unicode.IsLower) {
				s.Macros = append(s.Macros, a.Name)
			}
		}
	}
	if s.Per == nil && slices.ContainsFunc(s.Axes, func(a Axis) bool { return a.Name == ArchAxis }) {
		s.Per = []string{ArchAxis}
	}
	s.defaults()
	return s.check()
}

// rejoined puts together again what YAML took apart at a comma: [ceil(n, BM), 1] is a list of "ceil(n", "BM)" and "1" to it.
func rejoined(list []string) (out []string) {
	open := 0
	for _, text := range list {
		if open > 0 {
			out[len(out)-1] += ", " + text
		} else {
			out = append(out, text)
		}
		open += strings.Count(text, "(") - strings.Count(text, ")")
	}
	return out
}

func (s *Spec) defaults() {
	for _, d := range []struct {
		to    *string
		value string
	}{{&s.Objective, "cycles"}, {&s.Goal, "min"}, {&s.Check, "outputs"}, {&s.Search.Method, "grid"}} {
		if *d.to == "" {
			*d.to = d.value
		}
	}
	if s.Search.Eta == 0 {
		s.Search.Eta = 3
	}
}

func (s *Spec) check() error {
	switch {
	case s.Goal != "min" && s.Goal != "max":
		return fmt.Errorf("goal: %q is neither min nor max", s.Goal)
	case s.Check != "outputs" && s.Check != "none":
		return fmt.Errorf("check: %q is neither outputs nor none", s.Check)
	case !slices.Contains(Methods, s.Search.Method):
		return fmt.Errorf("search.method: %q is none of %s", s.Search.Method, strings.Join(Methods, ", "))
	case s.Search.Stop != 0 && (s.Search.Stop < 1 || s.Objective != "cycles" || s.Goal != "min"):
		return fmt.Errorf("search.stop: a multiple from 1 of the least cycles, which have to be the objective")
	case s.Search.Budget < 0 || s.Search.Eta < 2 || s.Try < 0:
		return fmt.Errorf("search.budget and try are not negative, and search.eta is 2 at least")
	case (s.Search.Method == "halving") != (s.Search.Fidelity != ""):
		return fmt.Errorf("search.fidelity names the axis by which halving goes, and only it")
	case slices.Contains(s.Per, s.Search.Fidelity):
		return fmt.Errorf("per: there is a best for the last value of %s alone, by which halving goes", s.Search.Fidelity)
	}
	for i, a := range s.Axes {
		if a.Name == TryAxis && (s.Objective != "cycles" || s.Search.Stop != 0) {
			return fmt.Errorf("axes.try: what advice brings is known in cycles, which have to be the objective, and without search.stop")
		}
		if slices.ContainsFunc(s.Axes[:i], func(b Axis) bool { return a.Name == b.Name }) {
			return fmt.Errorf("axes: %s is there twice", a.Name)
		}
	}
	return nil
}

// Only leaves an axis with some of its values: NAME=V,V. In a value that is a list, x stands for the commas.
func (s *Spec) Only(text string) error {
	name, list, ok := strings.Cut(text, "=")
	i := slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Name == name })
	if !ok || i < 0 {
		return fmt.Errorf("%q is not NAME=V,V with the name of an axis", text)
	}
	words := strings.Split(list, ",")
	var kept []Value
	for _, v := range s.Axes[i].Values {
		if k := slices.IndexFunc(words, func(w string) bool { return w == string(v) || w == strings.ReplaceAll(string(v), ",", "x") }); k >= 0 {
			kept = append(kept, v)
			words = slices.Delete(words, k, k+1)
		}
	}
	if len(words) > 0 {
		return fmt.Errorf("axis %s has no value %s", name, words[0])
	}
	s.Axes[i].Values = kept
	return nil
}

// ranges of values: [64:256:64], and 2^[10:14] for powers.
var rangeSyntax = regexp.MustCompile(`^(?:(\d+)\^)?\[(\d+):(\d+)(?::(\d+))?\]$`)

func parseAxis(name string, value any) (Axis, error) {
	a := Axis{Name: name}
	if list, ok := value.([]any); ok {
		for _, v := range list {
			a.Values = append(a.Values, ValueOf(v))
		}
	} else if m := rangeSyntax.FindStringSubmatch(fmt.Sprint(value)); m != nil {
		var err error
		if a.Values, err = rangeValues(m[1:]); err != nil {
			return a, fmt.Errorf("axes.%s: %w", name, err)
		}
	} else {
		a.Values = []Value{ValueOf(value)}
	}
	met := make(map[Value]bool, len(a.Values))
	for _, v := range a.Values {
		if met[v] {
			return a, fmt.Errorf("axes.%s: %s is there twice", name, v)
		}
		met[v] = true
	}
	if len(a.Values) == 0 {
		return a, fmt.Errorf("axes.%s: there are no values", name)
	}
	return a, nil
}

func rangeValues(m []string) (list []Value, err error) {
	const most = 1 << 16
	base, _ := strconv.ParseInt(m[0], 10, 32)
	low, err1 := strconv.ParseInt(m[1], 10, 62)
	high, err2 := strconv.ParseInt(m[2], 10, 62)
	step := int64(1)
	if m[3] != "" {
		step, _ = strconv.ParseInt(m[3], 10, 62)
	}
	if err1 != nil || err2 != nil || step < 1 || high < low || (high-low)/step > most {
		return nil, fmt.Errorf("not a range of at most %d values", most)
	}
	for v := low; v <= high; v += step {
		if m[0] == "" {
			list = append(list, Value(strconv.FormatInt(v, 10)))
			continue
		}
		power := int64(1)
		for range v {
			if power > 1<<62/max(base, 1) {
				return nil, fmt.Errorf("%d^%d is too large", base, v)
			}
			power *= base
		}
		list = append(list, Value(strconv.FormatInt(power, 10)))
	}
	return list, nil
}

// ValueOf is a YAML or JSON value as text; the parts of a list are separated by commas.
func ValueOf(v any) Value {
	if list, ok := v.([]any); ok {
		parts := make([]string, len(list))
		for i, x := range list {
			parts[i] = string(ValueOf(x))
		}
		return Value(strings.Join(parts, ","))
	}
	return Value(fmt.Sprint(v))
}
