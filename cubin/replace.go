package cubin

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"

	"gpa/cubin/sass"
)

// A NewInst is an instruction of the code that replaces a section's.
type NewInst struct {
	// Inst is the instruction. Its PC is that of its place in the list. Where Op is sass.OpNone, Word stands as it is.
	Inst sass.Inst
	// Old is the index in [Code.Insts] of the instruction that it stands for, be it moved, copied or changed; -1 for an
	// instruction that was added. What the file says of an instruction (relocations, lines, attributes) follows from it.
	Old int
	// Branch says that To, an index in the list, is the target of the operand of kind sass.KindTarget. Otherwise the
	// operand names an address in the new code.
	Branch bool
	To     int
}

// A Replacement is new code for a section. Several copies of an old instruction are allowed, and so is none.
//
// Addresses that code keeps in registers without a relocation, such as the return address that a MOV makes before a
// CALL.REL, are operands like others: the caller changes them.
type Replacement struct {
	Code  *Code
	Insts []NewInst
	// Entries says where control that came to an old instruction by another way than a branch operand comes to now: the
	// entry of a function, a target of an indirect branch, a return address. It maps indices of old instructions to
	// indices in Insts. By default the first copy is meant; where there is none, that of the next old instruction that
	// has one. The first instruction of a section stays its first.
	Entries map[int]int
	// CodeWords are the offsets in the kernel's constant bank 2 of 32-bit words that are addresses in the code, as jump
	// tables have; they are changed by Entries.
	CodeWords []int
	Registers int // registers a thread; 0 keeps the number
	Barriers  int // named barriers of a block; 0 keeps the number
}

// Replace returns the file with new code in some sections. Symbols and their sizes, relocations, attributes that hold
// addresses, line tables and frame descriptions follow. [NewFile] reads the result.
//
// Line tables keep the lines and inline stacks of all instructions; columns are dropped.
func (f *File) Replace(list ...Replacement) ([]byte, error) {
	im, err := ReadImage(f.Name, f.Raw)
	if err != nil {
		return nil, err
	}
	for i := range list {
		r := replacer{Replacement: &list[i], file: f, image: im}
		if err := r.run(); err != nil {
			return nil, fmt.Errorf("%s: section %s%s: %w", f.Name, prefixText, list[i].Code.Name, err)
		}
	}
	return im.Bytes()
}

// A replacer puts one piece of new code into an image.
type replacer struct {
	*Replacement
	file   *File
	image  *Image
	copies map[int][]int // index of an old instruction → indices of the new ones
	// entry is the new address of control that came to an old one, by index of the old instruction; one more than there
	// are, the last being the end.
	entry []uint64
	size  uint64 // of the new section
}

// textAlign is what NVIDIA's compilers fill up sections of code to.
const textAlign = 128

func (r *replacer) run() error {
	if err := r.mapAddresses(); err != nil {
		return err
	}
	section := r.image.Sections[r.Code.Section]
	data, err := r.encode()
	if err != nil {
		return err
	}
	section.Data = data
	r.setResources(section)
	steps := []func() error{r.moveLines, r.moveFrames, r.moveRelocations, r.moveInfo, r.moveTables}
	for _, step := range steps { // these still see the symbols where they were
		if err := step(); err != nil {
			return err
		}
	}
	r.moveSymbols()
	return nil
}

// mapAddresses finds where the old instructions went.
func (r *replacer) mapAddresses() error {
	old := len(r.Code.Insts)
	r.size = alignUp(uint64(len(r.Insts))*sass.InstSize, textAlign)
	r.copies = make(map[int][]int)
	for i := range r.Insts {
		in := &r.Insts[i]
		if in.Old < -1 || in.Old >= old {
			return fmt.Errorf("new instruction %d stands for instruction %d of %d", i, in.Old, old)
		}
		if in.Branch && (in.To < 0 || in.To >= len(r.Insts)) {
			return fmt.Errorf("new instruction %d branches to %d of %d", i, in.To, len(r.Insts))
		}
		if in.Old >= 0 {
			r.copies[in.Old] = append(r.copies[in.Old], i)
		}
	}
	r.entry = make([]uint64, old+1)
	r.entry[old] = r.size
	for i := old - 1; i >= 0; i-- {
		r.entry[i] = r.entry[i+1]
		if at, ok := r.Entries[i]; ok {
			if at < 0 || at >= len(r.Insts) {
				return fmt.Errorf("entry of instruction %d at %d of %d", i, at, len(r.Insts))
			}
			r.entry[i] = uint64(at) * sass.InstSize
		} else if c := r.copies[i]; len(c) > 0 {
			r.entry[i] = uint64(c[0]) * sass.InstSize
		}
	}
	r.entry[0] = 0
	return nil
}

