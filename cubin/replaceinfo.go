package cubin

import (
	"encoding/binary"
	"fmt"

	"gpa/cubin/sass"
)

// A pcRecord says where an attribute has addresses of instructions: in records of so many 32-bit words, at one of them.
type pcRecord struct{ words, pc int }

// pcAttributes are the attributes whose records each say something of one instruction, by cuobjdump's names. The shape of
// those with more than an address is what cuobjdump prints of them.
var pcAttributes = map[byte]pcRecord{
	attrExitOffsets:    {1, 0},
	0x1d:               {1, 0}, // EIATTR_S2RCTAID_INSTR_OFFSETS
	0x25:               {1, 0}, // EIATTR_LD_CACHEMOD_INSTR_OFFSETS
	0x27:               {1, 0}, // EIATTR_ATOM_SYS_INSTR_OFFSETS
	attrCoopOffsets:    {1, 0},
	0x2d:               {1, 0}, // EIATTR_ATOMF16_EMUL_INSTR_OFFSETS
	0x2e:               {2, 0}, // EIATTR_ATOM16_EMUL_INSTR_REG_MAP: pc, register
	0x31:               {1, 0}, // EIATTR_INT_WARP_WIDE_INSTR_OFFSETS
	0x39:               {4, 0}, // EIATTR_MBARRIER_INSTR_OFFSETS: pc, register, offset, kind
	0x40:               {3, 0}, // EIATTR_INSTR_REG_MAP: pc, registers, end
	0x44:               {2, 0}, // EIATTR_UNUSED_LOAD_BYTE_OFFSET: pc, mask of bytes
	attrSyscallOffsets: {1, 0},
	0x47:               {1, 0}, // EIATTR_SW_WAR_MEMBAR_SYS_INSTR_OFFSETS
	0x55:               {2, 1}, // a list that CUDA 12.9 writes of spills: kind, pc
}

// forAttributes calls f for every attribute of an intact .nv.info section, in place.
func forAttributes(data []byte, f func(*attribute)) {
	list, err := parseInfo(data)
	if err != nil {
		return
	}
	for i := range list {
		f(&list[i])
	}
}

// moveInfo changes the attributes that hold addresses of instructions.
func (r *replacer) moveInfo() error {
	section := r.infoSection()
	if section == nil {
		return nil
	}
	list, err := parseInfo(section.Data)
	if err != nil {
		return fmt.Errorf("section %s: %w", section.Name, err)
	}
	masks := r.coopMasks(list)
	var out []byte
	for i := range list {
		a := list[i]
		switch {
		case a.code == attrIndirectTargets:
			a.value, err = r.moveTargets(&a)
		case a.code == attrCoopMasks && masks != nil:
			a.value = masks
		default:
			a.value, err = r.moveRecords(&a)
		}
		if err != nil {
			return fmt.Errorf("section %s: attribute 0x%02x: %w", section.Name, a.code, err)
		}
		if out, err = a.append(out); err != nil {
			return fmt.Errorf("section %s: %w", section.Name, err)
		}
	}
	section.Data = out
	return nil
}

// append writes an attribute as parseInfo reads it.
func (a *attribute) append(out []byte) ([]byte, error) {
	if a.format != 4 {
		out = append(out, a.format, a.code)
		return binary.LittleEndian.AppendUint16(out, a.short), nil
	}
	if len(a.value) > 0xffff {
		return nil, fmt.Errorf("attribute 0x%02x: %d bytes do not fit", a.code, len(a.value))
	}
	out = append(out, a.format, a.code)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(a.value)))
	return append(out, a.value...), nil
}

// moveRecords returns the records of the instructions' copies.
func (r *replacer) moveRecords(a *attribute) ([]byte, error) {
	shape, ok := pcAttributes[a.code]
	if !ok {
		return a.value, nil
	}
	size := 4 * shape.words
	if len(a.value)%size != 0 {
		return nil, fmt.Errorf("%d bytes are no whole number of records of %d", len(a.value), size)
	}
	var out []byte
	for at := 0; at < len(a.value); at += size {
		record := a.value[at : at+size]
		pc := binary.LittleEndian.Uint32(record[4*shape.pc:])
		for _, i := range r.copies[int(pc/sass.InstSize)] {
			from := len(out) + 4*shape.pc
			out = append(out, record...)
			binary.LittleEndian.PutUint32(out[from:], uint32(i)*sass.InstSize)
		}
	}
	if a.code == attrExitOffsets {
		out = r.addedExits(out)
	}
	return out, nil
}

// addedExits appends the EXIT instructions that were added.
func (r *replacer) addedExits(out []byte) []byte {
	for i := range r.Insts {
		if in := &r.Insts[i]; in.Old < 0 && in.Inst.Op == sass.EXIT {
			out = binary.LittleEndian.AppendUint32(out, uint32(i)*sass.InstSize)
		}
	}
	return out
}

// coopMasks returns the new EIATTR_COOP_GROUP_MASK_REGIDS, which has a word for each address in
// EIATTR_COOP_GROUP_INSTR_OFFSETS; nil where the two are not of the same length.
func (r *replacer) coopMasks(list []attribute) []byte {
	var masks, pcs []byte
	for i := range list {
		switch list[i].code {
		case attrCoopMasks:
			masks = list[i].value
		case attrCoopOffsets:
			pcs = list[i].value
		}
	}
	if len(masks) != len(pcs) || len(pcs)%4 != 0 {
		return nil
	}
	out := []byte{}
	for at := 0; at < len(pcs); at += 4 {
		for range r.copies[int(binary.LittleEndian.Uint32(pcs[at:])/sass.InstSize)] {
			out = append(out, masks[at:at+4]...)
		}
	}
	return out
}

// moveTargets returns EIATTR_INDIRECT_BRANCH_TARGETS for the copies of the branches.
func (r *replacer) moveTargets(a *attribute) ([]byte, error) {
	words, err := a.words(0)
	if err != nil {
		return nil, err
	}
	var out []byte
	for len(words) >= 3 {
		pc, n := words[0], words[2]
		if uint64(n) > uint64(len(words)-3) {
			return nil, errShortAttribute
		}
		targets := words[3 : 3+n]
		for _, i := range r.copies[int(pc/sass.InstSize)] {
			for _, w := range []uint32{uint32(i) * sass.InstSize, words[1], n} {
				out = binary.LittleEndian.AppendUint32(out, w)
			}
			for _, t := range targets {
				to, err := r.moved(uint64(t))
				if err != nil {
					return nil, err
				}
				out = binary.LittleEndian.AppendUint32(out, uint32(to))
			}
		}
		words = words[3+n:]
	}
	return out, nil
}
