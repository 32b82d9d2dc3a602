// Package sweep runs variants of a kernel and says which is best and why. A sweep file (YAML, see docs/sweep.md) names the kernel, axes with
// their values, constraints between them, an objective, and how to search; package search chooses what to run, package queue hands it to
// workers, each of which runs a variant in a process of its own.
//
// [Open] reads a sweep file, [Sweep.Plan] counts what it would run, [Sweep.Run] runs it, [Sweep.Results] tells what came out, also while it
// runs elsewhere, and [Sweep.Cancel] ends it from another process. [Work] runs variants of sweeps on other machines.
//
// Results are kept in a store by all that they depend on, with the program that computed them, so that nothing runs twice: a sweep that was
// stopped goes on where it was.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"gpa"
	"gpa/advisor/tune/search"
	"gpa/cubin/compile"
	"gpa/emu/launch"
	"gpa/kernels"
	"gpa/profiler/store"
)

// A Sweep is a sweep file with what it names at hand.
type Sweep struct {
	name     string // of the file
	spec     *search.Spec
	key      store.Key // of the file's text
	folder   string
	bases    map[search.Value]base // by the value of the axis launch, "" where there is none
	space    *search.Space
	groups   [][]int
	set      setExprs
	compiler *compile.Compiler // nil where nothing is compiled
	store    *store.Folder
	build    store.Key
	memo     memo
	listed   sync.Once
	numbers  map[string]int // of points by their values, once listed
}

// A base is a launch file as it is, or why it cannot be read.
type base struct {
	*launch.File
	err error
}

// setExprs are the launch facts that a sweep file sets.
type setExprs struct {
	grid, block []*search.Expr
	shared      *search.Expr
	args        map[int]*search.Expr
	buffers     map[string][]*search.Expr
}

// An AxisError is of a text that does not leave values of an axis.
type AxisError struct{ Err error }

// Error is one line.
func (e *AxisError) Error() string { return e.Err.Error() }

// Open reads a sweep file and lists its variants. Results are kept in a store. Each of only leaves some values of an axis, as in NAME=V,V; what is
// wrong with one is an *AxisError.
func Open(name string, results *store.Folder, only ...string) (*Sweep, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	s := &Sweep{name: name, folder: filepath.Dir(name), store: results}
	s.memo.forget()
	s.key = store.KeyOf(append(data, strings.Join(only, "\n")...))
	if s.spec, err = search.Parse(name, data); err != nil {
		return nil, err
	}
	if s.build, err = store.Program(); err != nil {
		return nil, err
	}
	if err := s.findKernel(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, text := range only {
		if err := s.spec.Only(text); err != nil {
			return nil, &AxisError{err}
		}
	}
	if err := s.parseSet(); err != nil {
		return nil, fmt.Errorf("%s: set: %w", name, err)
	}
	if s.space, err = search.NewSpace(s.spec.Axes, s.spec.Where); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if s.groups, err = s.space.Groups(s.spec.Per); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// id names the sweep on a server and in the store.
func (s *Sweep) id() string { return s.key.String()[:16] }

func (s *Sweep) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.folder, name)
}

// findKernel reads the launch files, and finds the compiler or the cubins.
func (s *Sweep) findKernel() (err error) {
	from := s.spec.Launch
	switch kernel := s.spec.Kernel; {
	case filepath.Ext(kernel) == ".cu":
		if s.compiler, err = s.findCompiler(); err != nil {
			return err
		}
		if from == "" {
			return errors.New("launch is missing: it names the launch file, with which the source is run")
		}
	case filepath.Ext(kernel) == ".cubin":
		if err := s.addFiles(search.CubinAxis, kernel); err != nil {
			return err
		}
		if from == "" {
			return errors.New("launch is missing: it names the launch file, with which the cubins are run")
		}
	case strings.ContainsAny(kernel, "*?["):
		return s.findLaunches()
	default:
		from = kernel
	}
	if s.spec.Launch != "" || strings.ContainsAny(from, "./\\") {
		from = s.path(from)
	}
	file, err := gpa.LoadFile(from, gpa.LoadOptions{})
	s.bases = map[search.Value]base{"": {file, err}}
	return err
}

