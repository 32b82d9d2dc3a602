package solib

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// In the listings of Go's assembler (go tool asm -S), a line of bytes of a function, and one of what the linker has to put there.
var (
	listedBytes      = regexp.MustCompile(`^\t0x[0-9a-f]+((?: [0-9a-f]{2})+) `)
	listedRelocation = regexp.MustCompile(`^\trel \d+\+([1-9]\d*) `) // of more than no bytes: others mark a place
)

// assembled is the code of the client for a machine, by its name in Go, as Go's assembler makes it: this program holds only that of its own.
func assembled(t *testing.T, machine string) []byte {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("there is no Go")
	}
	include := filepath.Join(strings.TrimSpace(string(root)), "pkg", "include")
	command := exec.Command("go", "tool", "asm", "-p", "gpa/emu/cuda/solib", "-I", include, "-S", "-o", filepath.Join(t.TempDir(), "client.o"), "client_linux_"+machine+".s")
	command.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+machine)
	text, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var code []byte
	inside := false
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "\t") {
			inside = strings.HasPrefix(line, "gpa/emu/cuda/solib.client ")
		}
		if !inside {
			continue
		}
		if m := listedBytes.FindStringSubmatch(line); m != nil {
			for field := range strings.FieldsSeq(m[1]) {
				var b byte
				fmt.Sscanf(field, "%x", &b)
				code = append(code, b)
			}
		}
		if listedRelocation.MatchString(line) {
			t.Errorf("the client for %s is not position-independent: %s", machine, line)
		}
	}
	if len(code) < 400 {
		t.Fatalf("the client for %s has %d bytes:\n%s", machine, len(code), text)
	}
	return code
}

// What is copied out of this program is the client, all of it.
func TestClientCode(t *testing.T) {
	code, err := clientCode()
	if errors.Is(err, ErrPlatform) {
		t.Skip(err)
	}
	if want := assembled(t, runtime.GOARCH); err != nil || !bytes.HasPrefix(code, want) || len(code) > len(want)+64 {
		t.Errorf("%d bytes, want %d and less than a line of a cache after them, %v", len(code), len(want), err)
	}
}

// Functions for arm64 tell their number and where the data lies, and go on where the common code does.
func TestStubARM64(t *testing.T) {
	for _, tt := range []struct{ number, at, data, code int }{
		{0, 0x1000, 0x20000, 0x1fe8}, {0x2ffff, 0x1ff8, 0x20040, 0x10000}, {1<<16 + 7, 0x12340, 0x3fff8, 0x12000}, {5, 0x7ffffc, 0x10, 0x20},
	} {
		b := stubARM64(tt.number, tt.at, tt.data, tt.code)
		if len(b) > stubSize {
			t.Fatalf("%d bytes", len(b))
		}
		var w [5]uint32
		if _, err := binary.Decode(b, binary.LittleEndian, &w); err != nil {
			t.Fatal(err)
		}
		// The fields of the instructions, by the Arm Architecture Reference Manual for A-profile.
		low, high := w[0]>>5&0xffff, w[1]>>5&0xffff
		pages := int(int32((w[2]>>5&0x7ffff<<2|w[2]>>29&3)<<11) >> 11)
		data := tt.at&^0xfff + pages<<12 + int(w[3]>>10&0xfff)
		code := tt.at + 16 + int(int32(w[4]<<6)>>4)
		if number := int(high<<16 | low); number != tt.number || data != tt.data || code != tt.code {
			t.Errorf("number %#x, data %#x, code %#x, want %#x", number, data, code, tt)
		}
		for i, opcode := range []uint32{0x52800010, 0x72a00010, 0x90000011, 0x91000231, 0x14000000} { // movz w16, movk w16, adrp x17, add x17, b
			if mask := []uint32{0xffe0001f, 0xffe0001f, 0x9f00001f, 0xffc003ff, 0xfc000000}[i]; w[i]&mask != opcode {
				t.Errorf("instruction %d is %#x", i, w[i])
			}
		}
	}
}
