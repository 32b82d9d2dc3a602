package main

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gpa"
	"gpa/cubin"
	"gpa/cubin/fatbintest"
	"gpa/kernels"
	"gpa/profiler/ncurep/ncureptest"
)

// A subject is a file to spoil and the command lines that read it.
type subject struct {
	format string
	name   string // of the kernel it is of
	file   string // in the folder, which is copied with all that is in it
	make   func(t *testing.T, dir string)
	// commands are groups of command lines; those of a group follow each other.
	commands func(dir, file, out string) [][][]string

	dir string // where make has made the files
}

// folder is where the subject's files are; they are made once.
func (s *subject) folder(t *testing.T) string {
	t.Helper()
	if s.dir == "" {
		s.dir = t.TempDir()
		s.make(t, s.dir)
	}
	return s.dir
}

// mutatedKernels are kernels that take a moment, with something of everything: shared memory, atomics, calls, malloc, printf, textures,
// divergence, images, tensor maps, clusters, matrix instructions, pointers in buffers.
var mutatedKernels = []string{"basic/vecadd", "basic/reduce_shuffle", "basic/transpose_tiled", "basic/histogram_shared", "basic/atomics",
	"linear/sgemm_tiled", "stencil/hotspot", "control/malloc", "control/printf", "control/device_calls", "control/state_machine", "control/assert",
	"control/ticket_lock", "control/warp_votes", "graph/list_walk", "graph/bfs", "textures/fetch_1d", "textures/filter_2d", "textures/surface_2d",
	"textures/layered", "hopper/tma_tile", "hopper/clusters", "blackwell/warp_extremes", "blackwell/packed_math", "blackwell/mma_f8", "blackwell/tensor_memory", "math/half2",
	"applied/softmax", "sort/bitonic"}

// subjects are files of all formats that gpa reads. Cubins and launch files come in all architectures that a kernel has.
func subjects(t *testing.T) []*subject {
	var list []*subject
	for _, name := range mutatedKernels {
		modules, err := filepath.Glob(filepath.Join("../../kernels", name, "*"+cubin.Compressed))
		if err != nil || len(modules) == 0 {
			t.Fatal(name, "has no cubin", err)
		}
		for _, module := range modules {
			list = append(list, kernelSubjects(name, strings.TrimSuffix(filepath.Base(module), ".gz"))...)
		}
	}
	for _, name := range []string{"vecadd", "hotspot", "sgemm_tiled"} {
		list = append(list, resultSubjects(name)...)
		list = append(list, containerSubjects(name)...)
	}
	return append(list, otherSubjects()...)
}

// limited are command lines of which those that run kernels end in time.
func limited(list ...[]string) [][]string {
	for i, args := range list {
		switch args[0] {
		case "run", "check", "profile", "compare", "reconverge", "evaluate", "tune":
			list[i] = append(slices.Clone(args), "--timeout", "5s")
		}
	}
	return list
}

// each makes a group of every command line.
func each(list ...[]string) [][][]string {
	groups := make([][][]string, len(list))
	for i, args := range list {
		groups[i] = limited(args)
	}
	return groups
}

// copyCorpus copies a kernel of the corpus.
func copyCorpus(name string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("../../kernels", name))); err != nil {
			t.Fatal(err)
		}
		decompress(t, dir)
	}
}

