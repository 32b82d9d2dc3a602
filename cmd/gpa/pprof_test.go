package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test binary is gpa itself where this variable is set: pprof writes to the process's own standard output.
const asCommand = "GPA_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	runOther()
	if folder := os.Getenv(asCompiler); folder != "" {
		os.Exit(fakeCompiler(folder, os.Args[1:]))
	}
	if os.Getenv(asCommand) != "" {
		sweepHooks()
		main()
	}
	status := m.Run()
	if folder, err := profilesFolder(); err == nil {
		os.RemoveAll(folder)
	}
	os.Exit(status)
}

// gpaProcess runs gpa as a process of its own, in a home of its own.
func gpaProcess(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "HOME="+t.TempDir())
	return cmd
}

// savedResult is a folder with the result of a built-in kernel, to write to.
func savedResult(t *testing.T, kernel string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(profiledBuiltin(t, kernel).dir)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPprof drives gpa pprof through its views: on kernels, saved profiles and pprof files, with the machine code in them.
func TestPprof(t *testing.T) {
	t.Parallel()
	hotspot, vecadd := savedResult(t, "hotspot"), savedResult(t, "vecadd")
	pb, blame := filepath.Join(hotspot, "profile.pb.gz"), filepath.Join(hotspot, "blame.pb.gz")
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"top of a kernel", []string{"-top", "vecadd"}, []string{"kernel vecadd, sm_70, v100", "Type: cycles"}},
		{"top of a folder", []string{"-top", "-sample_index=stalls", hotspot}, []string{"hotspot"}},
		{"lines of a source", []string{"-list=hotspot", "hotspot"}, []string{"ROUTINE", "temperature[ty][tx] = before[row * columns + col];"}},
		{"disasm of a pprof file", []string{"-disasm=hotspot", pb}, []string{"LDG.E.SYS R6, [R6]", "hotspot.cu:19", "[B0-----:R-:W-:-:S02]"}},
		{"disasm of two cubins", []string{"-disasm=.", hotspot, vecadd}, []string{"ROUTINE ======================== hotspot", "ROUTINE ======================== vecadd", "F2F.F64.F32", "FADD"}},
		{"weblist", []string{"-weblist=hotspot", "-output=" + filepath.Join(hotspot, "weblist.html"), "hotspot"}, nil},
		{"peek", []string{"-peek=hotspot", pb}, []string{"hotspot"}},
		{"tags", []string{"-tags", pb}, []string{"long_scoreboard", "BAR"}},
		{"difference", []string{"-top", "-diff_base=" + hotspot, pb}, []string{"hotspot"}},
		{"blame", []string{"-peek=.", "-addresses", blame}, []string{"hotspot.cu:19", "Type: cycles"}},
		{"blame by detail", []string{"-tags", blame}, []string{"global_memory", "constant_memory", "synchronization"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, err := gpaProcess(t, append([]string{"pprof"}, c.args...)...).CombinedOutput()
			if err != nil {
				t.Fatalf("gpa pprof %v: %v\n%s", c.args, err, out)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("gpa pprof %v lacks %q:\n%s", c.args, want, out)
				}
			}
			if c.name == "weblist" {
				checkWeblist(t, filepath.Join(hotspot, "weblist.html"))
			}
		})
	}
}

func checkWeblist(t *testing.T, name string) {
	t.Helper()
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"LDG.E.SYS R6, [R6]", "temperature[ty][tx]"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// freeAddress is an address that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// get fetches a page. The server says that it serves before it listens, so the first requests may be too early.
func get(t *testing.T, ctx context.Context, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	for range 100 {
		if err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
		response, err = http.DefaultClient.Do(request)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, response.Status, err)
	}
	return string(page)
}

// servePprof starts the web interface with these arguments and returns its address. It ends with the test, and leaves no files behind.
func servePprof(t *testing.T, args ...string) (address string) {
	t.Helper()
	address = freeAddress(t)
	cmd := gpaProcess(t, append([]string{"pprof", "-no_browser", "-http=" + address}, args...)...)
	temporary := t.TempDir()
	cmd.Env = append(cmd.Env, "TMPDIR="+temporary)
	t.Cleanup(func() {
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("%d files are left behind, %v", len(left), err)
		}
	})
	serve(t, cmd)
	return address
}

// serve starts a web interface and waits until it serves. It ends with the test.
func serve(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Wait() // the test's context has ended, and so the process is to
	})
	serving := false
	for lines := bufio.NewScanner(stderr); !serving && lines.Scan(); {
		serving = strings.Contains(lines.Text(), "Serving web UI on ")
	}
	if !serving {
		t.Fatal("the server did not start")
	}
}

// TestStockPprofServer asks the web interface of Go's own pprof for its views. It has source, but no machine code.
func TestStockPprofServer(t *testing.T) {
	t.Parallel()
	tool, err := exec.Command("go", "tool", "-n", "pprof").Output()
	if err != nil {
		t.Skip("the go command has no pprof")
	}
	saved := filepath.Join(savedResult(t, "hotspot"), "profile.pb.gz")
	address := freeAddress(t)
	cmd := exec.CommandContext(t.Context(), strings.TrimSpace(string(tool)), "-no_browser", "-http="+address, "-source_path=../../kernels/stencil/hotspot", saved)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir(), "HOME="+t.TempDir())
	serve(t, cmd)
	for path, want := range map[string]string{
		"/top": "hotspot", "/flamegraph": "hotspot", "/peek?f=hotspot": "hotspot", "/source?f=hotspot": "temperature[ty][tx]",
	} {
		if page := get(t, t.Context(), "http://"+address+"/ui"+path); !strings.Contains(page, want) {
			t.Errorf("%s: %d bytes without %q", path, len(page), want)
		}
	}
}

// TestPprofServer asks the web interface for its views.
func TestPprofServer(t *testing.T) {
	t.Parallel()
	address := servePprof(t, "hotspot")
	for path, want := range map[string]string{
		"/top":              "hotspot",
		"/flamegraph":       "hotspot",
		"/peek?f=hotspot":   "hotspot",
		"/source?f=hotspot": "LDG.E.SYS",
		"/disasm?f=hotspot": "LDG.E.SYS",
	} {
		if page := get(t, t.Context(), "http://"+address+"/ui"+path); !strings.Contains(page, want) {
			t.Errorf("%s: %d bytes without %q", path, len(page), want)
		}
	}
}
