package skeleton

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/emu/launch"
)

// nowhere is a folder without files.
type nowhere struct{}

func (nowhere) ReadFile(name string) ([]byte, error) { return nil, fs.ErrNotExist }

// module reads a cubin of the corpus.
func module(t *testing.T, name string) *cubin.File {
	t.Helper()
	data, err := cubin.ReadFile(filepath.Join("../../../kernels", name))
	if err != nil {
		t.Fatal(err)
	}
	m, err := cubin.NewFile(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLaunches reads what a program launches.
func TestLaunches(t *testing.T) {
	const source = `
#define N (1 << 16)
constexpr int THREADS = 128;
static int blocks_for(int n, int t) { return (n + t - 1) / t; }
__global__ void saxpy(int n, float alpha, const float *__restrict__ x, float *y) {}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : N;
  float *in, *out;
  cudaMalloc((void **)&in, n * sizeof(float));
  cudaMalloc(&out, 2 * n * sizeof(float));
  dim3 block(THREADS), grid(blocks_for(n, THREADS), 2);
  saxpy<<<grid, block, 0, stream>>>(n, 2.5f, in, out);
  saxpy<<<dim3(4, 5, 6), THREADS / 2, THREADS * sizeof(double)>>>(unknown, 1e-3f, out + 4, in);
}
`
	const want = `# What says that it is a guess is for you to say.
module: saxpy.sm_80.cubin
buffers:
  in: {type: f32, shape: [65536], init: {zero: true}}  # allocated in line 9
  out: {type: f32, shape: [131072], init: {zero: true}}  # allocated in line 10
launches:
  - kernel: "saxpy"  # line 12
    grid: [512, 2]
    block: [128]
    args:
      - {i32: 65536}  # n
      - {f32: 2.5}  # alpha
      - {buffer: in}  # x
      - {buffer: out}  # y
  - kernel: "saxpy"  # line 13
    grid: [4, 5, 6]
    block: [64]
    shared: 1024
    args:
      - {i32: 7680}  # n, not known: a guess
      - {f32: 0.001}  # alpha
      - {buffer: out}  # x
      - {buffer: in}  # y
`
	m := module(t, "basic/saxpy/saxpy.sm_80.cubin")
	got, err := Launches([]byte(source), Name("saxpy.cu", m), m)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
}

// TestCorpus writes launch files of all sources of the corpus, with the source and without: each can be read and has arguments of the sizes of the
// parameters, or a run would say so.
func TestCorpus(t *testing.T) {
	sources, err := filepath.Glob("../../../kernels/*/*/*.cu")
	if err != nil || len(sources) < 200 {
		t.Fatalf("%d sources, %v", len(sources), err)
	}
	read := 0
	for _, source := range sources {
		name := strings.TrimSuffix(source, ".cu") + ".sm_80.cubin"
		data, err := cubin.ReadFile(name)
		if err != nil {
			continue // for sm_90 on
		}
		m, err := cubin.NewFile(name, data)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{text, nil} {
			out, err := Launches(text, "k.cubin", m)
			if err != nil {
				t.Errorf("%s: %v", source, err)
				continue
			}
			f, err := launch.Parse(name, out, nowhere{})
			if err != nil {
				t.Errorf("%s: %v\n%s", source, err, out)
				continue
			}
			if len(f.Launches) != len(m.Kernels) {
				t.Errorf("%s: %d launches of %d kernels", source, len(f.Launches), len(m.Kernels))
			}
			for i := range f.Launches {
				k, err := m.FindKernel(f.Launches[i].Kernel)
				if err != nil || len(f.Launches[i].Args) != len(k.Params) {
					t.Errorf("%s: %s has %d arguments, %v", source, f.Launches[i].Kernel, len(f.Launches[i].Args), err)
				}
			}
			read++
			if text != nil && bytes.Contains(out, []byte("  p0:")) {
				t.Errorf("%s: its parameters have names:\n%s", source, out)
			}
		}
	}
	if read < 400 {
		t.Errorf("%d launch files", read)
	}
}

// TestNoKernel refuses a module without kernels.
func TestNoKernel(t *testing.T) {
	if _, err := Launches(nil, "k.cubin", &cubin.File{}); err == nil {
		t.Error("nothing was launched")
	}
}