// kernelSubjects are a cubin of a kernel, as it is and compressed, its launch file and what that names.
func kernelSubjects(name, module string) []*subject {
	arch := regexp.MustCompile(`sm_[0-9]+`).FindString(module)
	launched := func(dir, out string) [][][]string {
		saved := filepath.Join(out, gpa.SavedFile)
		page := filepath.Join(out, "page.html")
		return append(each([]string{"run", dir, "--arch", arch}, []string{"check", dir, "--arch", arch}, []string{"check", dir, "--arch", arch, "--strict", "--track-unused-memory", "--padding", "64", "--sarif", page},
			[]string{"profile", dir, "--arch", arch, "--try", "2"}, []string{"profile", dir, "--arch", arch, "--timing", "none"}, []string{"profile", dir, "--arch", arch, "--timing", "fast", "--portions"},
			[]string{"compare", dir, dir, "--arch", arch}, []string{"reconverge", dir, "--arch", arch, "--timing", "none"}, []string{"run", dir, "--arch", arch, "--reconvergence", "tf-stack"}),
			limited([]string{"profile", dir, "--arch", arch, "--out", out, "--html", page}, []string{"advise", saved}, []string{"report", saved, "--html", page},
				[]string{"export", saved}, []string{"pprof", "-top", filepath.Join(out, "profile.pb.gz")}))
	}
	code := func(dir, file, out string) [][][]string {
		again := filepath.Join(out, "again.cubin")
		return append(each([]string{"disasm", file}, []string{"disasm", file, "--json"}, []string{"disasm", file, "--list"}, []string{"cfg", file}, []string{"cfg", file, "--frontiers", "--json"}, []string{"cfg", file, "--dot"},
			[]string{"rewrite", "--check", file}, []string{"rewrite", "--restructure", file}, []string{"rewrite", "--reorder", file},
			[]string{"rewrite", "--reconverge", "tf", file}, []string{"rewrite", "--census", file}, []string{"disasm", file, "--asm"},
			[]string{"profile", file, "--grid", "2", "--block", "64", "--arg", "f32[256]", "--arg", "f32[256]", "--arg", "f32[256]", "--arg", "i32:256"}),
			limited([]string{"rewrite", "--restructure", file, "-o", again}, []string{"rewrite", "--check", again}, []string{"disasm", again}))
	}
	list := []*subject{
		{format: "cubin", name: name, file: module, make: copyCorpus(name), commands: func(dir, file, out string) [][][]string {
			return append(launched(dir, out), code(dir, file, out)...)
		}},
		{format: "launch file", name: name, file: kernels.LaunchFile, make: copyCorpus(name), commands: func(dir, _, out string) [][][]string { return launched(dir, out) }},
		{format: "compressed cubin", name: name, file: module + ".gz", make: func(t *testing.T, dir string) {
			copyCorpus(name)(t, dir)
			if err := os.Remove(filepath.Join(dir, module)); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join("../../kernels", name, module+".gz"))
			if err != nil {
				t.Fatal(err)
			}
			writeTo(t, dir, module+".gz", data)
		}, commands: code},
	}
	for _, data := range dataFiles(name) {
		list = append(list, &subject{format: strings.TrimPrefix(filepath.Ext(data), "."), name: name, file: data, make: copyCorpus(name),
			commands: func(dir, _, out string) [][][]string { return launched(dir, out)[:2] }})
	}
	return list
}

// dataFiles are the files that the launch file of a kernel names, but for cubins.
func dataFiles(name string) []string {
	var list []string
	for _, pattern := range []string{"*.npy", "*.tsv"} {
		names, _ := filepath.Glob(filepath.Join("../../kernels", name, pattern)) //nolint:errcheck // the pattern is right
		for _, n := range names {
			list = append(list, filepath.Base(n))
		}
	}
	return list
}

