package cubin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"gpa/cubin/sass"
)

// Entries lists the device code in a file: a cubin, a fatbin, an object, executable or library of a host that embeds
// fatbins (sections .nv_fatbin and __nv_relfatbin), or an archive of those. The error wraps [ErrNotCubin] where the file
// is of another format or holds no device code; the entries before a damaged part come with the error.
func Entries(data []byte) ([]Entry, error) {
	list, err := entries("", data, 0)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: no device code in it", ErrNotCubin)
	}
	return list, err
}

// archiveMagic begins an archive of the ar format.
const archiveMagic = "!<arch>\n"

// entries lists the device code in data, which stands at an offset of the file.
func entries(where string, data []byte, offset uint64) ([]Entry, error) {
	switch {
	case len(data) >= 4 && binary.LittleEndian.Uint32(data) == magicFatbin:
		return readFatbins(name(where, "fatbin"), data, offset)
	case bytes.HasPrefix(data, []byte(archiveMagic)) && where == "":
		return archiveEntries(data)
	case !bytes.HasPrefix(data, []byte(elf.ELFMAG)):
		return nil, identify(data)
	}
	if err := identifyELF(data); err != nil {
		return nil, err
	}
	if elf.Machine(binary.LittleEndian.Uint16(data[0x12:])) != elf.EM_CUDA {
		return hostEntries(where, data, offset)
	}
	return []Entry{{Kind: CubinEntry, SM: architecture(data), Where: where, Offset: offset, Size: uint64(len(data)), data: data}}, nil
}

func name(where, what string) string {
	if where == "" {
		return what
	}
	return where + ": " + what
}

// architecture is the one in the header of a cubin.
func architecture(data []byte) int {
	flags := binary.LittleEndian.Uint32(data[0x30:])
	if data[elf.EI_OSABI] != osabiCUDA {
		flags >>= 8 // see readHeader
	}
	return int(flags & 0xff)
}

// fatbinSections are the sections of host files that hold fatbins: linked ones, and those of relocatable device code.
var fatbinSections = []string{".nv_fatbin", "__nv_relfatbin"}

// hostEntries lists the device code in the ELF file of a host.
func hostEntries(where string, data []byte, offset uint64) ([]Entry, error) {
	f := File{Raw: data}
	r := reader{file: &f}
	if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, &r.header); err != nil {
		return nil, fmt.Errorf("ELF header: %w", err)
	}
	if err := r.readSections(); err != nil {
		return nil, err
	}
	var list []Entry
	for i := range f.Sections {
		s := &f.Sections[i]
		for _, known := range fatbinSections {
			if s.Name != known {
				continue
			}
			more, err := readFatbins(name(where, s.Name), f.SectionData(i), offset+s.Offset)
			list = append(list, more...)
			if err != nil {
				return list, fmt.Errorf("section %s: %w", s.Name, err)
			}
		}
	}
	return list, nil
}

// archiveEntries lists the device code in the members of an archive. Members of another format are passed over.
func archiveEntries(data []byte) ([]Entry, error) {
	const headerSize = 60
	var list []Entry
	for at := len(archiveMagic); len(data)-at >= headerSize; {
		h := data[at : at+headerSize]
		size, err := strconv.ParseUint(strings.TrimSpace(string(h[48:58])), 10, 63)
		if err != nil || size > uint64(len(data)-at-headerSize) {
			return list, fmt.Errorf("0x%x: the member of an archive is cut off", at)
		}
		member := data[at+headerSize : at+headerSize+int(size)]
		if bytes.HasPrefix(member, []byte(elf.ELFMAG)) {
			where := strings.TrimRight(strings.TrimSpace(string(h[:16])), "/")
			if !printable(where) || where == "" {
				where = fmt.Sprintf("member at 0x%x", at)
			}
			more, err := entries(where, member, uint64(at+headerSize))
			if list = append(list, more...); err != nil {
				return list, fmt.Errorf("%s: %w", where, err)
			}
		}
		at += headerSize + int(size) + int(size&1)
	}
	return list, nil
}

// Pick returns the cubin for an architecture in a file that is a cubin or holds several (see [Entries]), and what to call
// it in messages. Architecture 0 takes any that gpa knows. The error lists the entries where none or several fit.
func Pick(file string, data []byte, arch sass.Arch) (label string, code []byte, err error) {
	if bytes.HasPrefix(data, []byte(elf.ELFMAG)) && len(data) >= headerSize && elf.Machine(binary.LittleEndian.Uint16(data[0x12:])) == elf.EM_CUDA {
		return file, data, nil
	}
	list, err := Entries(data)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", file, err)
	}
	found := -1
	for i := range list {
		sm := sass.Arch(list[i].SM)
		if list[i].Kind != CubinEntry || arch != 0 && sm != arch || arch == 0 && !sm.Known() {
			continue
		}
		if found >= 0 {
			return "", nil, fmt.Errorf("%s: several cubins; gpa disasm --list shows them, --entry and --arch choose", file)
		}
		found = i
	}
	if found < 0 {
		return "", nil, fmt.Errorf("%s: %w for the architecture: it has %s", file, ErrNotCubin, architectures(list))
	}
	return ReadEntry(file, list, found)
}

// ReadEntry returns the contents of an entry of a file, and what to call it. In messages entries count from 1.
func ReadEntry(file string, list []Entry, index int) (label string, code []byte, err error) {
	if index < 0 || index >= len(list) {
		return "", nil, fmt.Errorf("%s: entry %d of %d", file, index+1, len(list))
	}
	if code, err = list[index].Read(); err != nil {
		return "", nil, fmt.Errorf("%s: entry %d (%s, sm_%d): %w", file, index+1, list[index].Kind, list[index].SM, err)
	}
	return fmt.Sprintf("%s#%d", file, index+1), code, nil
}

// architectures lists what a file has, each once.
func architectures(list []Entry) string {
	var names []string
	seen := make(map[string]bool)
	for i := range list {
		text := fmt.Sprintf("%s for sm_%d", list[i].Kind, list[i].SM)
		if !seen[text] {
			seen[text] = true
			names = append(names, text)
		}
	}
	return strings.Join(names, ", ")
}
