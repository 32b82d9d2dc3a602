package cuda

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/cuda/solib"
	"gpa/emu/cuda/wire"
)

// driverVersion is the version of the driver API that programs are told: CUDA 13.0, which runs what older toolkits built.
const driverVersion = 13000

// Options say what programs find.
type Options struct {
	GPU *arch.Model
	// Machine is how the machines of modules behave. Memory, Stdout and Heap are the server's.
	Machine emu.Options
	// Launch runs a launch; nil for one without timing. Calls come one at a time. A nil result with an error that is no fault means that
	// the launch cannot be run as it is.
	Launch func(ctx context.Context, l *Launch) (*emu.Result, error)
	// Loaded is told of every module that a program loads; nil for nobody.
	Loaded func(*cubin.File)
	// Ranges says whether programs tell their NVTX ranges, which costs a call each ([Launch.Within]).
	Ranges bool
	// ProfilerOff says that launches count as left out ([Launch.Left]) until the program calls cuProfilerStart.
	ProfilerOff bool
	Exact       bool   // kernels reach the bytes of an allocation only, not the rest of the unit that it ends in
	Folder      string // for the library and the socket, which nobody else may enter; "" for a fresh one in the runtime folder of the user
}

// A Launch is a kernel launch that a program asks for.
type Launch struct {
	Process int // of the operating system
	Machine *emu.Machine
	Launch  *emu.Launch

	// Left says that the program has left the launch out: it comes after cuProfilerStop, or before the first cuProfilerStart.
	Left bool

	device *deviceMemory
	ranges []namedRange
}

// Size returns the number of bytes of the allocation that begins at an address, as the program asked for it; 0 where there is none.
func (l *Launch) Size(addr uint64) uint64 {
	if base, size := l.Allocation(addr); base == addr {
		return size
	}
	return 0
}

// Allocation returns where the allocation begins that an address lies in, and its size as the program asked for it; 0 where there is none.
func (l *Launch) Allocation(addr uint64) (base, size uint64) {
	if a := l.device.find(addr); a != nil {
		return a.addr, a.size
	}
	return 0, 0
}

// Allocated returns the bytes of all allocations of the program.
func (l *Launch) Allocated() int64 {
	if l.device == nil {
		return 0
	}
	return int64(l.device.used)
}

// A Server carries out the driver calls of programs.
type Server struct {
	options  Options
	calling  convention // of programs
	table    *table
	folder   string
	listener *net.UnixListener
	images   []*solib.Image // by library
	ctx      context.Context
	cancel   context.CancelFunc
	serving  sync.WaitGroup

	execution sync.Mutex // held while a kernel runs: there is one GPU
	clock     int64      // of the emulated GPU, nanoseconds; under execution

	mu          sync.Mutex
	processes   map[int]*process
	registered  map[int]*runtimeState // what programs have registered with the runtime, by process
	shares      map[shareHandle]*share
	connections map[net.Conn]bool
	files       map[[sha256.Size]byte]*cubin.File
	unsupported map[string]int
	problems    []string
	calls       atomic.Int64
	modules     int
	told        bool // a program has asked for times
	runtime     bool // NVIDIA's runtime library has asked for its tables
}

// names of the files in the folder.
const (
	libraryName = "libcuda.so.1"
	plainName   = "libcuda.so"
	socketName  = "socket"
)

// libraryBase is what the numbers of the functions of the second library begin with, of the third twice that, and so on.
const libraryBase = 1 << 16

// The libraries, by number. Those of the runtime name their version in every symbol, as programs that were linked with NVIDIA's expect.
const (
	driverLibrary = iota
	runtime12Library
	runtime13Library
	cuteLibrary
	libraryCount
)

var libraryNames = [libraryCount]string{libraryName, "libcudart.so.12", "libcudart.so.13", cuteName}

// Start writes the library and begins to serve. The server ends with ctx or [Server.Close].
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Launch == nil {
		o.Launch = func(ctx context.Context, l *Launch) (*emu.Result, error) {
			l.Launch.Untimed = true
			return l.Machine.Launch(ctx, l.Launch)
		}
	}
	s := &Server{options: o, calling: conventions[runtime.GOARCH], table: newTable(), processes: make(map[int]*process), registered: make(map[int]*runtimeState), shares: make(map[shareHandle]*share), connections: make(map[net.Conn]bool),
		files: make(map[[sha256.Size]byte]*cubin.File), unsupported: make(map[string]int)}
	if err := s.open(); err != nil {
		os.RemoveAll(s.folder)
		return nil, fmt.Errorf("the CUDA driver for the program: %w", err)
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	context.AfterFunc(s.ctx, func() { s.listener.Close() })
	s.serving.Add(1)
	go s.accept()
	return s, nil
}

// open makes the folder with the library and the socket.
func (s *Server) open() error {
	var err error
	if s.folder, err = makeFolder(s.options.Folder); err != nil {
		return err
	}
	socket := filepath.Join(s.folder, socketName)
	for i, name := range libraryNames {
		library := solib.Library{Soname: name, Names: s.table.names(i), Base: i * libraryBase, Socket: socket}
		if i == runtime12Library || i == runtime13Library {
			library.Version = name
		}
		image, err := library.Image()
		if err != nil {
			return err
		}
		s.images = append(s.images, image)
		if err = os.WriteFile(filepath.Join(s.folder, name), image.Bytes, 0o500); err != nil {
			return err
		}
	}
	if err = os.Symlink(libraryName, filepath.Join(s.folder, plainName)); err != nil {
		return err
	}
	if s.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"}); err != nil {
		return err
	}
	return os.Chmod(socket, 0o600)
}

