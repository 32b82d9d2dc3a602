//go:build linux && (amd64 || arm64)

// Package solibtest loads libraries that package solib wrote into a process that has no dynamic loader, and calls their functions, so that
// tests need no program of another language.
package solibtest

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Library is a library in this process.
type Library struct {
	symbols map[string]uint64
	base    uintptr
}

// Load maps the segments of a library. It stays until the process ends.
func Load(path string) (*Library, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	image, err := unix.Mmap(-1, 0, len(data), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	for _, p := range file.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if _, err := io.ReadFull(p.Open(), image[p.Vaddr:p.Vaddr+p.Filesz]); err != nil {
			return nil, err
		}
		if p.Flags&elf.PF_X == 0 {
			continue
		}
		// The system makes instructions of what was written when pages become executable: caches of arm64 do not by themselves.
		if err := unix.Mprotect(image[p.Vaddr:p.Vaddr+p.Filesz], unix.PROT_READ|unix.PROT_EXEC); err != nil {
			return nil, err
		}
	}
	l := &Library{base: uintptr(unsafe.Pointer(&image[0])), symbols: make(map[string]uint64)}
	symbols, err := dynamicSymbols(file, image)
	for _, s := range symbols {
		l.symbols[s.name] = s.value
	}
	return l, err
}

type symbol struct {
	name  string
	value uint64
}

// dynamicSymbols reads the symbols by the dynamic segment, as a loader does, not by the sections.
func dynamicSymbols(file *elf.File, image []byte) ([]symbol, error) {
	tags := make(map[elf.DynTag]uint64)
	for _, p := range file.Progs {
		if p.Type != elf.PT_DYNAMIC {
			continue
		}
		for at := p.Vaddr; at < p.Vaddr+p.Filesz; at += 16 {
			tags[elf.DynTag(file.ByteOrder.Uint64(image[at:]))] = file.ByteOrder.Uint64(image[at+8:])
		}
	}
	hash, table, names := tags[elf.DT_HASH], tags[elf.DT_SYMTAB], tags[elf.DT_STRTAB]
	if hash == 0 || table == 0 || names == 0 {
		return nil, errors.New("the dynamic segment has no symbols")
	}
	count := uint64(file.ByteOrder.Uint32(image[hash+4:]))
	var list []symbol
	for i := uint64(1); i < count; i++ {
		at := table + 24*i
		name := names + uint64(file.ByteOrder.Uint32(image[at:]))
		end := name
		for image[end] != 0 {
			end++
		}
		list = append(list, symbol{string(image[name:end]), file.ByteOrder.Uint64(image[at+8:])})
	}
	return list, nil
}

// Names returns how many functions the library exports.
func (l *Library) Names() int { return len(l.symbols) }

// Call calls a function with integers and pointers. It keeps the thread from other goroutines until it returns, and the garbage collector from
// running: call it in a process that does nothing else, with the collector off.
func (l *Library) Call(name string, args ...uint64) (uint64, error) {
	at, ok := l.symbols[name]
	if !ok {
		return 0, fmt.Errorf("the library has no function %s", name)
	}
	return CallAddress(uint64(l.base)+at, args...)
}

// CallAddress calls the function at an address.
func CallAddress(function uint64, args ...uint64) (uint64, error) {
	const size = 1 << 16
	stack, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return 0, err
	}
	defer unix.Munmap(stack)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var words [22]uint64
	copy(words[:], args)
	top := uintptr(unsafe.Pointer(&stack[0])) + size - 256
	return call(uintptr(function), top, &words), nil
}

func call(function, stack uintptr, args *[22]uint64) uint64

// answer is a C function: it stores 42 where its argument points, and returns 7.
//
//lint:ignore U1000 its address is taken in assembly
func answer()
func answerAddress() uintptr

// Answer returns the address of a C function to be called back: it stores 42 where its argument points and returns 7.
func Answer() uint64 { return uint64(answerAddress()) }