func writeTo(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// resultSubjects are what gpa profile writes of a kernel and other collectors' forms of it.
func resultSubjects(name string) []*subject {
	result := func(t *testing.T, dir string) {
		if _, stderr, status := invoke(t, "profile", name, "--out", dir); status != exitDone {
			t.Fatal(stderr)
		}
	}
	saved := func(dir, file, out string) [][][]string {
		html := filepath.Join(out, "page.html")
		return each([]string{"advise", file}, []string{"report", file, "--html", html}, []string{"export", file}, []string{"export", file, "--json"},
			[]string{"compare", file, file, "--html", html}, []string{"advise", file, "--json"}, []string{"pprof", "-top", file})
	}
	pb := func(_, file, _ string) [][][]string {
		return each([]string{"pprof", "-top", file}, []string{"pprof", "-disasm=.", file}, []string{"pprof", "-tags", file}, []string{"pprof", "-peek=.", "-addresses", file}, []string{"pprof", "-list=.", file})
	}
	exported := func(dir, file, out string) [][][]string {
		args := []string{"import", file, "--cubin", filepath.Join(dir, "module.cubin"), "--grid", "128", "--block", "256", "--period", "1024", "--cycles", "4000"}
		return each(args[:4], args, append(slices.Clone(args), "--out", out, "--html", filepath.Join(out, "page.html")), append(slices.Clone(args), "--json"))
	}
	export := func(t *testing.T, dir string) {
		from := t.TempDir()
		asMeasured(t, name, from)
		for file, flag := range map[string]string{"samples.csv": "--csv", "samples.json": "--json"} {
			args := []string{"export", from, flag}
			if flag == "--csv" {
				args = args[:2]
			}
			text, stderr, status := invoke(t, args...)
			if status != exitDone {
				t.Fatal(stderr)
			}
			writeTo(t, dir, file, []byte(text))
		}
		data, err := cubin.ReadFile(cubinOf(t, name))
		if err != nil {
			t.Fatal(err)
		}
		writeTo(t, dir, "module.cubin", data)
	}
	report := func(dir, file, out string) [][][]string {
		return append(each([]string{"import", file}, []string{"import", file, "--list"}, []string{"import", file, "--json", "--launch", "all"}, []string{"import", file, "--launch", "0", "--html", filepath.Join(out, "page.html")}),
			limited([]string{"import", file, "--launch", "all", "--out", out}, []string{"report", filepath.Join(out, gpa.SavedFile), "--html", filepath.Join(out, "page.html")}))
	}
	nsight := func(t *testing.T, dir string) {
		from := t.TempDir()
		asMeasured(t, name, from)
		p, err := savedProfile(from)
		if err != nil {
			t.Fatal(err)
		}
		writeReport(t, p, dir, ncureptest.Options{Device: "Tesla V100-SXM2-16GB"})
	}
	return []*subject{
		&subject{format: "result", name: name, file: gpa.SavedFile, make: result, commands: saved},
		&subject{format: "pprof", name: name, file: "profile.pb.gz", make: result, commands: pb},
		&subject{format: "pprof", name: name, file: "blame.pb.gz", make: result, commands: pb},
		&subject{format: "source page", name: name, file: "samples.csv", make: export, commands: exported},
		&subject{format: "samples", name: name, file: "samples.json", make: export, commands: exported},
		&subject{format: "cubin of samples", name: name, file: "module.cubin", make: export, commands: func(dir, _, out string) [][][]string {
			return exported(dir, filepath.Join(dir, "samples.csv"), out)
		}},
		&subject{format: "Nsight report", name: name, file: "measured.ncu-rep", make: nsight, commands: report},
	}
}

// containerSubjects are files that hold the cubins of a kernel.
func containerSubjects(name string) []*subject {
	commands := func(_, file, out string) [][][]string {
		again := filepath.Join(out, "again.cubin")
		return append(each([]string{"disasm", file}, []string{"disasm", file, "--list"}, []string{"disasm", file, "--arch", "sm_80"}, []string{"disasm", file, "--entry", "2", "--json"},
			[]string{"cfg", file, "--arch", "sm_70"}, []string{"rewrite", "--census", file}, []string{"rewrite", "--check", file, "--entry", "3"}, []string{"profile", file, "--arch", "sm_70"}),
			limited([]string{"rewrite", "--reorder", file, "--entry", "1", "-o", again}, []string{"disasm", again}))
	}
	fat := func(t *testing.T) []byte {
		var entries [][]byte
		for _, sm := range []int{70, 80, 90} {
			data, err := cubin.ReadFile(strings.Replace(cubinOf(t, name), "sm_70", fmt.Sprintf("sm_%d", sm), 1))
			if err != nil {
				t.Fatal(err)
			}
			kind := uint16(cubin.CubinEntry)
			entries = append(entries, fatbintest.Entry(kind, sm, name+".cu", data, 0, 0), fatbintest.Entry(kind, sm, "", fatbintest.PackLZ4(data), fatbintest.LZ4, len(data)),
				fatbintest.Entry(kind, sm, "", fatbintest.PackZstd(t, data), fatbintest.Zstd, len(data)))
		}
		return fatbintest.Fatbin(append(entries, fatbintest.Entry(uint16(cubin.PTXEntry), 70, "x.ptx", []byte(".version 8.0\n.target sm_70\n"), 0, 0))...)
	}
	in := func(file string, wrap func(data []byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { writeTo(t, dir, file, wrap(fat(t))) }
	}
	same := func(data []byte) []byte { return data }
	return []*subject{
		&subject{format: "fatbin", name: name, file: "all.fatbin", make: in("all.fatbin", same), commands: commands},
		&subject{format: "executable", name: name, file: "program", make: in("program", hostProgram), commands: commands},
		&subject{format: "archive", name: name, file: "all.a", make: in("all.a", func(data []byte) []byte { return fatbintest.Archive(hostProgram(data)) }), commands: commands},
	}
}

// hostProgram makes an executable with a fatbin in it.
func hostProgram(fat []byte) []byte {
	im := cubin.Image{Symbols: make([]cubin.ImageSymbol, 1)}
	copy(im.Header.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	im.Header.Type, im.Header.Machine, im.Header.Version, im.Header.Ehsize = uint16(elf.ET_EXEC), uint16(elf.EM_X86_64), 1, 64
	im.Header.Shstrndx = 1
	im.Sections = []*cubin.ImageSection{
		{}, {Name: ".shstrtab", Type: uint32(elf.SHT_STRTAB), Align: 1}, {Name: ".symtab", Type: uint32(elf.SHT_SYMTAB), Link: 1, Align: 8, Entry: 24},
		{Name: ".nv_fatbin", Type: uint32(elf.SHT_PROGBITS), Align: 8, Data: fat},
	}
	data, err := im.Bytes()
	if err != nil {
		panic(err) // of an image that is always the same but for its contents
	}
	return data
}

// otherSubjects are text that people write: SASS, sources, sweeps, and what gpa evaluate reads.
func otherSubjects() []*subject {
	var list []*subject
	for _, name := range []string{"vecadd", "hotspot", "sgemm_tiled"} {
		list = append(list, &subject{format: "text SASS", name: name, file: "kernel.sass", make: func(t *testing.T, dir string) {
			text, stderr, status := invoke(t, "disasm", cubinOf(t, name), "--asm")
			if status != exitDone {
				t.Fatal(stderr)
			}
			writeTo(t, dir, "kernel.sass", []byte(text))
		}, commands: func(_, file, out string) [][][]string {
			made := filepath.Join(out, "made.cubin")
			return [][][]string{limited([]string{"asm", file, "-o", made}, []string{"disasm", made}, []string{"cfg", made}, []string{"rewrite", "--check", made},
				[]string{"profile", made, "--grid", "2", "--block", "64", "--arg", "f32[256]", "--arg", "f32[256]", "--arg", "f32[256]", "--arg", "i32:256"})}
		}})
	}
	list = append(list, sweepSubjects()...)
	list = append(list, evaluateSubjects()...)
	return append(list, &subject{format: "source", name: "taps_rolled", file: "taps_rolled.cu", make: copyCorpus("tuning/taps_rolled"), commands: func(dir, file, out string) [][][]string {
		// The compiler refuses all: what is tried are the patches and how their outcomes are told.
		return each([]string{"profile", dir, "--prove", "--compiler", "false {in} {out} {arch}"}, []string{"tune", dir, "--compiler", "false {in} {out} {arch}", "--source", file},
			[]string{"profile", dir, "--html", filepath.Join(out, "page.html")}, []string{"pprof", "-list=.", dir})
	}})
}

const mutatedSweep = `kernel: vecadd
axes:
  block: [64, 128, 256, 3000]
  arch: [v100, a100]
  reconverge: [volta, pdom]
set:
  grid: ["32768 / max(block, 128)"]
where:
  - block != 128 || reconverge == "volta"
advice:
  thread-increase: block+
objective: cycles
search: {method: grid}
`

// sweepSubjects are a sweep file and what a sweep prints as JSON.
func sweepSubjects() []*subject {
	return []*subject{
		{format: "sweep file", name: "vecadd", file: "s.yaml", make: func(t *testing.T, dir string) { writeTo(t, dir, "s.yaml", []byte(mutatedSweep)) }, commands: func(_, file, _ string) [][][]string {
			// One point is run: how long a sweep of all may take is the file's to say.
			one := []string{"-a", "block=64", "-a", "arch=v100", "-a", "reconverge=volta"}
			return [][][]string{{{"sweep", "plan", file}}, {append([]string{"sweep", "run", file, "-j", "1", "--task-timeout", "3s"}, one...), append([]string{"sweep", "results", file}, one...)},
				{{"sweep", "status", file}}, {{"sweep", "results", file, "--csv"}}}
		}},
		{format: "sweep results", name: "vecadd", file: "r.json", make: func(t *testing.T, dir string) {
			file := sweepFile(t, strings.Replace(mutatedSweep, "3000", "512", 1))
			stdout, err := gpaProcess(t, "sweep", file, "--store", t.TempDir(), "-a", "reconverge=volta", "--json").Output()
			if err != nil {
				t.Fatal(err)
			}
			writeTo(t, dir, "r.json", stdout)
			writeTo(t, dir, "before.json", stdout)
		}, commands: func(dir, file, out string) [][][]string {
			before := filepath.Join(dir, "before.json")
			return each([]string{"sweep", "compare", before, file}, []string{"sweep", "compare", file, before, "--markdown"}, []string{"sweep", "compare", file, file, "--sarif", filepath.Join(out, "s.sarif"), "--junit", filepath.Join(out, "j.xml")})
		}},
	}
}

// evaluateSubjects are the JSON files by which gpa evaluate finds what belongs together.
func evaluateSubjects() []*subject {
	folders := func(file, text string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			for _, name := range []string{"vecadd", "saxpy"} {
				if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
					t.Fatal(err)
				}
				copyCorpus("basic/"+name)(t, filepath.Join(dir, name))
			}
			writeTo(t, dir, file, []byte(text))
		}
	}
	of := func(file, text, flag string) *subject {
		return &subject{format: file, name: "vecadd", file: file, make: folders(file, text), commands: func(dir, _, _ string) [][][]string {
			return each(append([]string{"evaluate", dir}, strings.Fields(flag)...), append([]string{"evaluate", dir, "--json"}, strings.Fields(flag)...))
		}}
	}
	return []*subject{
		of("pair.json", `{"before": "vecadd", "after": "saxpy", "optimizer": "strength-reduction", "changed": [3, 4], "same_change": true, "row": "x"}`+"\n", ""),
		of("ladder.json", `{"about": "Sums", "versions": [{"version": "vecadd/launch"}, {"version": "saxpy/launch", "change": "a loop", "optimizers": ["loop-unrolling"]}]}`+"\n", "--ladders"),
		of("measured.json", `{"launch": "vecadd/launch.yaml", "gpu": "titanv", "fixed": 3950, "source": "x", "launches": [{"launch": 0, "cycles": 5055, "count": 2, "series": "a"}]}`+"\n", "--measured"),
	}
}
