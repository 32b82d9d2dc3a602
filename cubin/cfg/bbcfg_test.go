package cfg

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
)

var update = flag.Bool("update", false, "rewrite the golden files by running nvdisasm (NVDISASM names it)")

// TestBlocksEqualNvdisasm compares blocks and edges with what nvdisasm -bbcfg printed for the same files.
func TestBlocksEqualNvdisasm(t *testing.T) {
	for _, path := range cubins(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			golden := filepath.Join("testdata", filepath.Base(path)+".bbcfg")
			if *update {
				if os.Getenv("NVDISASM") == "" {
					t.Fatal("-update needs NVDISASM")
				}
				write(t, golden, nvdisasm(t, path))
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, path, string(want))
		})
	}
}

// TestBlocksEqualInstalledNvdisasm does the same on every cubin there is, where nvdisasm is installed.
func TestBlocksEqualInstalledNvdisasm(t *testing.T) {
	if os.Getenv("NVDISASM") == "" {
		t.Skip("NVDISASM is not set")
	}
	paths, err := filepath.Glob("../../kernels/*/*/*.cubin.gz")
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("CUBINS"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "*.cubin"))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, more...)
	}
	for _, path := range append(paths, cubins(t)...) {
		t.Run(path, func(t *testing.T) { compare(t, path, nvdisasm(t, path)) })
	}
}

func cubins(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../testdata/*.cubin")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cubins in testdata", err)
	}
	return paths
}

func compare(t *testing.T, path, want string) {
	t.Helper()
	file, err := cubin.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	got := graphText(t, file)
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s: line %d:\n got %s\nwant %s", path, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d", path, len(g), len(w))
}

// graphText lists the blocks of a file: address of the first and last instruction, then the addresses of the
// successors in order.
func graphText(t *testing.T, file *cubin.File) string {
	t.Helper()
	var functions []dotFunction
	for _, code := range file.Codes {
		g, err := Build(file, code)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range g.Funcs {
			functions = append(functions, functionOf(g, f))
		}
	}
	return listing(functions)
}

func functionOf(g *Graph, f *Func) dotFunction {
	d := dotFunction{name: f.Function.Name}
	for _, id := range f.Blocks {
		b := g.Blocks[id]
		block := dotBlock{first: uint64(b.First) * sass.InstSize, last: uint64(b.Last) * sass.InstSize}
		for _, s := range b.Succs {
			block.succs = append(block.succs, uint64(g.Blocks[s].First)*sass.InstSize)
		}
		d.blocks = append(d.blocks, block)
	}
	return d
}

// A dotFunction is a cluster of nvdisasm's output, a dotBlock a node of it, by addresses.
type dotFunction struct {
	name   string
	blocks []dotBlock
}

type dotBlock struct {
	first, last uint64
	succs       []uint64
}

func listing(functions []dotFunction) string {
	slices.SortFunc(functions, func(a, b dotFunction) int { return cmp.Compare(a.name, b.name) })
	var text strings.Builder
	for _, f := range functions {
		fmt.Fprintf(&text, "%s\n", f.name)
		slices.SortFunc(f.blocks, func(a, b dotBlock) int { return cmp.Compare(a.first, b.first) })
		for _, b := range f.blocks {
			slices.Sort(b.succs)
			fmt.Fprintf(&text, "  %04x-%04x:", b.first, b.last)
			for _, s := range slices.Compact(b.succs) {
				fmt.Fprintf(&text, " %04x", s)
			}
			text.WriteByte('\n')
		}
	}
	return text.String()
}

// nvdisasm runs nvdisasm -bbcfg and lists the graph that it draws.
func nvdisasm(t *testing.T, path string) string {
	t.Helper()
	tool := os.Getenv("NVDISASM")
	if tool == "" {
		t.Skip("NVDISASM is not set")
	}
	data, err := cubin.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain.cubin")
	if err := os.WriteFile(plain, data, 0o600); err != nil {
		t.Fatal(err)
	}
	dot, err := exec.Command(tool, "-bbcfg", "-poff", plain).Output()
	if err != nil {
		t.Fatal(err)
	}
	return listing(parseDot(t, string(dot)))
}

var (
	dotCluster = regexp.MustCompile(`^subgraph "cluster_(.*)" \{`)
	dotNode    = regexp.MustCompile(`^"(.*)"$`)
	dotEdge    = regexp.MustCompile(`^"(.*)":\w+:\w -> "(.*)":entry`)
	dotPC      = regexp.MustCompile(`(?:\\l|<entry>|<exit\d+>)([0-9a-f]{4,}):\\ `)
)

// parseDot reads the graphs of nvdisasm -bbcfg -poff.
func parseDot(t *testing.T, dot string) []dotFunction {
	t.Helper()
	var functions []dotFunction
	for _, cluster := range strings.Split(dot, "subgraph ")[1:] {
		cluster = "subgraph " + cluster
		m := dotCluster.FindStringSubmatch(cluster)
		if m == nil {
			t.Fatalf("no cluster: %.80s", cluster)
		}
		functions = append(functions, dotFunction{m[1], parseBlocks(t, cluster)})
	}
	return functions
}

func parseBlocks(t *testing.T, cluster string) []dotBlock {
	t.Helper()
	var names []string
	blocks := make(map[string]*dotBlock)
	edges := make(map[string][]string)
	name := ""
	for line := range strings.Lines(cluster) {
		line = strings.TrimSpace(line)
		if m := dotEdge.FindStringSubmatch(line); m != nil {
			edges[m[1]] = append(edges[m[1]], m[2])
		} else if m := dotNode.FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if strings.HasPrefix(line, "[label=") {
			pcs := dotPC.FindAllStringSubmatch(line, -1)
			if len(pcs) == 0 {
				t.Fatalf("no instruction in %s", line)
			}
			b := &dotBlock{}
			fmt.Sscanf(pcs[0][1], "%x", &b.first)
			fmt.Sscanf(pcs[len(pcs)-1][1], "%x", &b.last)
			blocks[name], names = b, append(names, name)
		}
	}
	var list []dotBlock
	for _, n := range names {
		for _, s := range edges[n] {
			to, ok := blocks[s]
			if !ok {
				t.Fatalf("edge from %s to %s, which is no block", n, s)
			}
			blocks[n].succs = append(blocks[n].succs, to.first)
		}
		list = append(list, *blocks[n])
	}
	return list
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
