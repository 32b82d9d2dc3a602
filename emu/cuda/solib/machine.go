package solib

import (
	"debug/elf"
	"encoding/binary"
	"runtime"
)

// A machine is what libraries for a processor architecture differ in, besides the code of the client.
type machine struct {
	elf  elf.Machine
	page int // the largest that a system has: segments begin at a multiple, as the pages of each are protected in their own way
	// stub is a function that loads its number and the address of the data and jumps to the common code. The addresses are as of the file,
	// from which the distances follow.
	stub func(number, at, data, code int) []byte
}

// machines are the architectures by their names in Go.
var machines = map[string]*machine{
	"amd64": {elf.EM_X86_64, 4 << 10, stubAMD64},
	"arm64": {elf.EM_AARCH64, 64 << 10, stubARM64}, // pages of 4, 16 and 64 KiB
}

// hostMachine is that of the programs that gpa runs: what [clientCode] is for.
func hostMachine() *machine { return machines[runtime.GOARCH] }

func stubAMD64(number, at, data, code int) []byte {
	word := func(b []byte, v int) []byte { return binary.LittleEndian.AppendUint32(b, uint32(int32(v))) }
	b := word([]byte{0xb8}, number)                     // mov eax, number
	b = word(append(b, 0x4c, 0x8d, 0x1d), data-(at+12)) // lea r11, [rip + data]
	return word(append(b, 0xe9), code-(at+17))          // jmp code
}

// stubARM64 uses the registers that whatever stands between a call and the function may change (AAPCS64, IP0 and IP1). The address is made as
// ELF for the Arm 64-bit Architecture has it for the small code model: a page of 4 KiB, whatever the pages of the system are, and the rest.
func stubARM64(number, at, data, code int) []byte {
	const page = 4 << 10
	pages, low, high := uint32(data/page-at/page), uint32(number)&0xffff, uint32(number)>>16
	var b []byte
	for _, word := range []uint32{
		0x52800010 | low<<5,                            // movz w16, low
		0x72a00010 | high<<5,                           // movk w16, high, lsl 16
		0x90000011 | pages&3<<29 | pages>>2&0x7ffff<<5, // adrp x17, data
		0x91000231 | uint32(data%page)<<10,             // add x17, x17, data
		0x14000000 | uint32(code-(at+16))>>2&0x3ffffff, // b code
	} {
		b = binary.LittleEndian.AppendUint32(b, word)
	}
	return b
}
