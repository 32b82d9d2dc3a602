//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"math"
	"testing"
	"unsafe"
)

// Values of the descriptions below, by the names of cuda.h and driver_types.h.
const (
	testU8, testI16, testF32          = 0x01, 0x09, 0x20 // CU_AD_FORMAT_…
	testLayered, testSurface          = 0x1, 0x2         // CUDA_ARRAY3D_…
	testClamp, testMirror, testBorder = 1, 2, 3          // CU_TR_ADDRESS_MODE_…
)

// array makes an array.
func (c *testClient) array(width, height, depth uint64, format, channels, flags uint32) (handle uint64) {
	c.t.Helper()
	d := [5]uint64{width, height, depth, uint64(format) | uint64(channels)<<32, uint64(flags)}
	c.must("cuArray3DCreate_v2", pointer(&handle), pointer(&d[0]))
	return handle
}

// rows copies rows of bytes to an array, or from one.
func (c *testClient) rows(array uint64, host []byte, width, height, depth int, to bool) {
	c.t.Helper()
	w := [copyWords]uint64{4: memoryHost, 5: pointer(&host[0]), 9: uint64(width), 10: uint64(height), 15: memoryArray, 18: array, 22: uint64(width), 23: uint64(height), 24: uint64(depth)}
	if !to {
		w = [copyWords]uint64{4: memoryArray, 7: array, 15: memoryHost, 16: pointer(&host[0]), 20: uint64(width), 21: uint64(height), 22: uint64(width), 23: uint64(height), 24: uint64(depth)}
	}
	c.must("cuMemcpy3D_v2", pointer(&w[0]))
}

// surface makes a surface object of an array.
func (c *testClient) surface(array uint64) (handle uint64) {
	c.t.Helper()
	resource := [18]uint64{1: array}
	c.must("cuSurfObjectCreate", pointer(&handle), pointer(&resource[0]))
	return handle
}

// Surfaces of arrays, and a texture of one of them: the kernels of surface_2d by driver calls, against what its comment says.
func TestSurfaceObjects(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.context()
	const width, height = 75, 50
	const file = "textures/surface_2d/surface_2d.sm_80.cubin"
	blur, readback := c.function(file, "blur"), c.function(file, "readback")
	from, to := c.array(width, height, 0, testU8, 4, testSurface), c.array(width, height, 0, testU8, 4, testSurface)
	levels := c.array(width, height, 2, testI16, 1, testLayered|testSurface)
	picture := make([]byte, 4*width*height)
	for i := range picture {
		picture[i] = byte(i * i / 7)
	}
	c.rows(from, picture, 4*width, height, 1, true)
	fromObject, toObject, levelsObject := c.surface(from), c.surface(to), c.surface(levels)
	w, h := int32(width), int32(height)
	launch := func(f uint64, params ...unsafe.Pointer) Result {
		return c.call("cuLaunchKernel", f, 5, 7, 1, 16, 8, 1, 0, 0, parameterList(params), 0)
	}
	if r := launch(blur, unsafe.Pointer(&fromObject), unsafe.Pointer(&toObject), unsafe.Pointer(&levelsObject), unsafe.Pointer(&w), unsafe.Pointer(&h)); r != Success {
		t.Fatal(r)
	}
	texel := func(x, y, k int) int {
		if y >= height {
			return 0
		}
		return int(picture[4*(y*width+max(x, 0))+k])
	}
	want := make([]byte, len(picture))
	for i := range want {
		x, y, k := i/4%width, i/4/width, i%4
		want[i] = byte((2*texel(x, y, k) + texel(x-1, y, k) + texel(x, y+1, k)) / 4)
	}
	got := make([]byte, len(picture))
	if c.rows(to, got, 4*width, height, 1, false); !bytes.Equal(got, want) {
		t.Error("the blurred picture is another")
	}
	// A texture of what was written, read as numbers from 0 to 1.
	resource := [18]uint64{1: to}
	reading := [26]uint32{0: testClamp, 1: testClamp, 2: testClamp}
	var texture uint64
	c.must("cuTexObjectCreate", pointer(&texture), pointer(&resource[0]), pointer(&reading[0]), 0)
	out, planes := c.alloc(16*width*height), c.alloc(2*2*width*height)
	args := []unsafe.Pointer{unsafe.Pointer(&out), unsafe.Pointer(&planes), unsafe.Pointer(&texture), unsafe.Pointer(&levelsObject), unsafe.Pointer(&w), unsafe.Pointer(&h)}
	if r := launch(readback, args...); r != Success {
		t.Fatal(r)
	}
	for i, v := range c.read(out, 4*width*height) {
		if v != float32(float64(want[i])/255) {
			t.Fatalf("channel %d is %g, want %d/255", i, v, want[i])
		}
	}
	var resourceBack [18]uint64
	var readingBack [26]uint32
	c.must("cuTexObjectGetResourceDesc", pointer(&resourceBack[0]), texture)
	c.must("cuTexObjectGetTextureDesc", pointer(&readingBack[0]), texture)
	c.want(ErrInvalidValue, "cuTexObjectGetResourceViewDesc", pointer(&resourceBack[0]), texture) // it has none
	c.want(ErrInvalidValue, "cuSurfObjectDestroy", texture)
	if resourceBack != resource || readingBack != reading {
		t.Errorf("%v, %v", resourceBack, readingBack)
	}
	if list := s.Unsupported(); len(list) > 0 {
		t.Errorf("not supported: %v", list)
	}
	// What is destroyed is no texture.
	c.must("cuTexObjectDestroy", texture)
	c.want(ErrInvalidValue, "cuTexObjectDestroy", texture)
	if r := launch(readback, args...); r != Success {
		t.Fatal(r)
	}
	c.want(ErrLaunchFailed, "cuCtxSynchronize")
}