// findLaunches reads the launch files of a pattern, or those in the folders of one, as gpa capture writes them.
func (s *Sweep) findLaunches() error {
	pattern := s.spec.Kernel
	if ext := filepath.Ext(pattern); ext != ".yaml" && ext != ".yml" {
		pattern = filepath.Join(pattern, kernels.LaunchFile)
	}
	if err := s.addFiles(search.LaunchAxis, pattern); err != nil {
		return err
	}
	s.bases = make(map[search.Value]base)
	for _, v := range s.spec.Axes[0].Values {
		file, err := gpa.LoadFile(s.path(string(v)), gpa.LoadOptions{})
		s.bases[v] = base{file, err} // one that is bad says nothing against the others
	}
	if s.spec.Per == nil || len(s.spec.Per) == 1 && s.spec.Per[0] == search.ArchAxis { // kernels are no variants of each other
		s.spec.Per = append([]string{search.LaunchAxis}, s.spec.Per...)
	}
	return nil
}

// addFiles makes an axis of the files of a pattern, by their names from the folder of the sweep file on.
func (s *Sweep) addFiles(axis, pattern string) error {
	names, err := filepath.Glob(s.path(pattern))
	if err != nil || len(names) == 0 {
		return fmt.Errorf("kernel: there is no file %s", pattern)
	}
	a := search.Axis{Name: axis}
	for _, name := range names {
		a.Values = append(a.Values, search.Value(filepath.ToSlash(relative(s.folder, name))))
	}
	s.spec.Axes = append([]search.Axis{a}, s.spec.Axes...)
	return nil
}

// findCompiler returns the compiler that the sweep file names, or nvcc.
func (s *Sweep) findCompiler() (*compile.Compiler, error) {
	return compile.Named(strings.ReplaceAll(s.spec.Compile, "{dir}", absolute(s.folder)), s.spec.Flags, os.Getenv)
}

func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

func relative(folder, name string) string {
	if rel, err := filepath.Rel(folder, name); err == nil {
		return rel
	}
	return name
}

// parseSet reads the expressions of the launch facts.
func (s *Sweep) parseSet() (err error) {
	all := func(texts []string) (list []*search.Expr) {
		for _, text := range texts {
			e, bad := search.ParseExpr(text)
			if err == nil {
				err = bad
			}
			list = append(list, e)
		}
		return list
	}
	set := s.spec.Set
	s.set = setExprs{grid: all(set.Grid), block: all(set.Block), args: make(map[int]*search.Expr), buffers: make(map[string][]*search.Expr)}
	if set.Shared != "" {
		s.set.shared = all([]string{set.Shared})[0]
	}
	for number, text := range set.Args {
		i, bad := strconv.Atoi(number)
		if bad != nil || i < 0 {
			return fmt.Errorf("args: %q is not the number of an argument", number)
		}
		s.set.args[i] = all([]string{text})[0]
	}
	for name, shape := range set.Buffers {
		s.set.buffers[name] = all(shape)
	}
	return err
}

// A Plan counts what a sweep would run.
type Plan struct {
	Axes         int
	Combinations int             // of all values
	Pruned       []search.Pruned // what each constraint leaves out of them
	Variants     int             // that are left
	Groups       int             // of variants, each of which has a best
	Different    int             // variants that are not the same code and launch as another one
	Stored       int             // of these: with a result in the store
	Refused      int             // that cannot be compiled or launched
}

// Plan compiles all variants and counts them.
func (s *Sweep) Plan(ctx context.Context) (*Plan, error) {
	p := &Plan{Axes: len(s.space.Axes), Combinations: 1, Pruned: s.space.Pruned, Variants: len(s.space.Points), Groups: len(s.groups)}
	for _, a := range s.space.Axes {
		p.Combinations *= len(a.Values)
	}
	var mu sync.Mutex
	met := make(map[store.Key]bool)
	count := func(i int) error {
		v, err := s.variant(ctx, i)
		var no refused
		if err != nil && !errors.As(err, &no) {
			return err
		}
		stored := err == nil && s.store.Has(v.key)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			p.Refused++
		case !met[v.key]:
			met[v.key] = true
			if stored {
				p.Stored++
			}
		}
		return nil
	}
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, runtime.NumCPU())
	for k := range errs {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(s.space.Points) && errs[k] == nil; i = int(next.Add(1)) - 1 {
				errs[k] = count(i)
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	p.Different = len(met)
	return p, nil
}

// Text writes a plan for people.
func (p *Plan) Text(w io.Writer) error {
	fmt.Fprintf(w, "%d combinations of %d axes\n", p.Combinations, p.Axes)
	for _, out := range p.Pruned {
		fmt.Fprintf(w, "  %d left out by %s\n", out.Count, out.Where)
	}
	_, err := fmt.Fprintf(w, "%d variants in %d groups, %d of them different, %d results in the store\n", p.Variants, p.Groups, p.Different, p.Stored)
	if p.Refused > 0 {
		_, err = fmt.Fprintf(w, "%d variants cannot be compiled or launched\n", p.Refused)
	}
	return err
}
