package advisor

// cuTileFusion is what one can do about launches that could be one.
const cuTileFusion = "What is loaded at %s the kernel before has stored, or the kernel behind loads what this one stores, tile by tile. Write one @ct.kernel: a function (@ct.function) of the values of one in the place of the other one's ct.load, or in front of its ct.store. Not where others read what lies between."

// cuTileWords are what the author of a cuTile kernel can do, by optimizer: he chooses the shapes of tiles, num_ctas, occupancy and hints of
// loads and stores, and the compiler the threads.
var cuTileWords = map[string]string{
	"async-copy":                   "The loop at %s waits for what it loads. Give its ct.load a higher latency, so that the compiler fetches the tiles of later rounds while it works on this one, and allow_tma where it has been taken away.",
	"atomic-contention":            "Blocks wait for atomic operations at %s. Reduce the tile first (ct.sum, ct.max) and do one ct.atomic_add for it, on as few addresses shared with others as can be.",
	"block-increase":               "The grid has too few blocks for the GPU's SMs (%s). Make the tiles smaller, or divide the reduction among blocks (split-K) and add the parts up by ct.atomic_add or in a second kernel.",
	"code-reordering":              "What is loaded at %s is used too soon. Write ct.load earlier than the work that does not need it, or give it a higher latency in a loop.",
	"constant-memory":              "All threads read the same words at %s. Pass what is known when the kernel is compiled as ct.Constant, and load scalars once, before the loop.",
	"divergence-reduction":         "At %s warps run with few of their lanes: the tiles are larger than the data, or most of them lies outside. Choose shapes near those of the data.",
	"fast-math":                    "Accurate functions cost most at %s. Use ct.exp2 and ct.log2 with a scaled argument and flush_to_zero=True, ct.truediv and ct.tanh with rounding_mode=ct.RoundingMode.APPROX, and a multiplication by the reciprocal in place of divisions, where the last bits do not matter.",
	"function-inlining":            "Calls at %s cost moves and branches. They are of the compiler's own functions, such as accurate divisions: approximate ones (rounding_mode=ct.RoundingMode.APPROX) need none.",
	"function-splitting":           "The code that runs is larger than the instruction cache (%s). Take smaller tiles, loop at run time in place of ct.static_iter, or split the kernel.",
	"if-conversion":                "The condition at %s is evaluated by branches. Choose by ct.where.",
	"loop-unrolling":               "The loop at %s has too little under way. Give its ct.load a higher latency, let it go over ct.static_iter, or take larger tiles a round. Not where registers then leave room for fewer warps.",
	"memory-coalescing":            "Accesses at %s take more sectors than the bytes that they use fill. Let the last dimension of the tile's shape run along the one that is contiguous in memory (order= of ct.load says so of an array that lies the other way), and turn a tile that is needed the other way by ct.transpose after it is loaded.",
	"memory-transaction-reduction": "The queue for memory is full at %s. Let accesses be wide: ct.load of whole tiles in place of ct.gather, arrays whose strides are multiples of 16 bytes, and larger tiles.",
	"occupancy-increase":           "An SM holds too few blocks (%s). Ask for more by occupancy= of @ct.kernel, or take smaller tiles. Not where values are then spilled to local memory.",
	"redundant-barrier":            "The compiler's barriers at %s order nothing here. Other shapes of tiles, or another latency of ct.load: where it puts barriers follows from the layouts it chooses.",
	"register-bank-conflicts":      "Instructions at %s wait for register banks, which the compiler assigns: other shapes of tiles or opt_level give another assignment.",
	"register-caching":             "At %s a block loads what it has stored in the round before. Keep the tile in a variable through the loop, and store it once behind it.",
	"register-reuse":               "Values are kept in local memory at %s: the block has too many registers. Use smaller tiles, a lower occupancy or a lower latency of ct.load, or more num_worker_warps.",
	"register-tiling":              "At %s the threads of a block load the same data again and again. Let a block make more of the result: a larger tile of it.",
	"restrict-pointers":            "Loads at %s wait for stores that may alias. Load before you store, and keep what is loaded twice in a variable.",
	"restructure":                  "Control flow at %s joins late. Choose by ct.where instead of branches.",
	"shared-bank-conflicts":        "Threads hit the same bank of shared memory at %s. The compiler chooses the layout: other shapes of tiles, or another order of the operands of ct.transpose and ct.mma give another one.",
	"shared-memory-tiling":         "At %s blocks load the same data again and again. Load a tile once for several uses: larger tiles, or ct.mma, which keeps its operands in shared memory. Let blocks that share data run side by side (a grouped order of ct.bid) for L2.",
	"single-pass":                  "The loads at %s read again what an earlier pass has read. Do the work of the passes in one, with running values that later data correct (as the maximum and the sum of an online softmax), or keep the whole row in one tile.",
	"sm-balance":                   "Some SMs have nothing to do while others work (%s). Take smaller tiles for a shorter last wave, or a persistent kernel: a grid of as many blocks as fit, each going through tiles.",
	"strength-reduction":           "Costly operations at %s: integer division and modulo, double precision, conversions. Make divisors ct.Constant powers of two, and constants of the data's type.",
	"tensor-core-underuse":         "The product at %s does not use tensor cores. Use ct.mma with operands of fp16, bf16, fp8 or ct.tfloat32, and tiles of at least 16 in each dimension.",
	"tf-reconvergence":             "Threads that part at %s come together late. Choose by ct.where instead of branches.",
	"thread-coarsening":            "Blocks do little beside their indices and accesses (%s). Take larger tiles, so that there are fewer blocks with more under way.",
	"thread-increase":              "A block has too few warps to hide its waits (%s). Take larger tiles, for which the compiler takes more threads, or raise occupancy= of @ct.kernel.",
	"vectorized-access":            "Accesses at %s move less than 16 bytes a thread. Let strides be multiples of 16 bytes and the last dimension of the tile at least 128 times the elements of 16 bytes.",
	"warp-balance":                 "Warps wait at barriers at %s for those that have more to do. Let a reduction stay within fewer warps: smaller tiles, or several rows a tile.",
	"work-distribution":            "Too few threads share the work at %s. Divide the reduced dimension: a wider tile along it with ct.sum at the end, or more blocks that each take a part (split-K) and add up by ct.atomic_add.",
}
