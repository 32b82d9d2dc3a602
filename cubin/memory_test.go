package cubin

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"
)

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A reader may allocate memoryFactor times the bytes of a file and memoryFloor besides. An instruction of 16 bytes becomes a
// structure with operands, which makes the factor.
const memoryFactor, memoryFloor = 128, 1 << 20

// TestMemory gives headers that claim huge sizes, counts and offsets: no reader may take memory out of proportion to the
// file, whatever they say.
func TestMemory(t *testing.T) {
	t.Run("cubin", testCubinMemory)
	t.Run("fatbin", testFatbinMemory)
}

func testCubinMemory(t *testing.T) {
	good := read(t, "module.cubin")
	random := rand.New(rand.NewPCG(1, 2))
	headers := int(binary.LittleEndian.Uint64(good[0x28:]))
	for range 400 {
		data := append([]byte(nil), good...)
		for range 1 + random.IntN(3) { // in the ELF header, the section headers or the sections
			at := 0x10 + random.IntN(headerSize-0x18)
			switch random.IntN(4) {
			case 0:
				at = headerSize + random.IntN(headers-headerSize)
			case 1, 2:
				at = headers + random.IntN(len(data)-headers-8)
			}
			binary.LittleEndian.PutUint64(data[at:], random.Uint64()>>random.IntN(60))
		}
		got := allocated(func() {
			// What the error says does not matter here.
			_, _ = NewFile("damaged.cubin", data)
			_, _ = ReadImage("damaged.cubin", data)
		})
		if got > memoryFactor*uint64(len(data))+memoryFloor {
			t.Fatalf("%d bytes allocated for a file of %d", got, len(data))
		}
	}
}

func testFatbinMemory(t *testing.T) {
	fat, _ := testFatbin(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		data := append([]byte(nil), fat...)
		list, _ := Entries(data)
		e := &list[random.IntN(len(list))]
		at := int(e.Offset) - entryHeader + random.IntN(entryHeader-8)
		binary.LittleEndian.PutUint64(data[at:], random.Uint64()>>random.IntN(60))
		got := allocated(func() {
			list, _ := Entries(data)
			for i := range list {
				_, _ = list[i].Read()
			}
		})
		if got > maxRatio*uint64(len(data))+16*memoryFloor { // the decompressor's own tables besides
			t.Fatalf("%d bytes allocated for a fatbin of %d", got, len(data))
		}
	}
}
