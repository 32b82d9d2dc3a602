package cuda

var textureRuntimeFunctions = []function{
	{"cudaCreateTextureObject", "pppo", runtimeContext, func(c *call) Result { return c.createTexture(c.runtimeObjects()) }},
	{"cudaDestroyTextureObject", "n", runtimeContext, ofObject(0, false, destroyObject)},
	{"cudaGetTextureObjectResourceDesc", "pn", runtimeContext, ofObject(1, false, describeRuntime(0))},
	{"cudaGetTextureObjectTextureDesc", "pn", runtimeContext, ofObject(1, false, describeRuntime(1))},
	{"cudaGetTextureObjectResourceViewDesc", "pn", runtimeContext, ofObject(1, false, describeView)},
	{"cudaCreateSurfaceObject", "pp", runtimeContext, func(c *call) Result { return c.createSurface(c.runtimeObjects()) }},
	{"cudaDestroySurfaceObject", "n", runtimeContext, ofObject(0, true, destroyObject)},
	{"cudaGetSurfaceObjectResourceDesc", "pn", runtimeContext, ofObject(1, true, describeRuntime(0))},
	{"cudaGetChannelDesc", "pn", runtimeContext, ofArray(1, func(c *call, a *array) Result { return c.out(c.a[0], a.channelDescriptor()) })},
	{"cudaArrayGetInfo", "ooon", runtimeContext, ofArray(3, arrayInfo)},
	{"cudaFreeArray", "n", runtimeContext, orNone(ofArray(0, arrayDestroy))},
	{"cudaMallocMipmappedArray", "pps..ii", runtimeContext, mallocMipmaps},
	{"cudaFreeMipmappedArray", "n", runtimeContext, orNone(ofMipmaps(0, mipmapsDestroy))},
}

// orNone makes a function that frees what its argument names do nothing where that is 0.
func orNone(free func(*call) Result) func(*call) Result {
	return func(c *call) Result {
		if c.a[0] == 0 {
			return Success
		}
		return free(c)
	}
}

// runtimeObjects12 and runtimeObjects13: cudaResourceDesc, which has grown, and cudaTextureDesc.
var (
	runtimeObjects12 = &objectForm{resource: 64, texture: 72, element: runtimeElement, sampler: runtimeSampler}
	runtimeObjects13 = &objectForm{resource: 144, texture: 72, element: runtimeElement, sampler: runtimeSampler}
)

func (c *call) runtimeObjects() *objectForm {
	if c.library == runtime13Library {
		return runtimeObjects13
	}
	return runtimeObjects12
}

// runtimeElement reads a cudaChannelFormatDesc, behind which are 4 bytes of nothing.
func runtimeElement(c *call, b []byte) (format, channels uint32, rest []byte, r Result) {
	format, channels, r = c.channels(b)
	return format, channels, b[24:], r
}

// runtimeSampler reads a cudaTextureDesc.
func runtimeSampler(b []byte) (s samplerWords) {
	s.fill(b, b[24:], b[48:])
	s.integers, s.srgb = le.Uint32(b[16:]) == 0, le.Uint32(b[20:]) != 0
	s.normalized, s.anisotropy = le.Uint32(b[40:]) != 0, le.Uint32(b[44:])
	s.seamless = le.Uint32(b[68:]) != 0
	return s
}

func describeRuntime(part int) func(*call, *textureObject) Result {
	return func(c *call, o *textureObject) Result { return describe(part, c.runtimeObjects())(c, o) }
}

// channelDescriptor is the cudaChannelFormatDesc of the array's elements.
func (a *array) channelDescriptor() (b []byte) {
	for kind, format := range channelFormats {
		if format != a.format {
			continue
		}
		for k := range uint32(4) {
			if k >= a.channels {
				kind[1] = 0
			}
			b = le.AppendUint32(b, kind[1])
		}
		b = le.AppendUint32(b, kind[0])
	}
	return b
}

// arrayInfo returns a cudaChannelFormatDesc, a cudaExtent and flags, each where it is asked for.
func arrayInfo(c *call, a *array) Result {
	c.out(c.a[0], a.channelDescriptor())
	c.out(c.a[1], le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, a.width), a.height), a.depth))
	return c.out32(c.a[2], a.flags)
}