// moved returns the new address of control that came to an old one.
func (r *replacer) moved(pc uint64) (uint64, error) {
	if pc%sass.InstSize != 0 || pc > r.Code.Size() {
		return 0, fmt.Errorf("no instruction at 0x%x of 0x%x", pc, r.Code.Size())
	}
	return r.entry[pc/sass.InstSize], nil
}

// encode makes the words of the new section.
func (r *replacer) encode() ([]byte, error) {
	data := make([]byte, 0, r.size)
	for i := range r.Insts {
		in := r.Insts[i].Inst
		in.PC = uint64(i) * sass.InstSize
		if r.Insts[i].Branch {
			retarget(&in, uint64(r.Insts[i].To)*sass.InstSize)
		}
		word, err := in.Word, error(nil)
		if in.Known() {
			if word, err = sass.Encode(&in); err != nil {
				return nil, fmt.Errorf("new instruction %d: %w", i, err)
			}
		}
		data = appendWord(data, word)
	}
	for pc := uint64(len(data)); pc < r.size; pc += sass.InstSize {
		nop, err := sass.Parse(r.file.Arch, pc, "NOP", sass.Control{Yield: true, WriteBarrier: -1, ReadBarrier: -1})
		if err != nil {
			return nil, err
		}
		data = appendWord(data, nop.Word)
	}
	return data, nil
}

func appendWord(data []byte, w sass.Word) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(data, w.Lo), w.Hi)
}

// retarget changes the target of a branch; the operands of the original stay as they are.
func retarget(in *sass.Inst, pc uint64) {
	in.Operands = append([]sass.Operand(nil), in.Operands...)
	for k := range in.Operands {
		if in.Operands[k].Kind == sass.KindTarget {
			in.Operands[k].Imm = pc
		}
	}
}

// setResources notes the numbers of registers and barriers in the section's header and in .nv.info.
func (r *replacer) setResources(section *ImageSection) {
	if r.Barriers > 0 {
		section.Flags = section.Flags&^(0x7f<<20) | uint64(r.Barriers)<<20
	}
	if r.Registers == 0 {
		return
	}
	symbol := section.Info & 0xffffff
	if r.file.Arch < sass.SM90 {
		section.Info = symbol | uint32(r.Registers)<<24
	}
	info := r.image.Section(".nv.info")
	if info == nil {
		return
	}
	forAttributes(info.Data, func(a *attribute) {
		if a.code == attrRegCount && len(a.value) >= 8 && binary.LittleEndian.Uint32(a.value) == symbol {
			binary.LittleEndian.PutUint32(a.value[4:], uint32(r.Registers))
		}
	})
}

// moveSymbols moves the symbols in the section.
func (r *replacer) moveSymbols() {
	for i := range r.image.Symbols {
		s := &r.image.Symbols[i]
		if int(s.Section) != r.Code.Section || s.Info&0xf == uint8(elf.STT_SECTION) {
			continue
		}
		from, err := r.moved(s.Value)
		if err != nil {
			continue // no code address
		}
		if to, err := r.moved(s.Value + s.Size); err == nil && to >= from {
			s.Size = to - from
		}
		s.Value = from
	}
}

// inCode reports whether a symbol is of the section, and its old value.
func (r *replacer) inCode(symbol uint32) (value uint64, ok bool) {
	if uint64(symbol) >= uint64(len(r.image.Symbols)) {
		return 0, false
	}
	s := &r.image.Symbols[symbol]
	return s.Value, int(s.Section) == r.Code.Section
}

