package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gpa"
	"gpa/advisor/tune"
	"gpa/advisor/tune/queue"
	"gpa/advisor/tune/search"
	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/launch"
	"gpa/profiler/store"
)

// A sweep is a sweep file with what it names at hand.
type sweep struct {
	name     string // of the file
	spec     *search.Spec
	key      store.Key // of the file's text
	folder   string
	base     *launch.File
	space    *search.Space
	groups   [][]int
	set      setExprs
	compiler *tune.Compiler // nil where nothing is compiled
	store    *store.Folder
	build    store.Key
}

// setExprs are the launch facts that a sweep file sets.
type setExprs struct {
	grid, block []*search.Expr
	shared      *search.Expr
	args        map[int]*search.Expr
	buffers     map[string][]*search.Expr
}

// openSweep reads a sweep file and lists its variants, of some axes with fewer values.
func openSweep(name string, fewer []string, folder *store.Folder, getenv func(string) string) (*sweep, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	s := &sweep{name: name, folder: filepath.Dir(name), store: folder}
	s.key = store.KeyOf(append(data, strings.Join(fewer, "\n")...))
	if s.spec, err = search.Parse(name, data); err != nil {
		return nil, err
	}
	if s.build, err = simulation(); err != nil {
		return nil, err
	}
	if err := s.findKernel(getenv); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, text := range fewer {
		if err := s.spec.Only(text); err != nil {
			return nil, usagef("--axis: %w", err)
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
func (s *sweep) id() string { return s.key.String()[:16] }

func (s *sweep) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.folder, name)
}

// findKernel reads the launch file, and finds the compiler or the cubins.
func (s *sweep) findKernel(getenv func(string) string) (err error) {
	from := s.spec.Launch
	switch kernel := s.spec.Kernel; {
	case filepath.Ext(kernel) == ".cu":
		if s.compiler, err = s.findCompiler(getenv); err != nil {
			return err
		}
		if from == "" {
			return errors.New("launch is missing: it names the launch file, with which the source is run")
		}
	case filepath.Ext(kernel) == ".cubin" || strings.ContainsAny(kernel, "*?["):
		names, err := filepath.Glob(s.path(kernel))
		if err != nil || len(names) == 0 {
			return fmt.Errorf("kernel: there is no file %s", kernel)
		}
		axis := search.Axis{Name: search.CubinAxis}
		for _, name := range names {
			axis.Values = append(axis.Values, search.Value(filepath.ToSlash(relative(s.folder, name))))
		}
		s.spec.Axes = append([]search.Axis{axis}, s.spec.Axes...)
		if from == "" {
			return errors.New("launch is missing: it names the launch file, with which the cubins are run")
		}
	default:
		from = kernel
	}
	if s.spec.Launch != "" || strings.ContainsAny(from, "./\\") {
		from = s.path(from)
	}
	s.base, err = gpa.LoadFile(from, gpa.LoadOptions{})
	return err
}

// findCompiler returns the compiler that the sweep file names, or nvcc.
func (s *sweep) findCompiler(getenv func(string) string) (*tune.Compiler, error) {
	c, err := tune.FindCompiler(getenv)
	if s.spec.Compile != "" {
		c, err = tune.ParseCompiler(strings.ReplaceAll(s.spec.Compile, "{dir}", absolute(s.folder)))
	}
	if err != nil {
		return nil, err
	}
	return c.With(s.spec.Flags)
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
func (s *sweep) parseSet() (err error) {
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

// A sweepVariant is a point of the space, ready to be run.
type sweepVariant struct {
	point int
	key   store.Key
	task  *queue.Task
	blobs []store.Key // that the task refers to
}

// A sweepTask is what a worker has to know to run a variant: all files are named by the hash of their contents, and lie in the store.
type sweepTask struct {
	Build      string   `json:"build"`
	Launch     string   `json:"launch"` // launch file
	Files      []string `json:"files"`  // that it names
	GPU        string   `json:"gpu"`
	Reconverge string   `json:"reconverge"`
	Try        int      `json:"try"`
	MaxCycles  int64    `json:"max_cycles,omitempty"` // not a part of the key
}

// refused is the error of a variant that cannot be run, which says nothing against the others.
type refused struct{ error }

// variant compiles a point and writes its launch.
func (s *sweep) variant(ctx context.Context, point int) (*sweepVariant, error) {
	at := s.space.At(s.space.Points[point])
	model, module, err := s.module(ctx, at)
	if err != nil {
		return nil, err
	}
	file, err := s.launch(at)
	if err != nil {
		return nil, refused{err}
	}
	text, files, err := s.keep(file, module)
	if err != nil {
		return nil, err
	}
	t := sweepTask{Build: s.build.String(), Launch: text, GPU: model.Name, Reconverge: string(at[search.ReconvergAxis]), Try: s.spec.Try}
	if t.Reconverge == "" {
		t.Reconverge = "volta"
	}
	for _, f := range files {
		t.Files = append(t.Files, f.String())
	}
	key, err := t.key(model)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	v := &sweepVariant{point: point, key: key, blobs: files}
	v.task = &queue.Task{Key: key.String(), Sweep: s.id(), Memory: memoryOf(file), Body: body}
	return v, nil
}

// key encodes all that the report of a task depends on.
func (t *sweepTask) key(model *arch.Model) (store.Key, error) {
	e := store.NewEncoder("sweep 1")
	e.Field("build", t.Build)
	e.Field("launch", t.Launch)
	e.Field("gpu", model)
	e.Field("reconverge", t.Reconverge)
	e.Field("try", t.Try)
	return e.Sum()
}

// memoryOf estimates what running a launch file takes, bytes: the buffers twice, as trying advice keeps what was there before, and what every
// machine takes.
func memoryOf(file *launch.File) int64 {
	const machine = 200 << 20
	n := int64(0)
	for i := range file.Buffers {
		size := int64(max(1, file.Buffers[i].Type.Size()))
		for _, d := range file.Buffers[i].Shape {
			size *= int64(d)
		}
		n += size
	}
	return machine + 2*n
}

// module finds the GPU and the code of a variant.
func (s *sweep) module(ctx context.Context, at map[string]search.Value) (*arch.Model, *cubin.File, error) {
	var model *arch.Model
	architecture := sass.Arch(0)
	if name := string(at[search.ArchAxis]); name != "" {
		var err error
		if model, err = arch.ByName(name); err != nil {
			return nil, nil, refused{err}
		}
		architecture = sass.Arch(model.Arch)
	}
	var module *cubin.File
	var err error
	switch name := string(at[search.CubinAxis]); {
	case s.compiler != nil && architecture == 0:
		return nil, nil, usagef("%s: a source is compiled for a GPU, which the axis arch names", s.name)
	case s.compiler != nil:
		module, err = s.compile(ctx, at, architecture)
	case name != "":
		var label string
		var data, code []byte
		if data, err = os.ReadFile(s.path(name)); err == nil {
			if label, code, err = cubin.Pick(name, data, architecture); err == nil {
				module, err = cubin.NewFile(label, code)
			}
		}
	default:
		module, err = s.base.LoadModule(architecture)
	}
	switch {
	case tune.Refused(err) || err != nil && s.compiler == nil:
		return nil, nil, refused{err}
	case err != nil:
		return nil, nil, err
	}
	if model == nil {
		model, err = arch.ByName("sm_" + strconv.Itoa(int(module.Arch)))
	}
	return model, module, err
}

// compile makes the cubin of a variant, or takes it from the store: source and headers beside it, command, macros and the compiler's own file
// are the key.
func (s *sweep) compile(ctx context.Context, at map[string]search.Value, architecture sass.Arch) (*cubin.File, error) {
	var flags []string
	for _, name := range s.spec.Macros {
		flags = append(flags, "-D"+name+"="+string(at[name]))
	}
	source := s.path(s.spec.Kernel)
	key, err := s.compileKey(source, flags, architecture)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(source)
	if files, err := s.store.Result(key); err == nil {
		return cubin.NewFile(name, files[tune.OutName])
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "gpa-sweep-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
		return nil, err
	}
	module, err := s.compiler.Compile(ctx, folder, name, architecture, append(flags, "-I"+absolute(filepath.Dir(source))))
	if err != nil {
		return nil, err
	}
	return module, s.store.Record(key, map[string][]byte{tune.OutName: module.Raw})
}

func (s *sweep) compileKey(source string, flags []string, architecture sass.Arch) (key store.Key, err error) {
	e := store.NewEncoder("cubin 1")
	names := []string{source}
	for _, end := range []string{".h", ".cuh", ".hpp", ".hh", ".inl"} {
		more, err := filepath.Glob(filepath.Join(filepath.Dir(source), "*"+end))
		if err != nil {
			return key, err
		}
		names = append(names, more...)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return key, err
		}
		e.Field(filepath.Base(name), store.KeyOf(data))
	}
	e.Field("command", s.compiler.String())
	e.Field("flags", flags)
	e.Field("arch", int(architecture))
	for _, word := range s.compiler.Words() { // the compiler itself, and scripts
		if info, err := os.Stat(word); err == nil {
			e.Field(word, []int64{info.Size(), info.ModTime().UnixNano()})
		}
	}
	return e.Sum()
}

// launch is the launch file with the facts of a variant.
func (s *sweep) launch(at map[string]search.Value) (*launch.File, error) {
	file := *s.base
	file.Launches, file.Buffers = slices.Clone(file.Launches), slices.Clone(file.Buffers)
	for i := range file.Launches {
		if err := s.facts(&file.Launches[i], at); err != nil {
			return nil, err
		}
	}
	for name, shape := range s.set.buffers {
		i := slices.IndexFunc(file.Buffers, func(b launch.Buffer) bool { return b.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("set.buffers: there is no buffer %s", name)
		}
		sizes := make([]int, len(shape))
		for k, e := range shape {
			n, err := e.Int(at)
			if err != nil || n < 0 || n > 1<<40 {
				return nil, errors.Join(err, fmt.Errorf("set.buffers.%s: %s is no size", name, e))
			}
			sizes[k] = int(n)
		}
		file.Buffers[i].Shape = sizes
	}
	return &file, nil
}

// facts sets those of one launch.
func (s *sweep) facts(l *launch.Launch, at map[string]search.Value) error {
	for _, d := range []struct {
		to    *[3]int
		exprs []*search.Expr
		axis  string
	}{{&l.Grid, s.set.grid, search.GridAxis}, {&l.Block, s.set.block, search.BlockAxis}} {
		if text := string(at[d.axis]); text != "" {
			var size dims
			if err := size.Set(text); err != nil {
				return fmt.Errorf("%s: %w", d.axis, err)
			}
			*d.to = size
		}
		for k, e := range d.exprs {
			n, err := e.Int(at)
			if err != nil {
				return err
			}
			if k > 2 || n < 1 || n > 1<<31-1 {
				return fmt.Errorf("%s: %s is %d", d.axis, e, n)
			}
			if k == 0 {
				*d.to = [3]int{1, 1, 1}
			}
			d.to[k] = int(n)
		}
	}
	shared := s.set.shared
	if shared == nil && at[search.SharedAxis] != "" {
		shared, _ = search.ParseExpr(search.SharedAxis)
	}
	if shared != nil {
		n, err := shared.Int(at)
		if err != nil || n < 0 || n > 1<<31-1 {
			return errors.Join(err, fmt.Errorf("shared: %s is no number of bytes", shared))
		}
		l.Shared = int(n)
	}
	l.Args = slices.Clone(l.Args)
	for i, e := range s.set.args {
		if i >= len(l.Args) || l.Args[i].Buffer != "" || l.Args[i].Bytes != nil || l.Args[i].Map != nil {
			return fmt.Errorf("set.args: argument %d of %s is no scalar", i, l.Kernel)
		}
		text, err := e.Text(at)
		if err != nil {
			return err
		}
		if l.Args[i], _, err = launch.ParseArg(l.Args[i].Type.String() + ":" + text); err != nil {
			return fmt.Errorf("set.args.%d: %w", i, err)
		}
	}
	return nil
}

// keep puts the files of a launch into the store and names them by their hashes.
func (s *sweep) keep(file *launch.File, module *cubin.File) (text string, keys []store.Key, err error) {
	put := func(data []byte) store.Key {
		k, bad := s.store.Put(data)
		if err == nil {
			err = bad
		}
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
		return k
	}
	file.Module = put(module.Raw).String()
	names := make(map[string]string)
	for _, name := range file.Files() {
		data, bad := file.Dir().ReadFile(name)
		if bad != nil {
			return "", nil, bad
		}
		names[name] = put(data).String()
	}
	return string(file.Write(func(name string) string { return names[name] })), keys, err
}
