//go:build linux && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every function returns, whatever it is called with: before anything is initialised, with nothing, with handles and addresses that do not exist.
func TestEveryFunction(t *testing.T) {
	s := start(t, "a100")
	for turn := range 3 {
		ready, runtime := turn > 0, turn > 1 // the runtime makes itself ready
		c := newClient(t, s)
		if ready {
			c.context()
		}
		random := rand.New(rand.NewPCG(1, 2))
		words := []uint64{0, 1, 16, 0xffffffff, 1 << 63, ^uint64(0), deviceBase, deviceBase + 1, firstHandle + 16, firstHandle + 32}
		for _, f := range s.table.list {
			if slices.Contains([]string{"cuInit", "cuLaunchHostFunc"}, f.name) && !ready || isRuntime(f.name) != runtime {
				continue
			}
			for turn := range 4 {
				args := make([]uint64, len(f.args)+2)
				for i := range args {
					if turn > 0 {
						args[i] = words[random.IntN(len(words))]
					}
					// What is returned through a pointer has to go somewhere.
					if i < len(f.args) && strings.IndexByte("por", f.args[i]) >= 0 && turn > 0 {
						args[i] = pointer(&c.data[1024*i])
					}
				}
				r := c.call(f.name, args...)
				if f.run == nil && r != ErrNotSupported {
					t.Errorf("%s, which is not supported: %v", f.name, r)
				}
				if !ready && (f.needs == initialized || f.needs == currentContext) && f.run != nil && r != ErrNotInitialized {
					t.Errorf("%s before cuInit: %v", f.name, r)
				}
			}
		}
		if ready {
			c.context()
			c.must("cuCtxSynchronize")
		}
	}
	for _, p := range s.Problems() {
		if strings.Contains(p, "a mistake in gpa") {
			t.Error(p)
		}
	}
}

// Garbage on the socket ends the connection that it came on, and no other.
func TestGarbage(t *testing.T) {
	s := start(t, "a100")
	good := newClient(t, s)
	good.context()
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		conn, err := net.Dial("unix", filepath.Join(s.Folder(), socketName))
		if err != nil {
			t.Fatal(err)
		}
		junk := make([]byte, random.IntN(1000))
		for i := range junk {
			junk[i] = byte(random.Uint32())
		}
		conn.Write(junk)
		conn.Close()
	}
	// A call of a function that does not exist.
	conn, err := net.Dial("unix", filepath.Join(s.Folder(), socketName))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	frame := make([]byte, 208)
	binary.LittleEndian.PutUint32(frame, 1<<30)
	conn.Write(frame)
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := conn.Read(frame); err == nil {
		t.Errorf("%d bytes of answer", n)
	}
	good.must("cuCtxSynchronize")
}

// With its last connection goes what a process had, and with the server its files.
func TestNothingStays(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.context()
	c.alloc(1 << 20)
	c.conn.Close()
	deadline := time.Now().Add(time.Minute)
	for {
		s.mu.Lock()
		n := len(s.processes)
		s.mu.Unlock()
		if n == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d processes", n)
		}
		time.Sleep(time.Millisecond)
	}
	info, err := os.Stat(filepath.Join(s.Folder(), socketName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Folder()); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// A server that was killed leaves a folder, which the next one takes away; those of others that run stay.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", parent)
	dead := filepath.Join(parent, folderPrefix+"dead")
	if err := os.Mkdir(dead, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dead, socketName), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	inRuntime := func(o *Options) { o.Folder = "" }
	first := start(t, "a100", inRuntime)
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	start(t, "a100", inRuntime)
	if _, err := os.Stat(first.Library()); err != nil || filepath.Dir(first.Folder()) != parent {
		t.Errorf("%s: %v", first.Folder(), err)
	}
}
