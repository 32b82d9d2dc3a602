package cubin

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func compressed(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestReadFileCompressed holds that a compressed cubin is read under its own name and under that of the cubin, that a cubin
// beside it wins, and that the message of a file that is not there names it as it was asked for.
func TestReadFileCompressed(t *testing.T) {
	raw, err := os.ReadFile("testdata/flow.cubin")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "flow.cubin")
	if err := os.WriteFile(name+Compressed, compressed(t, raw), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, asked := range []string{name, name + Compressed} {
		f, err := Open(asked)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name != asked || !bytes.Equal(f.Raw, raw) {
			t.Errorf("%s: read as %s, %d bytes of %d", asked, f.Name, len(f.Raw), len(raw))
		}
	}
	if err := os.WriteFile(name, []byte("plain"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(name); string(got) != "plain" {
		t.Errorf("beside a cubin the compressed one was read: %d bytes, %v", len(got), err)
	}
	if _, err := ReadFile(name + "x"); err == nil || !strings.Contains(err.Error(), name+"x:") {
		t.Errorf("%v, want an error that names the file", err)
	}
}

// TestDecompressRefuses holds that damaged files and bombs are errors, before memory is taken for what they say.
func TestDecompressRefuses(t *testing.T) {
	good := compressed(t, []byte(strings.Repeat("SASS", 20)+"FFMA"))
	if out, err := Decompress(good); err != nil || len(out) != 84 {
		t.Fatalf("%d bytes, %v", len(out), err)
	}
	size := func(n uint32) []byte {
		return binary.LittleEndian.AppendUint32(bytes.Clone(good[:len(good)-4]), n)
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)-8] ^= 1
	for _, tt := range []struct {
		name, says string
		data       []byte
	}{
		{"header alone", "unexpected EOF", good[:8]},
		{"too short", "unexpected EOF", good[:17]},
		{"a size that cannot be", "unlikely", size(1 << 31)},
		{"more than the file says", "more than", size(80)},
		{"less than the file says", "checksum", size(90)},
		{"checksum", "checksum", flipped},
		{"a bomb", "unlikely", compressed(t, make([]byte, 1<<20))},
		{"two members", "", append(bytes.Clone(good), compressed(t, []byte("more"))...)},
		{"no deflate", "", append([]byte(gzipMagic+"\x08\x00\x00\x00\x00\x00\x00\x03"), bytes.Repeat([]byte{0xff}, 40)...)},
	} {
		if _, err := Decompress(tt.data); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.says)
		}
	}
	if out, err := Decompress([]byte("\x7fELF")); err != nil || string(out) != "\x7fELF" {
		t.Errorf("what is not compressed: %q, %v", out, err)
	}
}
