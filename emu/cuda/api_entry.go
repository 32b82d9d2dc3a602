package cuda

import "fmt"

var entryFunctions = []function{
	{"cuGetProcAddress", "ppin", nothing, func(c *call) Result { return c.entryPoint(0) }},
	{"cuGetProcAddress_v2", "ppino", nothing, func(c *call) Result { return c.entryPoint(c.a[4]) }},
	{"cuGetExportTable", "pp", nothing, exportTable},
}

// A replacement says from which version of the API on a name stands for another function.
type replacement struct {
	version int
	name    string
}

// replacements are the functions that names of cuda.h stand for, by the version that a program is written for: the latest that is not newer
// (cudaTypedefs.h).
var replacements = map[string][]replacement{
	"cuCtxCreate":                       {{0, "cuCtxCreate_v2"}, {11040, "cuCtxCreate_v3"}, {12050, "cuCtxCreate_v4"}},
	"cuCtxSynchronize":                  {{0, "cuCtxSynchronize"}, {13000, "cuCtxSynchronize_v2"}},
	"cuCtxGetDevice":                    {{0, "cuCtxGetDevice"}, {13000, "cuCtxGetDevice_v2"}},
	"cuGetProcAddress":                  {{0, "cuGetProcAddress"}, {12000, "cuGetProcAddress_v2"}},
	"cuMemAdvise":                       {{0, "cuMemAdvise"}, {12020, "cuMemAdvise_v2"}},
	"cuMemPrefetchAsync":                {{0, "cuMemPrefetchAsync"}, {12020, "cuMemPrefetchAsync_v2"}},
	"cuStreamGetCaptureInfo":            {{0, "cuStreamGetCaptureInfo"}, {11030, "cuStreamGetCaptureInfo_v2"}, {12030, "cuStreamGetCaptureInfo_v3"}},
	"cuStreamGetCtx":                    {{0, "cuStreamGetCtx"}, {12050, "cuStreamGetCtx_v2"}},
	"cuStreamUpdateCaptureDependencies": {{0, "cuStreamUpdateCaptureDependencies"}, {12030, "cuStreamUpdateCaptureDependencies_v2"}},
	"cuGraphExecUpdate":                 {{0, "cuGraphExecUpdate"}, {12000, "cuGraphExecUpdate_v2"}},
	"cuGraphInstantiate":                {{0, "cuGraphInstantiate_v2"}, {12000, "cuGraphInstantiateWithFlags"}},
	"cuGraphAddNode":                    {{0, "cuGraphAddNode"}, {12030, "cuGraphAddNode_v2"}},
	"cuGraphAddDependencies":            {{0, "cuGraphAddDependencies"}, {12030, "cuGraphAddDependencies_v2"}},
	"cuGraphRemoveDependencies":         {{0, "cuGraphRemoveDependencies"}, {12030, "cuGraphRemoveDependencies_v2"}},
	"cuGraphNodeGetDependencies":        {{0, "cuGraphNodeGetDependencies"}, {12030, "cuGraphNodeGetDependencies_v2"}},
	"cuGraphNodeGetDependentNodes":      {{0, "cuGraphNodeGetDependentNodes"}, {12030, "cuGraphNodeGetDependentNodes_v2"}},
	"cuGraphGetEdges":                   {{0, "cuGraphGetEdges"}, {12030, "cuGraphGetEdges_v2"}},
	"cuGraphAddKernelNode":              {{0, "cuGraphAddKernelNode"}, {12000, "cuGraphAddKernelNode_v2"}},
	"cuGraphKernelNodeGetParams":        {{0, "cuGraphKernelNodeGetParams"}, {12000, "cuGraphKernelNodeGetParams_v2"}},
	"cuGraphKernelNodeSetParams":        {{0, "cuGraphKernelNodeSetParams"}, {12000, "cuGraphKernelNodeSetParams_v2"}},
	"cuGraphExecKernelNodeSetParams":    {{0, "cuGraphExecKernelNodeSetParams"}, {12000, "cuGraphExecKernelNodeSetParams_v2"}},
	"cuDeviceGetUuid":                   {{0, "cuDeviceGetUuid"}, {11040, "cuDeviceGetUuid_v2"}},
	"cuEventElapsedTime":                {{0, "cuEventElapsedTime"}, {12080, "cuEventElapsedTime_v2"}},
}

// entry returns the number of the function that a name stands for. Of names without a rule it is the newest of the functions with it.
func (t *table) entry(name string, version int) (int, bool) {
	for i := len(replacements[name]) - 1; i >= 0; i-- {
		if r := replacements[name][i]; version >= r.version {
			n, ok := t.numbers[r.name]
			return n, ok
		}
	}
	for v := 9; v >= 2; v-- {
		if n, ok := t.numbers[fmt.Sprintf("%s_v%d", name, v)]; ok {
			return n, true
		}
	}
	n, ok := t.numbers[name]
	return n, ok
}

// What cuGetProcAddress_v2 found (CUdriverProcAddressQueryResult).
const (
	entryFound   = 0
	entryUnknown = 1
)

// entryPoint returns the address of a function in the client. Its name, the version and flags, which make no difference, are arguments.
func (c *call) entryPoint(status uint64) Result {
	name, r := c.text(c.a[0], maxName)
	if r != Success {
		return r
	}
	number, ok := c.server.table.entry(name, c.integer(2))
	if !ok {
		c.out64(c.a[1], 0)
		if status == 0 {
			return ErrNotFound
		}
		return c.out32(status, entryUnknown)
	}
	addr, err := c.server.images[c.library].Function(c.data, number)
	if err != nil {
		return ErrNotFound
	}
	c.out32(status, entryFound)
	return c.out64(c.a[1], addr)
}

// runtimeTable is the beginning of the identifier of the table that NVIDIA's runtime library asks for.
const runtimeTable = 0x6cfbd56b

// exportTable refuses: the tables are NVIDIA's own affair. Their compilers ask for them and do without; their runtime library does not.
func exportTable(c *call) Result {
	var id [16]byte
	if c.load(c.a[1], id[:]) == Success && le.Uint32(id[:]) == runtimeTable {
		c.server.mu.Lock()
		c.server.runtime = true
		c.server.mu.Unlock()
	}
	return ErrInvalidValue
}