// makeFolder makes a folder that nobody else may enter: the one named, or a fresh one in the runtime folder of the user or that for
// temporary files. A server that was killed could not take its folder away: that is done by the next.
func makeFolder(name string) (string, error) {
	if name != "" {
		switch err := Serving(name); {
		case err == nil:
			return "", fmt.Errorf("a server is running in %s", name)
		case errors.Is(err, ErrNoServer):
			os.RemoveAll(name) // of one that was killed
		default:
			return "", err
		}
		if err := os.Mkdir(name, 0o700); err != nil {
			return "", err
		}
		return name, nil
	}
	var err error
	for _, parent := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir()} {
		if parent == "" {
			continue
		}
		sweep(parent)
		if name, err = os.MkdirTemp(parent, folderPrefix); err == nil {
			return name, nil
		}
	}
	return "", err
}

const folderPrefix = "gpa-cuda-"

// sweep removes folders of servers that are no more: those at whose socket nobody listens.
func sweep(parent string) {
	list, err := filepath.Glob(filepath.Join(parent, folderPrefix+"*"))
	if err != nil {
		return
	}
	for _, folder := range list {
		c, err := net.Dial("unix", filepath.Join(folder, socketName))
		if err == nil {
			c.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			os.RemoveAll(folder) // fails where it is another user's
		}
	}
}

// Folder is where the library lies.
func (s *Server) Folder() string { return s.folder }

// Library is the path of the library.
func (s *Server) Library() string { return filepath.Join(s.folder, libraryName) }

// Close ends all connections, and leaves neither files nor memory behind.
func (s *Server) Close() error {
	s.cancel()
	s.mu.Lock()
	for c := range s.connections {
		c.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
	return os.RemoveAll(s.folder)
}

// Unsupported returns how often programs called functions that are not supported, by name.
func (s *Server) Unsupported() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make(map[string]int, len(s.unsupported))
	for name, n := range s.unsupported {
		list[name] = n
	}
	return list
}

// Problems returns what went wrong in words, in the order in which it did, each once.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.problems...)
}

// Calls returns how many calls programs have made.
func (s *Server) Calls() int64 { return s.calls.Load() }

// tellTime notes that a program has asked how long something took.
func (s *Server) tellTime() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = true
}

// Runtime says whether a program holds NVIDIA's runtime library, which accepts no driver but NVIDIA's.
func (s *Server) Runtime() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runtime
}

// Timed says whether a program has asked for times, which are those of the emulated GPU.
func (s *Server) Timed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told
}

// lack counts what is not supported.
func (s *Server) lack(name string) Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsupported[name]++
	return ErrNotSupported
}

// maxProblems bounds what is kept of a program that makes one mistake after the other.
const maxProblems = 100

// problem keeps an explanation that a CUresult has no room for.
func (s *Server) problem(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := err.Error()
	for _, p := range s.problems {
		if p == text {
			return
		}
	}
	if len(s.problems) < maxProblems {
		s.problems = append(s.problems, text)
	}
}

func (s *Server) accept() {
	defer s.serving.Done()
	for {
		c, err := s.listener.AcceptUnix()
		if err != nil {
			return // closed
		}
		s.mu.Lock()
		s.connections[c] = true
		s.mu.Unlock()
		if s.ctx.Err() != nil {
			c.Close()
		}
		s.serving.Add(1)
		go s.serve(c)
	}
}

// serve carries out the calls of one connection. A process may have several; with its last one ends what it had.
func (s *Server) serve(c *net.UnixConn) {
	defer s.serving.Done()
	defer func() {
		c.Close()
		s.mu.Lock()
		delete(s.connections, c)
		s.mu.Unlock()
	}()
	pid, uid, err := wire.Peer(c)
	if err != nil || uid != os.Getuid() {
		return
	}
	p := s.enter(pid)
	defer s.leave(p)
	if err := p.serve(wire.NewConn(c)); s.ctx.Err() == nil && !ended(err) {
		s.problem(fmt.Errorf("process %d was cut off: %w", pid, err))
	}
}

// ended says whether a connection ended as connections do when their process does.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || disconnected(err)
}

// enter returns the state of a process for one more of its connections.
func (s *Server) enter(pid int) *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.processes[pid]
	if p == nil {
		p = newProcess(s, pid)
		s.processes[pid] = p
	}
	p.connections++
	return p
}

// leave is called when a connection has ended.
func (s *Server) leave(p *process) {
	s.mu.Lock()
	p.connections--
	last := p.connections == 0
	if last {
		delete(s.processes, p.pid)
	}
	s.mu.Unlock()
	if last {
		p.close()
	}
}

// file decodes a cubin, or finds the one with the same bytes.
func (s *Server) file(data []byte) (*cubin.File, error) {
	key := sha256.Sum256(data)
	s.mu.Lock()
	known := s.files[key]
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	s.mu.Lock()
	s.modules++
	name := fmt.Sprintf("module %d", s.modules)
	s.mu.Unlock()
	f, err := cubin.NewFile(name, data)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[key] = f
	return f, nil
}

// has says whether a process uses the GPU.
func (s *Server) has(pid int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processes[pid] != nil
}
