package cuda

import (
	"slices"
	"strings"
)

// sameFunctions are functions of the runtime that take what a function of the driver takes, with the same results.
const sameFunctions = `
cudaDeviceSynchronize cuCtxSynchronize
cudaThreadSynchronize cuCtxSynchronize
cudaDeviceGetStreamPriorityRange cuCtxGetStreamPriorityRange
cudaDeviceSetLimit cuCtxSetLimit
cudaDeviceGetLimit cuCtxGetLimit
cudaDeviceGetCacheConfig cuCtxGetCacheConfig
cudaDeviceSetCacheConfig cuCtxSetCacheConfig
cudaDeviceGetSharedMemConfig cuCtxGetSharedMemConfig
cudaDeviceSetSharedMemConfig cuCtxSetSharedMemConfig
cudaCtxResetPersistingL2Cache cuCtxResetPersistingL2Cache
cudaDeviceGetAttribute cuDeviceGetAttribute
cudaGetDeviceCount cuDeviceGetCount
cudaDeviceCanAccessPeer cuDeviceCanAccessPeer
cudaDeviceGetPCIBusId cuDeviceGetPCIBusId
cudaDeviceGetByPCIBusId cuDeviceGetByPCIBusId
cudaDeviceGetDefaultMemPool cuDeviceGetDefaultMemPool
cudaDeviceGetMemPool cuDeviceGetMemPool
cudaDeviceSetMemPool cuDeviceSetMemPool
cudaDeviceGraphMemTrim cuDeviceGraphMemTrim
cudaDriverGetVersion cuDriverGetVersion
cudaProfilerStart cuProfilerStart
cudaProfilerStop cuProfilerStop
cudaMemGetInfo cuMemGetInfo_v2
cudaMallocHost cuMemAllocHost_v2
cudaHostAlloc cuMemHostAlloc
cudaHostGetDevicePointer cuMemHostGetDevicePointer_v2
cudaHostGetFlags cuMemHostGetFlags
cudaHostRegister cuMemHostRegister_v2
cudaHostUnregister cuMemHostUnregister
cudaMallocManaged cuMemAllocManaged
cudaMallocAsync cuMemAllocAsync
cudaMallocFromPoolAsync cuMemAllocFromPoolAsync
cudaFreeAsync cuMemFreeAsync
cudaMemPoolCreate cuMemPoolCreate
cudaMemPoolDestroy cuMemPoolDestroy
cudaMemPoolGetAttribute cuMemPoolGetAttribute
cudaMemPoolSetAttribute cuMemPoolSetAttribute
cudaMemPoolTrimTo cuMemPoolTrimTo
cudaMemPoolGetAccess cuMemPoolGetAccess
cudaMemAdvise cuMemAdvise
cudaMemAdvise_v2 cuMemAdvise_v2
cudaMemPrefetchAsync cuMemPrefetchAsync
cudaMemPrefetchAsync_v2 cuMemPrefetchAsync_v2
cudaMemset cuMemsetD8_v2
cudaMemsetAsync cuMemsetD8Async
cudaMemset2D cuMemsetD2D8_v2
cudaMemset2DAsync cuMemsetD2D8Async
cudaFreeArray cuArrayDestroy
cudaStreamCreateWithFlags cuStreamCreate
cudaStreamCreateWithPriority cuStreamCreateWithPriority
cudaStreamDestroy cuStreamDestroy_v2
cudaStreamSynchronize cuStreamSynchronize
cudaStreamQuery cuStreamQuery
cudaStreamWaitEvent cuStreamWaitEvent
cudaStreamAddCallback cuStreamAddCallback
cudaStreamAttachMemAsync cuStreamAttachMemAsync
cudaStreamGetFlags cuStreamGetFlags
cudaStreamGetPriority cuStreamGetPriority
cudaStreamGetId cuStreamGetId
cudaStreamGetDevice cuStreamGetDevice
cudaStreamBeginCapture cuStreamBeginCapture_v2
cudaStreamBeginCaptureToGraph cuStreamBeginCaptureToGraph
cudaStreamEndCapture cuStreamEndCapture
cudaStreamIsCapturing cuStreamIsCapturing
cudaStreamGetCaptureInfo_v2 cuStreamGetCaptureInfo_v2
cudaStreamGetCaptureInfo_v3 cuStreamGetCaptureInfo_v3
cudaStreamUpdateCaptureDependencies_v2 cuStreamUpdateCaptureDependencies_v2
cudaThreadExchangeStreamCaptureMode cuThreadExchangeStreamCaptureMode
cudaLaunchHostFunc cuLaunchHostFunc
cudaEventCreateWithFlags cuEventCreate
cudaEventDestroy cuEventDestroy_v2
cudaEventRecord cuEventRecord
cudaEventRecordWithFlags cuEventRecordWithFlags
cudaEventSynchronize cuEventSynchronize
cudaEventQuery cuEventQuery
cudaEventElapsedTime cuEventElapsedTime
cudaEventElapsedTime_v2 cuEventElapsedTime_v2
cudaGraphCreate cuGraphCreate
cudaGraphDestroy cuGraphDestroy
cudaGraphClone cuGraphClone
cudaGraphNodeFindInClone cuGraphNodeFindInClone
cudaGraphGetNodes cuGraphGetNodes
cudaGraphGetRootNodes cuGraphGetRootNodes
cudaGraphGetEdges_v2 cuGraphGetEdges_v2
cudaGraphNodeGetType cuGraphNodeGetType
cudaGraphNodeGetDependencies_v2 cuGraphNodeGetDependencies_v2
cudaGraphNodeGetDependentNodes_v2 cuGraphNodeGetDependentNodes_v2
cudaGraphAddDependencies_v2 cuGraphAddDependencies_v2
cudaGraphRemoveDependencies_v2 cuGraphRemoveDependencies_v2
cudaGraphDestroyNode cuGraphDestroyNode
cudaGraphAddKernelNode cuGraphAddKernelNode
cudaGraphKernelNodeGetParams cuGraphKernelNodeGetParams
cudaGraphKernelNodeSetParams cuGraphKernelNodeSetParams
cudaGraphKernelNodeSetAttribute cuGraphKernelNodeSetAttribute
cudaGraphKernelNodeGetAttribute cuGraphKernelNodeGetAttribute
cudaGraphAddMemsetNode cuGraphAddMemsetNode
cudaGraphMemsetNodeGetParams cuGraphMemsetNodeGetParams
cudaGraphMemsetNodeSetParams cuGraphMemsetNodeSetParams
cudaGraphAddHostNode cuGraphAddHostNode
cudaGraphHostNodeGetParams cuGraphHostNodeGetParams
cudaGraphHostNodeSetParams cuGraphHostNodeSetParams
cudaGraphAddChildGraphNode cuGraphAddChildGraphNode
cudaGraphChildGraphNodeGetGraph cuGraphChildGraphNodeGetGraph
cudaGraphAddEmptyNode cuGraphAddEmptyNode
cudaGraphAddEventRecordNode cuGraphAddEventRecordNode
cudaGraphAddEventWaitNode cuGraphAddEventWaitNode
cudaGraphInstantiate cuGraphInstantiateWithFlags
cudaGraphInstantiateWithFlags cuGraphInstantiateWithFlags
cudaGraphInstantiateWithParams cuGraphInstantiateWithParams
cudaGraphExecDestroy cuGraphExecDestroy
cudaGraphExecGetFlags cuGraphExecGetFlags
cudaGraphExecUpdate cuGraphExecUpdate_v2
cudaGraphExecKernelNodeSetParams cuGraphExecKernelNodeSetParams
cudaGraphExecMemsetNodeSetParams cuGraphExecMemsetNodeSetParams
cudaGraphExecHostNodeSetParams cuGraphExecHostNodeSetParams
cudaGraphExecChildGraphNodeSetParams cuGraphExecChildGraphNodeSetParams
cudaGraphExecEventRecordNodeSetEvent cuGraphExecEventRecordNodeSetEvent
cudaGraphExecEventWaitNodeSetEvent cuGraphExecEventWaitNodeSetEvent
cudaGraphNodeSetEnabled cuGraphNodeSetEnabled
cudaGraphNodeGetEnabled cuGraphNodeGetEnabled
cudaGraphUpload cuGraphUpload
cudaGraphLaunch cuGraphLaunch
cudaUserObjectCreate cuUserObjectCreate
cudaUserObjectRetain cuUserObjectRetain
cudaUserObjectRelease cuUserObjectRelease
cudaGraphRetainUserObject cuGraphRetainUserObject
cudaGraphReleaseUserObject cuGraphReleaseUserObject
cudaGetDriverEntryPointByVersion cuGetProcAddress_v2
`

