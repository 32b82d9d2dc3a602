package cubin

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The attributes of .nv.info sections that matter here, by cuobjdump's names.
const (
	attrMaxThreads      = 0x05 // EIATTR_MAX_THREADS: 3 × u32
	attrParamCBank      = 0x0a // EIATTR_PARAM_CBANK: u32 symbol, u16 offset, u16 size
	attrExterns         = 0x0f // EIATTR_EXTERNS: u32 symbols
	attrReqThreads      = 0x10 // EIATTR_REQNTID: 3 × u32
	attrFrameSize       = 0x11 // EIATTR_FRAME_SIZE: u32 symbol, u32 bytes
	attrMinStackSize    = 0x12 // EIATTR_MIN_STACK_SIZE: u32 symbol, u32 bytes
	attrParam           = 0x17 // EIATTR_KPARAM_INFO: see readParam
	attrCBankParamSize  = 0x19 // EIATTR_CBANK_PARAM_SIZE: u16 in the record
	attrExitOffsets     = 0x1c // EIATTR_EXIT_INSTR_OFFSETS: u32 pcs
	attrCoopOffsets     = 0x28 // EIATTR_COOP_GROUP_INSTR_OFFSETS: u32 pcs
	attrCoopMasks       = 0x29 // EIATTR_COOP_GROUP_MASK_REGIDS: u32 registers
	attrRegCount        = 0x2f // EIATTR_REGCOUNT: u32 symbol, u32 registers
	attrIndirectTargets = 0x34 // EIATTR_INDIRECT_BRANCH_TARGETS: u32 pc, u32 0, u32 n, n × u32
	attrCluster         = 0x3d // EIATTR_CTA_PER_CLUSTER: 3 × u32
	attrParamV2         = 0x45 // EIATTR_KPARAM_INFO_V2: the same where parameters take more than 4 KiB
	attrSyscallOffsets  = 0x46 // EIATTR_SYSCALL_OFFSETS: u32 pcs
)

// An attribute is one record of a .nv.info section.
type attribute struct {
	format byte
	code   byte
	short  uint16 // the value of a record without payload
	value  []byte
}

// parseInfo splits a .nv.info section into its records: u8 format, u8 attribute, then by the format nothing (1), a
// byte (2), a 16-bit value (3) or the size of a payload (4).
func parseInfo(data []byte) ([]attribute, error) {
	var list []attribute
	for at := 0; at < len(data); {
		if len(data)-at < 4 {
			return nil, fmt.Errorf("attribute at 0x%x is cut off", at)
		}
		a := attribute{format: data[at], code: data[at+1], short: binary.LittleEndian.Uint16(data[at+2:])}
		switch a.format {
		case 1, 2, 3:
			at += 4
		case 4:
			size := int(a.short)
			if size > len(data)-at-4 {
				return nil, fmt.Errorf("attribute 0x%02x at 0x%x is cut off", a.code, at)
			}
			a.value = data[at+4 : at+4+size]
			at += 4 + size
		default:
			return nil, fmt.Errorf("attribute 0x%02x at 0x%x has format %d", a.code, at, a.format)
		}
		list = append(list, a)
	}
	return list, nil
}

var errShortAttribute = errors.New("too short")

// words returns a payload as 32-bit words, at least n of them.
func (a *attribute) words(n int) ([]uint32, error) {
	if len(a.value) < 4*n {
		return nil, fmt.Errorf("attribute 0x%02x: %w", a.code, errShortAttribute)
	}
	list := make([]uint32, len(a.value)/4)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(a.value[4*i:])
	}
	return list, nil
}

// pcs returns a payload as code offsets.
func (a *attribute) pcs() []uint64 {
	words, _ := a.words(0)
	list := make([]uint64, len(words))
	for i, w := range words {
		list[i] = uint64(w)
	}
	return list
}

// A stackUse is what .nv.info says of a function.
type stackUse struct {
	registers int
	frame     int
	minStack  int
}

// readModuleInfo reads the attributes that .nv.info holds by function symbol.
func (r *reader) readModuleInfo() error {
	list, err := parseInfo(r.section(".nv.info"))
	if err != nil {
		return fmt.Errorf("section .nv.info: %w", err)
	}
	r.stack = make(map[int]stackUse)
	for i := range list {
		a := &list[i]
		if a.code != attrRegCount && a.code != attrFrameSize && a.code != attrMinStackSize {
			continue
		}
		words, err := a.words(2)
		if err != nil {
			return fmt.Errorf("section .nv.info: %w", err)
		}
		if _, err := r.symbolAt(words[0]); err != nil {
			return fmt.Errorf("section .nv.info: %w", err)
		}
		r.noteStack(a.code, int(words[0]), words[1])
	}
	return nil
}

// unknownStack is EIATTR_MIN_STACK_SIZE of a kernel whose calls the compiler could not follow, as those of a function that calls itself.
const unknownStack = 1<<32 - 1

// noteStack keeps one attribute of a function. A figure that no GPU can meet is kept as the largest int32, so that
// sums of them stay in range; the launch refuses it.
func (r *reader) noteStack(code byte, symbol int, value uint32) {
	use, v := r.stack[symbol], int(min(value, 1<<31-1))
	switch code {
	case attrRegCount:
		use.registers = v
	case attrFrameSize:
		use.frame = v
	case attrMinStackSize:
		if value != unknownStack {
			use.minStack = v
		}
	}
	r.stack[symbol] = use
}
