// Package wire is how a library that package solib wrote and the process that carries its functions out talk to each other, on a unix
// stream socket.
//
// The library sends a [Call]. The server answers with any number of requests, and at last with what the function returns: a system
// call to be made in the client, a function of the client's to be called, or bytes to be put into the client's memory ([Conn.Put],
// which needs no reply and costs no round trip). A bad address is an error of a system call of the client's own kernel, never a crash.
//
// All numbers are little-endian. The messages have fixed sizes; who sends something else is cut off.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	callSize   = 208
	answerSize = 64
	resultSize = 8

	systemArgs = 6 // of a system call
)

// ErrMemory says that an address of a client has no memory behind it, or none of that kind.
var ErrMemory = errors.New("the program has no memory there")

// MaxArgs is how many arguments of a call are sent: those in registers, and words of the stack. There are six registers on amd64 and eight on
// arm64, so that the stack's are 16 or 14.
const MaxArgs = 22

// What an answer asks for.
const (
	opReturn = iota
	opSystemCall
	opCallback
	opPut
)

// A Call is a call of a function.
type Call struct {
	Number int
	Thread int // of the client, as gettid(2) returns it
	// Args are the arguments, integers and pointers, as the System V ABI for amd64 or the Procedure Call Standard for the Arm 64-bit
	// Architecture (AAPCS64) passes them. The upper half of one that is of 32 bits may hold anything.
	Args   [MaxArgs]uint64
	Result uint64 // on arm64, where a structure goes that the function returns (AAPCS64, X8)
	Data   uint64 // where the data of the library lies in the client
	FD     int    // descriptor of the connection in the client
}

// decode reads a call from its bytes.
func (c *Call) decode(b *[callSize]byte) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	c.Number, c.Thread = int(uint32(word(0))), int(word(0)>>32)
	const before = 6 // arguments; the others lie behind what else is sent
	for i := range before {
		c.Args[i] = word(1 + i)
	}
	for i := range MaxArgs - before {
		c.Args[before+i] = word(10 + i)
	}
	c.Result, c.Data, c.FD = word(7), word(8), int(uint32(word(9)))
}

// A Conn is a connection with a client. One goroutine uses it.
type Conn struct {
	rw  io.ReadWriter
	in  [callSize]byte
	out []byte // answers that have not been sent
}

// NewConn returns a connection on a stream.
func NewConn(rw io.ReadWriter) *Conn { return &Conn{rw: rw} }

// Next waits for a call. The error is io.EOF where the client has closed the connection.
func (c *Conn) Next(call *Call) error {
	if _, err := io.ReadFull(c.rw, c.in[:]); err != nil {
		return err
	}
	call.decode(&c.in)
	return nil
}

// maxPut bounds the bytes of a put, so that what has not been sent does not grow without limit.
const maxPut = 1 << 20

// Put has bytes written to the client's memory before the function returns.
func (c *Conn) Put(addr uint64, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if len(data) > maxPut {
		return fmt.Errorf("%d bytes to put, at most %d", len(data), maxPut)
	}
	c.answer(opPut, 0, addr, uint64(len(data)))
	c.out = append(c.out, data...)
	return nil
}

// Return lets the function return a value.
func (c *Conn) Return(v uint64) error {
	c.answer(opReturn, v)
	return c.flush()
}

// SystemCall has the client make a system call and returns its result, which is below zero for an error number.
func (c *Conn) SystemCall(number uint64, args ...uint64) (int64, error) {
	v, err := c.ask(opSystemCall, number, args)
	return int64(v), err
}

// Callback has the client call a function of its own, with at most four arguments, and returns what it returns. Meanwhile the thread may
// call functions of the library on another connection.
func (c *Conn) Callback(function uint64, args ...uint64) (uint64, error) {
	if len(args) > 4 {
		return 0, errors.New("a callback has at most four arguments")
	}
	return c.ask(opCallback, function, args)
}

func (c *Conn) ask(op, v uint64, args []uint64) (uint64, error) {
	if len(args) > systemArgs {
		return 0, fmt.Errorf("%d arguments, at most %d", len(args), systemArgs)
	}
	c.answer(op, v, args...)
	if err := c.flush(); err != nil {
		return 0, err
	}
	var b [resultSize]byte
	if _, err := io.ReadFull(c.rw, b[:]); err != nil {
		return 0, noEOF(err)
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

// noEOF makes the end of a stream in the middle of a call an error.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (c *Conn) answer(op, v uint64, args ...uint64) {
	var b [answerSize]byte
	binary.LittleEndian.PutUint64(b[0:], op)
	binary.LittleEndian.PutUint64(b[8:], v)
	for i, a := range args {
		binary.LittleEndian.PutUint64(b[16+8*i:], a)
	}
	c.out = append(c.out, b[:]...)
}

func (c *Conn) flush() error {
	_, err := c.rw.Write(c.out)
	c.out = c.out[:0]
	return err
}
