package cubin

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strings"
)

// A Tile is what the launch of a tile kernel (CUDA Tile IR) needs to know besides. Such a kernel is launched with blocks of one thread:
// [Kernel.ReqThreads] says how many the compiler gave it.
type Tile struct {
	// Arguments is how many parameters a launch passes, the first ones of Params. Behind them lie tensor maps, which the code makes of them.
	Arguments int

	// HostCode is machine code for amd64 that runs at any address, empty where the file has none: the function at HostEntry takes the
	// address of the parameters as its fourth argument, writes the tensor maps and returns 0. Its other arguments it does not read.
	HostCode  []byte
	HostEntry uint64
}

// What tileiras 13.4 puts into a cubin with tile kernels for the host: an object file in a section. These symbols are followed by the
// number of the kernel.
const (
	sectionHost    = ".nv.host"
	hostKernelName = "__CUDA_TILEIR_FUNC_NAME_"
	hostArguments  = "__CUDA_TILEIR_FUNC_ON_ARGUMENTS_CHANGE_"
)

// TensorMapBytes is the size of a tensor map, TensorMapAlign what its address is a multiple of (CUDA driver API, CUtensorMap).
const (
	TensorMapBytes = 128
	TensorMapAlign = 64
)

// maxHost bounds the code for the host.
const maxHost = 1 << 20

// readTiles finds out which kernels are tile kernels.
func (r *reader) readTiles() error {
	index, ok := r.byName[sectionHost]
	if !ok {
		return nil
	}
	if err := r.readHost(r.file.SectionData(index)); err != nil {
		return fmt.Errorf("section %s: %w", sectionHost, err)
	}
	return nil
}

func (r *reader) readHost(data []byte) error {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return err
	}
	symbols, err := f.Symbols()
	if err != nil {
		return err
	}
	functions := make(map[string]elf.Symbol)
	for _, s := range symbols {
		if number, ok := strings.CutPrefix(s.Name, hostArguments); ok {
			functions[number] = s
		}
	}
	for _, s := range symbols {
		number, ok := strings.CutPrefix(s.Name, hostKernelName)
		if !ok {
			continue
		}
		section, err := hostSection(f, s)
		if err != nil {
			return err
		}
		name := string(bytes.TrimSuffix(section[s.Value:s.Value+s.Size], []byte{0}))
		for _, k := range r.file.Kernels {
			if k.Name != name {
				continue
			}
			k.Tile = &Tile{Arguments: len(k.Params)}
			k.addTensorMaps()
			if err := k.Tile.readCode(f, functions[number]); err != nil {
				return err
			}
		}
	}
	return nil
}

// hostSection returns the section that a symbol lies in.
func hostSection(f *elf.File, s elf.Symbol) ([]byte, error) {
	if int(s.Section) >= len(f.Sections) || s.Section == elf.SHN_UNDEF {
		return nil, fmt.Errorf("symbol %s: section %d of %d", s.Name, s.Section, len(f.Sections))
	}
	section := f.Sections[s.Section]
	if section.Type != elf.SHT_PROGBITS || section.Flags&elf.SHF_COMPRESSED != 0 || section.Size > maxHost || s.Value > section.Size || s.Size > section.Size-s.Value {
		return nil, fmt.Errorf("symbol %s: bytes %d to %d of section %s with %d", s.Name, s.Value, s.Value+s.Size, section.Name, section.Size)
	}
	return section.Data()
}

// addTensorMaps adds the parameters that the host makes: the attributes of a kernel count their bytes and do not list them.
func (k *Kernel) addTensorMaps() {
	end := 0
	for _, p := range k.Params {
		end = max(end, p.Offset+p.Size)
	}
	at := (k.ParamBase+end+TensorMapAlign-1)/TensorMapAlign*TensorMapAlign - k.ParamBase
	for ; at+TensorMapBytes <= k.ParamSize; at += TensorMapBytes {
		k.Params = append(k.Params, Param{Ordinal: len(k.Params), Offset: at, Size: TensorMapBytes})
	}
}

// readCode takes the section of the function. Code that has to be linked with what lies elsewhere, or that is for another processor, is
// left out.
func (t *Tile) readCode(f *elf.File, function elf.Symbol) error {
	if f.Machine != elf.EM_X86_64 || function.Name == "" {
		return nil
	}
	code, err := hostSection(f, function)
	if err != nil {
		return err
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA || s.Info != uint32(function.Section) || s.Size > maxHost {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return err
		}
		const entry = 24 // bytes of an elf.Rela64, which begins with the place
		for ; len(data) >= entry; data = data[entry:] {
			if at := f.ByteOrder.Uint64(data); at >= function.Value && at-function.Value < function.Size {
				return nil
			}
		}
	}
	t.HostCode, t.HostEntry = code, function.Value
	return nil
}
