package record

import "testing"

// TestStored holds that words are told apart: of structures of which a kernel stores some fields the others are not stored.
func TestStored(t *testing.T) {
	var s stored
	var addr [32]uint64
	for i := range addr {
		addr[i] = 1<<20 - 64 + 24*uint64(i) // a structure of 24 bytes, of which 8 are stored, over two chunks
	}
	s.add(&addr, 8, 0xffff_fffe)
	s.add(&addr, 1, 1)
	for word := uint64(1<<20 - 128); word < 1<<20+800; word += 4 {
		at := int64(word) - int64(addr[0])
		want := at >= 24 && at < 32*24 && at%24 < 8 || at == 0
		if got := s.words(word>>lineShift)>>(word%lineBytes/4)&1 != 0; got != want {
			t.Errorf("the word at %d is stored: %v, want %v", at, got, want)
		}
	}
}
