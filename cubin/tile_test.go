package cubin

import (
	"bytes"
	"debug/elf"
	"os"
	"strings"
	"testing"
)

const tileFile = "../emu/cuda/testdata/tile.sm_90.cubin"

// A tile kernel has the tensor maps behind what a launch passes, where its code for the host writes them.
func TestTile(t *testing.T) {
	f, err := Open(tileFile)
	if err != nil {
		t.Fatal(err)
	}
	k := f.Kernels[0]
	if k.Tile == nil {
		t.Fatal("no tile kernel")
	}
	if k.Tile.Arguments != 10 || len(k.Params) != 12 || k.ReqThreads[0] < 32 {
		t.Errorf("%d of %d parameters, blocks of %v", k.Tile.Arguments, len(k.Params), k.ReqThreads)
	}
	for i, p := range k.Params[k.Tile.Arguments:] {
		if want := (Param{Ordinal: 10 + i, Offset: 0x30 + 128*i, Size: 128}); p != want {
			t.Errorf("%+v, want %+v", p, want)
		}
	}
	if last := k.Params[11]; last.Offset+last.Size != k.ParamSize {
		t.Errorf("the maps end at %d of %d", last.Offset+last.Size, k.ParamSize)
	}
	if k.Tile.HostEntry >= uint64(len(k.Tile.HostCode)) || k.Tile.HostCode[k.Tile.HostEntry] == 0 {
		t.Errorf("code at %d of %d", k.Tile.HostEntry, len(k.Tile.HostCode))
	}
	if open(t, "flow.cubin").Kernels[0].Tile != nil {
		t.Error("a kernel of threads is a tile kernel")
	}
}

// Code for the host that would have to be linked, or that is for another processor, is not there; what is broken is an error.
func TestTileHost(t *testing.T) {
	f, err := Open(tileFile)
	if err != nil {
		t.Fatal(err)
	}
	host := 0
	for i := range f.Sections {
		if f.Sections[i].Name == sectionHost {
			host = i
		}
	}
	place, entry := f.Sections[host], f.Kernels[0].Tile.HostEntry
	relocations := uint64(0)
	image, err := elf.NewFile(bytes.NewReader(f.SectionData(host)))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range image.Sections {
		if s.Name == ".rela.ltext" {
			relocations = s.Offset
		}
	}
	raw, err := os.ReadFile(tileFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		at     uint64 // in the section
		value  byte
		code   bool
		broken string
	}{
		{"as it is", 0, 0x7f, true, ""},
		{"for another processor", 18, byte(elf.EM_AARCH64), false, ""},
		{"with an address in it", relocations, byte(entry), false, ""},
		{"without a section table", 40, 0xff, false, "section .nv.host"},
	} {
		data := bytes.Clone(raw)
		data[place.Offset+tt.at] = tt.value
		f, err := NewFile("tile", data)
		if tt.broken != "" {
			if err == nil || !strings.Contains(err.Error(), tt.broken) {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if x := f.Kernels[0].Tile; x == nil || (len(x.HostCode) > 0) != tt.code {
			t.Errorf("%s: %+v", tt.name, x)
		}
	}
}