// moveTables changes the code addresses in constant bank 2.
func (r *replacer) moveTables() error {
	if len(r.CodeWords) == 0 {
		return nil
	}
	bank := r.image.Section(".nv.constant2." + r.Code.Name)
	if bank == nil {
		return fmt.Errorf("code addresses in constant bank 2, which the section does not have")
	}
	for _, at := range r.CodeWords {
		if at < 0 || at+4 > len(bank.Data) {
			return fmt.Errorf("code address at 0x%x of constant bank 2, which has 0x%x bytes", at, len(bank.Data))
		}
		pc, err := r.moved(uint64(binary.LittleEndian.Uint32(bank.Data[at:])))
		if err != nil {
			return fmt.Errorf("code address at 0x%x of constant bank 2: %w", at, err)
		}
		binary.LittleEndian.PutUint32(bank.Data[at:], uint32(pc))
	}
	return nil
}

// moveRelocations moves the places of relocations in the section, and the code addresses that relocations of loaded
// sections make. Those of debug sections moved with their sections.
func (r *replacer) moveRelocations() error {
	for _, s := range r.image.Sections {
		if s.Type != uint32(elf.SHT_REL) && s.Type != uint32(elf.SHT_RELA) || int(s.Info) >= len(r.image.Sections) {
			continue
		}
		place := r.image.Sections[s.Info]
		if !loaded(place.Name) {
			continue
		}
		if err := r.moveAddends(s, place); err != nil {
			return fmt.Errorf("section %s: %w", s.Name, err)
		}
		if int(s.Info) == r.Code.Section {
			s.Data = r.movePlaces(s)
		}
	}
	return nil
}

// entrySize is the size of the entries of a relocation section.
func (s *ImageSection) entrySize() int {
	if s.Type == uint32(elf.SHT_RELA) {
		return relaSize
	}
	return relSize
}

// moveAddends changes what relocations add to a symbol of the section.
func (r *replacer) moveAddends(s, place *ImageSection) error {
	le, size := binary.LittleEndian, s.entrySize()
	for at := 0; at+size <= len(s.Data); at += size {
		entry := s.Data[at:]
		symbol := le.Uint32(entry[12:])
		value, ok := r.inCode(symbol)
		if !ok {
			continue
		}
		var field []byte
		if size == relaSize {
			field = entry[16:24]
		} else if kind := le.Uint32(entry[8:]); kind != rel64 && kind != relG64 {
			continue
		} else if offset := le.Uint64(entry); offset <= uint64(len(place.Data)) && len(place.Data)-int(offset) >= 8 {
			field = place.Data[offset:]
		} else {
			return fmt.Errorf("0x%x: truncated", offset)
		}
		to, err := r.moved(value + le.Uint64(field))
		if err != nil {
			return err
		}
		from := uint64(0)
		if r.image.Symbols[symbol].Info&0xf != uint8(elf.STT_SECTION) {
			if from, err = r.moved(value); err != nil {
				return err
			}
		}
		le.PutUint64(field, to-from)
	}
	return nil
}

// movePlaces makes the relocations of the new code: one for each copy of the instruction that had it.
func (r *replacer) movePlaces(s *ImageSection) []byte {
	le, size := binary.LittleEndian, s.entrySize()
	var out []byte
	for at := 0; at+size <= len(s.Data); at += size {
		entry := s.Data[at : at+size]
		offset := le.Uint64(entry)
		for _, i := range r.copies[int(offset/sass.InstSize)] {
			from := len(out)
			out = append(out, entry...)
			le.PutUint64(out[from:], uint64(i)*sass.InstSize+offset%sass.InstSize)
		}
	}
	return out
}

// infoSection is the section of attributes of the kernel.
func (r *replacer) infoSection() *ImageSection {
	return r.image.Section(prefixInfo + strings.TrimPrefix(r.image.Sections[r.Code.Section].Name, prefixText))
}
