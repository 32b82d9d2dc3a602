//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"gpa/cubin"
	"gpa/emu/cuda/solib/solibtest"
)

// The library itself is tested in a process of its own: this program once more, which loads it as a loader does and calls it as C does.
const clientVariable = "GPA_CUDA_TEST_CLIENT"

func TestMain(m *testing.M) {
	if name := os.Getenv(clientVariable); name != "" {
		runtime.LockOSThread() // contexts are current to threads
		if err := clients[name](os.Getenv("NUMBA_CUDA_DRIVER")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var clients = map[string]func(library string) error{
	"saxpy": saxpyClient, "print": printClient, "orphan": orphanClient,
}

// client is a command that runs a client.
func client(s *Server, name string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	// The client's code runs on a goroutine that cannot be stopped.
	c.Env = append(s.Environment(os.Environ()), clientVariable+"="+name, "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	return c
}

// A caller calls functions of the library until one fails.
type caller struct {
	library *solibtest.Library
	err     error
}

func (c *caller) call(name string, args ...uint64) Result {
	if c.err != nil {
		return ErrUnknown
	}
	v, err := c.library.Call(name, args...)
	r := Result(uint32(v))
	if err == nil && r != Success {
		err = fmt.Errorf("%s: %w", name, r)
	}
	c.err = err
	return r
}

// open loads the library and a kernel.
func (c *caller) open(path, file, kernel string) (function uint64) {
	if c.library, c.err = solibtest.Load(path); c.err != nil {
		return 0
	}
	image, err := cubin.ReadFile(filepath.Join("../../kernels", file))
	if err != nil {
		c.err = err
		return 0
	}
	var context, module uint64
	name := cString(kernel)
	c.call("cuInit", 0)
	c.call("cuDevicePrimaryCtxRetain", pointer(&context), 0)
	c.call("cuCtxSetCurrent", context)
	c.call("cuModuleLoadData", pointer(&module), pointer(&image[0]))
	c.call("cuModuleGetFunction", pointer(&function), module, pointer(&name[0]))
	return function
}

// saxpyClient computes with saxpy, in managed memory, and has itself called back.
func saxpyClient(path string) error {
	var c caller
	f := c.open(path, saxpyFile, "saxpy")
	const n = 500
	args := saxpyArguments{n: n, a: 2}
	c.call("cuMemAllocManaged", pointer(&args.x), 4*n, attachGlobal)
	c.call("cuMemAlloc_v2", pointer(&args.y), 4*n)
	c.call("cuMemsetD32_v2", args.y, 0x3f800000, n)
	if c.err != nil {
		return c.err
	}
	x := unsafe.Slice(at[float32](args.x), n)
	for i := range x {
		x[i] = float32(i)
	}
	params := []uint64{pointer(&args.n), pointer(&args.a), pointer(&args.x), pointer(&args.y)}
	c.call("cuLaunchKernel", f, 2, 1, 1, 128, 1, 1, 0, 0, pointer(&params[0]), 0)
	y := make([]float32, n)
	c.call("cuMemcpyDtoH_v2", pointer(&y[0]), args.y, 4*n)
	for i, v := range y {
		if c.err == nil && v != 2*float32(i)+1 {
			return fmt.Errorf("y[%d] is %g", i, v)
		}
	}
	var called, entry uint64
	c.call("cuLaunchHostFunc", 0, solibtest.Answer(), pointer(&called))
	name := cString("cuDriverGetVersion")
	var version int32
	c.call("cuGetProcAddress_v2", pointer(&name[0]), pointer(&entry), 13000, 0, 0)
	if c.err == nil && called != 42 {
		return errors.New("the host function was not called")
	}
	if c.err == nil {
		if _, c.err = solibtest.CallAddress(entry, pointer(&version)); version != driverVersion {
			return fmt.Errorf("version %d by cuGetProcAddress", version)
		}
	}
	if r, err := c.library.Call("cuMemcpyDtoH_v2", 16, args.y, 4); err != nil || uint32(r) != uint32(ErrInvalidValue) {
		return fmt.Errorf("a copy to a bad address: %d, %v", r, err)
	}
	for _, name := range []string{"cuDriverGetVersion", "cuCtxGetCurrent", "cuMemGetInfo_v2"} {
		if r, err := c.library.Call(name, 16, 16); err != nil || uint32(r) != uint32(ErrInvalidValue) {
			return fmt.Errorf("a result of %s to a bad address: %d, %v", name, r, err)
		}
	}
	c.call("cuCtxSynchronize")
	return c.err
}

// printClient runs a kernel that prints.
func printClient(path string) error {
	var c caller
	f := c.open(path, "control/printf/printf.sm_80.cubin", "printf_formats")
	var buffers [3]uint64
	for i := range buffers {
		c.call("cuMemAlloc_v2", pointer(&buffers[i]), 1024)
	}
	params := []uint64{pointer(&buffers[0]), pointer(&buffers[1]), pointer(&buffers[2])}
	c.call("cuLaunchKernel", f, 1, 1, 1, 64, 1, 1, 0, 0, pointer(&params[0]), 0)
	return c.err
}

// orphanClient goes on after the server has ended.
func orphanClient(path string) error {
	var c caller
	c.open(path, saxpyFile, "saxpy")
	if c.err != nil {
		return c.err
	}
	fmt.Println("ready")
	var line string
	fmt.Scanln(&line)
	if r, err := c.library.Call("cuCtxSynchronize"); err != nil || uint32(r) != uint32(ErrUnknown) {
		return fmt.Errorf("a call without a server: %d, %v", r, err)
	}
	return nil
}

func TestLibrary(t *testing.T) {
	s := start(t, "a100")
	if out, err := client(s, "saxpy").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, p := range s.Problems() {
		if strings.Contains(p, "mistake") {
			t.Error(p)
		}
	}
}

// What a kernel prints is on the standard output of the program.
func TestLibraryPrints(t *testing.T) {
	s := start(t, "a100")
	out, err := client(s, "print").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if lines := strings.Count(string(out), "\n"); lines < 6 {
		t.Errorf("%q", out)
	}
}

// A program whose server has gone gets errors.
func TestLibraryAlone(t *testing.T) {
	s := start(t, "a100")
	c := client(s, "orphan")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	in.Write([]byte("\n"))
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
