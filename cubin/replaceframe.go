package cubin

import (
	"encoding/binary"
	"fmt"
)

// Opcodes of call frame instructions (DWARF 3 standard, section 7.23) that have operands or say an address, as NVIDIA's
// compilers use them.
const (
	cfaAdvanceLoc4 = 0x04
	cieID          = 1<<64 - 1 // of the 64-bit format
	codeAlignment  = 4         // bytes, the code alignment factor in NVIDIA's CIEs
)

// moveFrames changes the addresses in the frame descriptions of .debug_frame. Only the form that NVIDIA's compilers
// write is changed: 64-bit entries, whose addresses advance by DW_CFA_advance_loc4.
func (r *replacer) moveFrames() error {
	const name = ".debug_frame"
	index := r.image.SectionIndex(name)
	if index == 0 {
		return nil
	}
	places, data := r.places(index), r.image.Sections[index].Data
	for at := 0; len(data)-at >= 36; {
		length := binary.LittleEndian.Uint64(data[at+4:])
		if binary.LittleEndian.Uint32(data[at:]) != 0xffffffff || length > uint64(len(data)-at-12) {
			return fmt.Errorf("section %s: 0x%x: no entry of the 64-bit format", name, at)
		}
		body := data[at+12 : at+12+int(length)]
		if start, ok := places[uint64(at)+20]; ok && len(body) >= 24 && binary.LittleEndian.Uint64(body) != cieID {
			if err := r.moveFrame(body[16:], start); err != nil {
				return fmt.Errorf("section %s: 0x%x: %w", name, at, err)
			}
		}
		at += 12 + int(length)
	}
	return r.moveFrameAddresses(index)
}

// moveFrameAddresses changes what the relocations of the frame descriptions add to their symbols.
func (r *replacer) moveFrameAddresses(index int) (err error) {
	section := r.image.Sections[index]
	r.relocationsOf(index, func(_ *ImageSection, entry []byte) {
		if err == nil {
			err = r.moveLineAddress(binary.LittleEndian.Uint32(entry[12:]), entry, section.Data, binary.LittleEndian.Uint64(entry))
		}
	})
	return err
}

// moveFrame changes the size of a function's range, which the description begins with, and the addresses in it.
func (r *replacer) moveFrame(fde []byte, start uint64) error {
	size := binary.LittleEndian.Uint64(fde)
	from, err := r.moved(start)
	if err != nil {
		return err
	}
	to, err := r.moved(start + size)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(fde, to-from)
	pc, last := start, from
	for ops := fde[8:]; len(ops) > 0; {
		if ops[0] == cfaAdvanceLoc4 && len(ops) >= 5 {
			// The sum is of 32 bits: the compilers go back from the end of the range, too.
			pc = uint64(uint32(pc) + binary.LittleEndian.Uint32(ops[1:])*codeAlignment)
			at, err := r.moved(pc)
			if err != nil {
				return err
			}
			binary.LittleEndian.PutUint32(ops[1:], uint32(at-last)/codeAlignment)
			last = at
		}
		n := cfaLength(ops)
		if n == 0 {
			return nil // not known: what follows cannot be told from operands
		}
		ops = ops[n:]
	}
	return nil
}

// cfaLength returns the length of a call frame instruction with its operands, 0 for one that is not known.
func cfaLength(ops []byte) int {
	lebs := func(n int) int {
		at := 1
		for range n {
			for at < len(ops) && ops[at]&0x80 != 0 {
				at++
			}
			at++
		}
		return min(at, len(ops))
	}
	switch op := ops[0]; {
	case op>>6 == 1, op>>6 == 3: // DW_CFA_advance_loc, DW_CFA_restore
		return 1
	case op>>6 == 2: // DW_CFA_offset: register in the opcode, offset
		return lebs(1)
	case op == 0, op == 0x0a, op == 0x0b: // nop, remember_state, restore_state
		return 1
	case op == cfaAdvanceLoc4:
		return min(5, len(ops))
	case op == 0x06, op == 0x07, op == 0x08, op == 0x0d, op == 0x0e, op == 0x13: // one operand
		return lebs(1)
	case op == 0x05, op == 0x09, op == 0x0c, op == 0x11, op == 0x12, op == 0x14, op == 0x15: // two operands
		return lebs(2)
	}
	return 0
}
