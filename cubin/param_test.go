package cubin

import "testing"

// Parameters of more than 4 KiB are described by an attribute of their own. The bytes are those of a structure of 20000 bytes and of an
// address behind it, as ptxas 13 writes them.
func TestLargeParams(t *testing.T) {
	var k Kernel
	for _, a := range []attribute{
		{code: attrParamV2, value: []byte{0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0x4e, 0, 0}},
		{code: attrParamV2, value: []byte{0, 0, 0, 0, 1, 0, 0x20, 0x4e, 8, 0, 0, 0}},
	} {
		if err := new(reader).applyAttribute(&k, &a); err != nil {
			t.Fatal(err)
		}
	}
	want := []Param{{Ordinal: 0, Size: 20000}, {Ordinal: 1, Offset: 20000, Size: 8}}
	if len(k.Params) != 2 || k.Params[0] != want[0] || k.Params[1] != want[1] {
		t.Errorf("%+v, want %+v", k.Params, want)
	}
}