// What an object cannot be made of is an error, and what is not supported is named.
func TestObjectErrors(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.context()
	numbers, colours, plain := c.array(8, 8, 0, testF32, 1, testSurface), c.array(8, 8, 0, testU8, 4, 0), c.alloc(4096)
	for name, test := range map[string]struct {
		want     Result
		resource [18]uint64
		reading  [26]uint32
	}{
		"an array that there is not":        {want: ErrInvalidHandle, resource: [18]uint64{1: 77}},
		"a kind that there is not":          {want: ErrInvalidValue, resource: [18]uint64{0: 9}},
		"mipmaps that there are not":        {want: ErrInvalidHandle, resource: [18]uint64{0: resourceMipmaps, 1: numbers}},
		"a filter of integers":              {want: ErrInvalidValue, resource: [18]uint64{1: colours}, reading: [26]uint32{3: 1, 4: 0x1}},
		"sRGB of floats":                    {want: ErrNotSupported, resource: [18]uint64{1: numbers}, reading: [26]uint32{4: 0x10}},
		"sRGB":                              {want: Success, resource: [18]uint64{1: colours}, reading: [26]uint32{4: 0x10}},
		"more than is allocated":            {want: ErrInvalidValue, resource: [18]uint64{0: resourceLinear, 1: plain, 2: testF32 | 1<<32, 3: 8192}},
		"an address between others":         {want: ErrInvalidValue, resource: [18]uint64{0: resourceLinear, 1: plain + 4, 2: testF32 | 1<<32, 3: 512}},
		"rows that overlap":                 {want: ErrInvalidValue, resource: [18]uint64{0: resourcePitched, 1: plain, 2: testF32 | 1<<32, 3: 16, 4: 4, 5: 32}},
		"three channels":                    {want: ErrInvalidValue, resource: [18]uint64{0: resourceLinear, 1: plain, 2: testF32 | 3<<32, 3: 480}},
		"a mode of going on there is not":   {want: ErrInvalidValue, resource: [18]uint64{1: numbers}, reading: [26]uint32{0: 4}},
		"mirrors without normalized points": {want: Success, resource: [18]uint64{1: numbers}, reading: [26]uint32{0: testMirror, 1: testBorder, 3: 1}},
		"anisotropy":                        {want: ErrNotSupported, resource: [18]uint64{1: numbers}, reading: [26]uint32{3: 1, 5: 16}},
	} {
		var handle uint64
		if got := c.call("cuTexObjectCreate", pointer(&handle), pointer(&test.resource[0]), pointer(&test.reading[0]), 0); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	resource := [18]uint64{1: colours}
	var handle uint64
	c.want(ErrInvalidValue, "cuSurfObjectCreate", pointer(&handle), pointer(&resource[0])) // not made for surfaces
	if list := s.Unsupported(); list["cuTexObjectCreate of sRGB of other texels than bytes as fractions"] != 1 || list["cuTexObjectCreate with anisotropy"] != 1 {
		t.Errorf("not supported: %v", list)
	}
}

// Textures of linear memory by the runtime's calls: fetch_1d, which reads floats as they are and bytes as numbers from 0 to 1.
func TestRuntimeTextures(t *testing.T) {
	for _, library := range []int{runtime12Library, runtime13Library} {
		s := start(t, "a100")
		c := newClient(t, s)
		c.library = library
		p := c.register("textures/fetch_1d/fetch_1d.sm_80.cubin", "fetch_1d", "")
		const n, toDevice, toHost = 300, 1, 2
		var values, dark, light, index, handles, out uint64
		for _, m := range []struct {
			addr *uint64
			size uint64
		}{{&values, 4 * n}, {&dark, 4 * n}, {&light, 4 * n}, {&index, 4 * n}, {&handles, 64}, {&out, 16 * n}} {
			c.must("cudaMalloc", pointer(m.addr), m.size)
		}
		numbers, places, colours := make([]float32, n), make([]int32, n), make([][2][4]byte, n)
		var shades [2][4 * n]byte
		for i := range numbers {
			numbers[i], places[i] = float32(i)/8, int32((7*i)%(n+20)-10)
			for half := range 2 {
				for k := range 4 {
					colours[i][half][k] = byte(i*(k+3) + 100*half)
					shades[half][4*i+k] = colours[i][half][k]
				}
			}
		}
		c.must("cudaMemcpy", values, pointer(&numbers[0]), 4*n, toDevice)
		c.must("cudaMemcpy", index, pointer(&places[0]), 4*n, toDevice)
		c.must("cudaMemcpy", dark, pointer(&shades[0]), 4*n, toDevice)
		c.must("cudaMemcpy", light, pointer(&shades[1]), 4*n, toDevice)
		texture := func(addr uint64, bits, channels, kind, fractions uint32) (handle uint64) {
			resource, reading := make([]byte, 144), make([]byte, 72)
			le.PutUint32(resource, resourceLinear)
			le.PutUint64(resource[8:], addr)
			for k := range channels {
				le.PutUint32(resource[16+4*k:], bits)
			}
			le.PutUint32(resource[32:], kind)
			le.PutUint64(resource[40:], 4*n)
			le.PutUint32(reading[16:], fractions)
			c.must("cudaCreateTextureObject", pointer(&handle), pointer(&resource[0]), pointer(&reading[0]), 0)
			back := make([]byte, 144)
			c.must("cudaGetTextureObjectTextureDesc", pointer(&back[0]), handle)
			if !bytes.Equal(back[:72], reading) {
				t.Errorf("%v", back)
			}
			return handle
		}
		args := [3]uint64{texture(values, 32, 1, channelFloat, 0), texture(dark, 8, 4, channelUnsigned, 1), texture(light, 8, 4, channelUnsigned, 1)}
		count := int32(n)
		if r := c.configured(p.kernel, [3]uint32{2, 1, 1}, [3]uint32{160, 1, 1}, unsafe.Pointer(&out), unsafe.Pointer(&args[0]), unsafe.Pointer(&args[1]), unsafe.Pointer(&args[2]),
			unsafe.Pointer(&index), unsafe.Pointer(&handles), unsafe.Pointer(&count)); r != Success {
			t.Fatal(r)
		}
		got := make([][4]float32, n)
		c.must("cudaMemcpy", pointer(&got[0]), out, 16*n, toHost)
		for i, v := range got {
			value := float32(0)
			if at := places[i]; at >= 0 && at < n {
				value = numbers[at]
			}
			var want [4]float32
			for k := range want {
				want[k] = float32(float64(colours[i][i&1][k]) / 255)
			}
			if want[0] *= value; v != want {
				t.Fatalf("element %d is %v, want %v", i, v, want)
			}
		}
		for _, handle := range args {
			c.must("cudaDestroyTextureObject", handle)
		}
		c.want(ErrInvalidValue, "cudaDestroyTextureObject", args[0])
		if list := s.Unsupported(); len(list) > 0 {
			t.Errorf("not supported: %v", list)
		}
	}
}

// Arrays of the runtime: copies of runs of bytes, which go on in the next rows, between arrays, and what an array tells of itself.
func TestRuntimeArrays(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.library = runtime13Library
	const width, height, toDevice, toHost = 5, 4, 1, 2
	channels := [5]uint32{16, 16, 0, 0, channelSigned}
	var array, other uint64
	for _, to := range []*uint64{&array, &other} {
		c.must("cudaMallocArray", pointer(to), pointer(&channels[0]), width, height, 0)
	}
	from, back := make([]byte, 4*width*height), make([]byte, 4*width*height)
	for i := range from {
		from[i] = byte(i + 1)
	}
	c.must("cudaMemcpyToArray", array, 0, 0, pointer(&from[0]), uint64(len(from)), toDevice)
	c.must("cudaMemcpyFromArray", pointer(&back[0]), array, 8, 1, 30, toHost)
	if !bytes.Equal(back[:30], from[28:58]) || back[30] != 0 {
		t.Errorf("%v", back)
	}
	c.must("cudaMemcpyArrayToArray", other, 0, 1, array, 4, 0, 20, 3)
	c.must("cudaMemcpy2DArrayToArray", other, 0, 3, array, 0, 2, 8, 1, 3)
	c.must("cudaMemcpyFromArray", pointer(&back[0]), other, 0, 0, uint64(len(back)), toHost)
	want := make([]byte, len(from))
	copy(want[20:], from[4:24])
	copy(want[60:], from[40:48])
	if !bytes.Equal(back, want) {
		t.Errorf("%v, want %v", back, want)
	}
	c.want(ErrInvalidValue, "cudaMemcpyToArray", array, 4, 0, pointer(&from[0]), uint64(len(from)), toDevice)
	var read [5]uint32
	var extent [3]uint64
	flags := uint32(math.MaxUint32)
	c.must("cudaArrayGetInfo", pointer(&read[0]), pointer(&extent[0]), pointer(&flags), array)
	if read != channels || extent != [3]uint64{width, height, 0} || flags != 0 {
		t.Errorf("%v, %v, %d", read, extent, flags)
	}
	read = [5]uint32{}
	if c.must("cudaGetChannelDesc", pointer(&read[0]), array); read != channels {
		t.Errorf("%v", read)
	}
	c.must("cudaFreeArray", array)
	c.must("cudaFreeArray", 0)
	c.want(ErrInvalidHandle, "cudaFreeArray", array)
	channels[1] = 8
	c.want(ErrNotSupported, "cudaMallocArray", pointer(&array), pointer(&channels[0]), width, height, 0)
}

// Mipmaps of both interfaces: levels that are filled as arrays, of which the bounds of a texture choose. filter_2d reads by four textures in each point.
func TestMipmaps(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.context()
	f := c.function("textures/filter_2d/filter_2d.sm_80.cubin", "filter_2d")
	const width, height, levels = 24, 12, 5
	d := [5]uint64{width, height, 0, testF32 | 1<<32, 0}
	var first, second, level uint64
	c.must("cuMipmappedArrayCreate", pointer(&first), pointer(&d[0]), 9) // it has no more than five
	c.library = runtime13Library
	channels := [5]uint32{32, 0, 0, 0, channelFloat}
	c.must("cudaMallocMipmappedArray", pointer(&second), pointer(&channels[0]), width, height, 0, levels, 0)
	c.library = driverLibrary
	for k := range uint64(levels) {
		w, h := width>>k, max(1, height>>k)
		texels := make([]float32, w*h)
		for i := range texels {
			texels[i] = float32(10 + k)
		}
		for _, of := range []uint64{first, second} {
			c.must("cuMipmappedArrayGetLevel", pointer(&level), of, k)
			c.rows(level, unsafe.Slice((*byte)(unsafe.Pointer(&texels[0])), 4*len(texels)), 4*w, h, 1, true)
			c.want(ErrInvalidValue, "cuArrayDestroy", level) // it goes with the others
		}
	}
	c.want(ErrInvalidValue, "cuMipmappedArrayGetLevel", pointer(&level), first, levels)
	texture := func(of uint64, least, most, bias float32, linear bool) (handle uint64) {
		resource := [18]uint64{0: resourceMipmaps, 1: of}
		reading := [26]uint32{0: testClamp, 1: testClamp, 3: 1, 4: 0x2, 7: math.Float32bits(bias), 8: math.Float32bits(least), 9: math.Float32bits(most)}
		if linear {
			reading[6] = 1
		}
		c.must("cuTexObjectCreate", pointer(&handle), pointer(&resource[0]), pointer(&reading[0]), 0)
		return handle
	}
	textures := [4]uint64{texture(first, 0, 9, 0, false), texture(first, 2, 9, 0, false), texture(second, 1.25, 9, 0, true), texture(second, 7, 9, 0, false)}
	want := [4]float32{10, 12, 11.25, 14}
	w, h, cosine, sine := int32(32), int32(4), float32(1), float32(0)
	out, gathered := c.alloc(4*4*32*4), c.alloc(16*32*4)
	args := [10]unsafe.Pointer{unsafe.Pointer(&out), unsafe.Pointer(&gathered), unsafe.Pointer(&textures[0]), unsafe.Pointer(&textures[1]), unsafe.Pointer(&textures[2]),
		unsafe.Pointer(&textures[3]), unsafe.Pointer(&cosine), unsafe.Pointer(&sine), unsafe.Pointer(&w), unsafe.Pointer(&h)}
	list := make([]uint64, len(args))
	for i, p := range args {
		list[i] = uint64(uintptr(p))
	}
	c.must("cuLaunchKernel", f, 1, 1, 1, 32, 4, 1, 0, 0, pointer(&list[0]), 0)
	for i, v := range c.read(out, 4*32*4) {
		if v != want[i/128] {
			t.Fatalf("texture %d: point %d is %g, want %g", i/128, i%128, v, want[i/128])
		}
	}
	c.must("cuMipmappedArrayDestroy", first)
	c.want(ErrInvalidHandle, "cuMipmappedArrayDestroy", first)
	c.want(ErrInvalidHandle, "cuMipmappedArrayGetLevel", pointer(&level), first, 0)
	c.library = runtime13Library
	c.must("cudaGetMipmappedArrayLevel", pointer(&level), second, 1)
	c.must("cudaFreeMipmappedArray", second)
	c.must("cudaFreeMipmappedArray", 0)
	if list := s.Unsupported(); len(list) > 0 {
		t.Errorf("not supported: %v", list)
	}
}
