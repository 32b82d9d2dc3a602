//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/cuda/wire"
)

// A testClient speaks the protocol as the library's code does, in this process: what the server puts and reads is memory of the test.
type testClient struct {
	t       testing.TB
	conn    net.Conn
	table   *table
	calling convention
	data    []byte // in place of the library's
	thread  uint32
	library int                                         // whose functions are called
	kept    []any                                       // what the server reads later
	deny    bool                                        // system calls are refused
	answers func(function uint64, args []uint64) uint64 // in place of functions that the server has the client call
}

// newClient connects to a server.
func newClient(t testing.TB, s *Server) *testClient {
	t.Helper()
	conn, err := net.Dial("unix", filepath.Join(s.Folder(), socketName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &testClient{t: t, conn: conn, table: s.table, calling: s.calling, data: make([]byte, 1<<16), thread: 1}
}

// start starts a server that ends with the test.
func start(t testing.TB, gpu string, change ...func(*Options)) *Server {
	t.Helper()
	model, err := arch.ByName(gpu)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{GPU: model, Machine: emu.Options{MaxInstructions: 1 << 22}, Folder: filepath.Join(t.TempDir(), "gpa")}
	for _, f := range change {
		f(&o)
	}
	s, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// escaped keeps what tests have taken addresses of last off the stack, which moves, and from the garbage collector, which sees no address in a
// number: a call is given fewer, with all that they lead to.
var escaped struct {
	mu   sync.Mutex
	last [64]any
	next int
}

func escape(v any) {
	escaped.mu.Lock()
	defer escaped.mu.Unlock()
	escaped.last[escaped.next] = v
	escaped.next = (escaped.next + 1) % len(escaped.last)
}

// pointer is the address of what the test lets the server read or write.
func pointer[T any](v *T) uint64 {
	escape(v)
	return uint64(uintptr(unsafe.Pointer(v)))
}

// parameterList is the address of the addresses of a kernel's parameters.
func parameterList(params []unsafe.Pointer) uint64 {
	escape(params)
	list := make([]uint64, len(params)+1)
	for i, p := range params {
		list[i] = uint64(uintptr(p))
	}
	return pointer(&list[0])
}

// at is what lies at an address of this process.
func at[T any](addr uint64) *T { return *(**T)(unsafe.Pointer(&addr)) }

// call calls a function by its name. The words of structures that are passed by value are arguments too.
func (c *testClient) call(name string, args ...uint64) Result {
	c.t.Helper()
	number, ok := c.table.numbers[name]
	if !ok {
		c.t.Fatalf("there is no function %s", name)
	}
	return c.number(number, args...)
}

// number calls a function by its number.
func (c *testClient) number(number int, args ...uint64) Result {
	c.t.Helper()
	passed, result := c.pass(c.table.list[number].args, args)
	var words [26]uint64
	words[0] = uint64(number+c.library*libraryBase) | uint64(c.thread)<<32
	copy(words[1:7], passed[:])
	copy(words[10:], passed[6:])
	words[7], words[8] = result, pointer(&c.data[0])
	frame, err := binary.Append(nil, binary.LittleEndian, words)
	if err == nil {
		_, err = c.conn.Write(frame)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	for {
		var m [8]uint64
		if err := binary.Read(c.conn, binary.LittleEndian, &m); err != nil {
			c.t.Fatalf("function %d: %v", number, err)
		}
		switch m[0] {
		case 0:
			return Result(m[1])
		case 1:
			c.reply(c.system(m[1], m[2:8]))
		case 2:
			answer := uint64(7)
			if c.answers != nil {
				answer = c.answers(m[1], m[2:6])
			}
			c.reply(answer)
		case 3:
			if _, err := io.ReadFull(c.conn, unsafe.Slice(at[byte](m[2]), m[3])); err != nil {
				c.t.Fatal(err)
			}
		default:
			c.t.Fatalf("answer %x", m)
		}
	}
}

// pass puts arguments where a program of the client's architecture has them: what lies in registers, then the stack; and where a structure goes
// that is returned, where that is no argument.
func (c *testClient) pass(letters string, args []uint64) (words [wire.MaxArgs]uint64, result uint64) {
	register, stacked := 0, c.calling.registers
	put := func(v uint64) {
		place := &register
		if register == c.calling.registers {
			place = &stacked
		}
		words[*place] = v
		*place++
	}
	for len(args) > 0 {
		letter, n := byte('n'), 1
		if letters != "" {
			n = 1 + len(letters[1:]) - len(strings.TrimLeft(letters[1:], "."))
			letter, letters = letters[0], letters[n:]
		}
		n = min(n, len(args))
		switch {
		case letter == 'r' && c.calling.copies:
			result = args[0]
		case letter == 's' && c.calling.copies:
			structure := slices.Clone(args[:n])
			c.kept = append(c.kept, structure)
			put(pointer(&structure[0]))
		case letter == 's':
			stacked += copy(words[stacked:], args[:n])
		default:
			put(args[0])
		}
		args = args[n:]
	}
	return words, result
}

// system makes a system call that the server asks for.
func (c *testClient) system(number uint64, a []uint64) uint64 {
	if c.deny {
		return uint64(^uint64(unix.EPERM) + 1)
	}
	r, _, errno := unix.Syscall6(uintptr(number), uintptr(a[0]), uintptr(a[1]), uintptr(a[2]), uintptr(a[3]), uintptr(a[4]), uintptr(a[5]))
	if errno != 0 {
		return ^uint64(errno) + 1
	}
	return uint64(r)
}

func (c *testClient) reply(v uint64) {
	if err := binary.Write(c.conn, binary.LittleEndian, v); err != nil {
		c.t.Fatal(err)
	}
}

// must calls a function that has to succeed.
func (c *testClient) must(name string, args ...uint64) {
	c.t.Helper()
	c.want(Success, name, args...)
}

// want calls a function that has to end in a certain way.
func (c *testClient) want(want Result, name string, args ...uint64) {
	c.t.Helper()
	if got := c.call(name, args...); got != want {
		c.t.Fatalf("%s: %v, want %v", name, got, want)
	}
}

// context makes the primary context current.
func (c *testClient) context() uint64 {
	c.t.Helper()
	var handle uint64
	c.must("cuInit", 0)
	c.must("cuDevicePrimaryCtxRetain", pointer(&handle), 0)
	c.must("cuCtxSetCurrent", handle)
	return handle
}

// alloc allocates device memory.
func (c *testClient) alloc(size uint64) uint64 {
	c.t.Helper()
	var addr uint64
	c.must("cuMemAlloc_v2", pointer(&addr), size)
	return addr
}

// cString is a string as C has it.
func cString(s string) []byte { return append([]byte(s), 0) }

// corpus reads a cubin of the corpus.
func corpus(t testing.TB, name string) []byte {
	t.Helper()
	data, err := cubin.ReadFile(filepath.Join("../../kernels", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// function loads a kernel of the corpus.
func (c *testClient) function(file, kernel string) uint64 {
	c.t.Helper()
	image, name := corpus(c.t, file), cString(kernel)
	var module, function uint64
	c.must("cuModuleLoadData", pointer(&module), pointer(&image[0]))
	c.must("cuModuleGetFunction", pointer(&function), module, pointer(&name[0]))
	return function
}

// launch launches a kernel in one dimension with parameters of any types.
func (c *testClient) launch(function uint64, grid, block uint64, params ...unsafe.Pointer) Result {
	c.t.Helper()
	return c.call("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, 0, parameterList(params), 0)
}
