package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gpa/advisor/tune/search"
	"gpa/cubin"
	"gpa/cubin/compile"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/launch"
	"gpa/profiler/store"
)

// A variant is a point of the space, ready to be run.
type variant struct {
	point  int
	key    store.Key // of its result
	memory int64     // bytes that running it takes, about
	task   task
}

// refused is the error of a variant that cannot be run, which says nothing against the others.
type refused struct{ error }

// code is what is run and on what, which many variants have in common.
type code struct {
	model  *arch.Model
	figure store.Key // of all figures of the model
	module *cubin.File
}

// A memo keeps what variants have in common: a sweep of launch facts has one code and the same input files for all.
type memo struct {
	mu    sync.Mutex
	codes map[string]func() (*code, error)
	blobs map[string]blob // files that were put into the store
}

// A blob is a file in the store.
type blob struct {
	key  store.Key
	size int64
}

// forget makes variants read, compile and put everything anew.
func (m *memo) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.codes, m.blobs = make(map[string]func() (*code, error)), make(map[string]blob)
}

// code compiles the code of a variant, or returns that of an earlier one.
func (s *Sweep) code(ctx context.Context, at map[string]search.Value) (*code, error) {
	names := append([]string{search.ArchAxis, search.CubinAxis, search.LaunchAxis}, s.spec.Macros...)
	for i, name := range names {
		names[i] = string(at[name])
	}
	key := strings.Join(names, "\x00")
	s.memo.mu.Lock()
	one, ok := s.memo.codes[key]
	if !ok {
		one = sync.OnceValues(func() (*code, error) {
			model, module, err := s.module(ctx, at)
			if err != nil {
				return nil, err
			}
			e := store.NewEncoder("gpu 1")
			e.Field("gpu", model)
			figure, err := e.Sum()
			return &code{model, figure, module}, err
		})
		s.memo.codes[key] = one
	}
	s.memo.mu.Unlock()
	return one()
}

// variant compiles a point and writes its launch.
func (s *Sweep) variant(ctx context.Context, point int) (*variant, error) {
	at := s.space.At(s.space.Points[point])
	if err := s.bases[at[search.LaunchAxis]].err; err != nil {
		return nil, refused{err}
	}
	c, err := s.code(ctx, at)
	if err != nil {
		return nil, err
	}
	file, err := s.launch(at)
	if err != nil {
		return nil, refused{err}
	}
	t := task{Build: s.build, GPU: c.model.Name, Reconverge: cmp.Or(string(at[search.ReconvergAxis]), "volta"), Try: s.spec.Try}
	if err := s.keep(&t, file, at[search.LaunchAxis], c.module); err != nil {
		return nil, err
	}
	if t.Try == 0 && at[search.TryAxis] != "" {
		t.Try = byBudget
	}
	key, err := t.key(c.figure)
	return &variant{point: point, key: key, memory: memoryOf(file), task: t}, err
}

// longestFirst sorts points by the work that they look like, the threads of their launches and the bytes of their buffers, so that none that takes long begins last
// and keeps one worker when the others are done.
func (s *Sweep) longestFirst(group []int) []int {
	cost := make(map[int]int64, len(group))
	for _, i := range group {
		at := s.space.At(s.space.Points[i])
		if s.bases[at[search.LaunchAxis]].err != nil {
			continue
		}
		file, err := s.launch(at)
		if err != nil {
			continue // it ends at once
		}
		cost[i] = memoryOf(file)
		for k := range file.Launches {
			l := &file.Launches[k]
			threads := int64(max(1, l.Repeat))
			for _, n := range append(l.Grid[:], l.Block[:]...) {
				threads *= int64(n)
			}
			cost[i] += threads
		}
	}
	sorted := slices.Clone(group)
	slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(cost[b], cost[a]) })
	return sorted
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
func (s *Sweep) module(ctx context.Context, at map[string]search.Value) (*arch.Model, *cubin.File, error) {
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
		return nil, nil, fmt.Errorf("%s: a source is compiled for a GPU, which the axis arch names", s.name)
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
		module, err = s.bases[at[search.LaunchAxis]].LoadModule(architecture)
	}
	switch {
	case compile.Refused(err) || err != nil && s.compiler == nil:
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
func (s *Sweep) compile(ctx context.Context, at map[string]search.Value, architecture sass.Arch) (*cubin.File, error) {
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
		return cubin.NewFile(name, files[compile.OutName])
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
	return module, s.store.Record(key, map[string][]byte{compile.OutName: module.Raw})
}

func (s *Sweep) compileKey(source string, flags []string, architecture sass.Arch) (key store.Key, err error) {
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
func (s *Sweep) launch(at map[string]search.Value) (*launch.File, error) {
	file := *s.bases[at[search.LaunchAxis]].File
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
func (s *Sweep) facts(l *launch.Launch, at map[string]search.Value) error {
	for _, d := range []struct {
		to    *[3]int
		exprs []*search.Expr
		axis  string
	}{{&l.Grid, s.set.grid, search.GridAxis}, {&l.Block, s.set.block, search.BlockAxis}} {
		if text := string(at[d.axis]); text != "" {
			var err error
			if *d.to, err = launch.ParseSize(text); err != nil {
				return fmt.Errorf("%s: %w", d.axis, err)
			}
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

// keep puts the files of a launch into the store, and the launch file, which names them by their hashes, into a task.
func (s *Sweep) keep(t *task, file *launch.File, base search.Value, module *cubin.File) (err error) {
	put := func(memo string, read func() ([]byte, error)) string {
		s.memo.mu.Lock()
		b, ok := s.memo.blobs[memo]
		s.memo.mu.Unlock()
		if !ok {
			data, bad := read()
			if bad == nil {
				b.key, bad = s.store.Put(data)
				b.size = int64(len(data))
			}
			if err == nil {
				err = bad
			}
			s.memo.mu.Lock()
			s.memo.blobs[memo] = b
			s.memo.mu.Unlock()
		}
		if !slices.Contains(t.Files, b.key) {
			t.Files, t.Sizes = append(t.Files, b.key), append(t.Sizes, b.size)
		}
		return b.key.String()
	}
	file.Module = put(fmt.Sprintf("%p", module), func() ([]byte, error) { return module.Raw, nil })
	t.Launch = string(file.Write(func(name string) string {
		return put(string(base)+"\x00"+name, func() ([]byte, error) { return file.ReadData(name) })
	}))
	return err
}