// changedFunctions took something else before version 13 of the runtime: name, function of the driver for version 12, and for 13.
const changedFunctions = `
cudaStreamGetCaptureInfo cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v3
cudaStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies_v2
cudaGraphGetEdges cuGraphGetEdges cuGraphGetEdges_v2
cudaGraphNodeGetDependencies cuGraphNodeGetDependencies cuGraphNodeGetDependencies_v2
cudaGraphNodeGetDependentNodes cuGraphNodeGetDependentNodes cuGraphNodeGetDependentNodes_v2
cudaGraphAddDependencies cuGraphAddDependencies cuGraphAddDependencies_v2
cudaGraphRemoveDependencies cuGraphRemoveDependencies cuGraphRemoveDependencies_v2
`

// runtimeRows are the rows of the runtime, of which many are the driver's. Functions that work on streams have a second name, for programs whose
// default stream is the thread's: that makes no difference, as all work is done in the order in which it is submitted.
func runtimeRows(driver []function) []function {
	byName := make(map[string]function)
	for _, f := range driver {
		byName[f.name] = f
	}
	rows := slices.Concat(registerRuntimeFunctions, mirrored(launchRuntimeFunctions), deviceRuntimeFunctions, functionRuntimeFunctions, memoryRuntimeFunctions, mirrored(copyRuntimeFunctions))
	for line := range strings.Lines(strings.TrimSpace(sameFunctions)) {
		names := strings.Fields(line)
		f := byName[names[1]]
		rows = append(rows, function{names[0], f.args, runtimeContext, f.run})
	}
	for line := range strings.Lines(strings.TrimSpace(changedFunctions)) {
		names := strings.Fields(line)
		rows = append(rows, changed(names[0], byName[names[1]], byName[names[2]]))
	}
	for _, f := range slices.Clone(rows) {
		if strings.HasPrefix(f.name, "cuda") {
			for _, suffix := range []string{"_ptsz", "_ptds"} {
				g := f
				g.name += suffix
				rows = append(rows, g)
			}
		}
	}
	return rows
}

// changed is a function that takes what one of two functions takes, by the version of the library.
func changed(name string, before, since function) function {
	return function{name, strings.ReplaceAll(before.args, "p", "o"), runtimeContext, func(c *call) Result {
		f := before
		if c.library == runtime13Library {
			f = since
		}
		f.name = name
		c.function = &f
		if r := c.arguments(); r != Success {
			return r
		}
		return f.run(c)
	}}
}
