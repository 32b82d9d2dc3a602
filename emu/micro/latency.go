package micro

import "math/rand/v2"

// Geometry of the pointer chase.
const (
	lineBytes  = 128
	unrolled   = 16      // links a step of the kernel
	longest    = 1 << 20 // links of a chain at most; longer ones are cold everywhere and need not be whole
	coldLinks  = 1 << 13 // links of a chain that are followed then
	warmableL1 = 1 << 20 // bytes; larger working sets are warmed in L2 alone before the chain is followed
)

// Latency returns the cycles of a dependent load whose working set has so many bytes: the mean over a random cyclic chain
// with one link in every line, which is followed once before it is timed. The end of a set larger than all caches is
// never reached; its chain is a random sample of the lines.
func (b *Bench) Latency(bytes int64) (float64, error) {
	lines := int(max(bytes/lineBytes, 1))
	r := b.rig()
	data, out := r.alloc(int64(lines)*lineBytes), r.alloc(16)
	whole := lines <= longest && int64(lines)*lineBytes <= 2*int64(b.gpu.L2.Size.Value)
	chain := chainOf(lines, whole)
	for i, line := range chain {
		next := chain[(i+1)%len(chain)]
		r.write(data+uint64(line)*lineBytes, data+uint64(next)*lineBytes)
	}
	warm := 0
	if whole {
		warm = len(chain)
	}
	steps := max((len(chain)+unrolled-1)/unrolled, 64)
	first := data + uint64(chain[0])*lineBytes
	r.run(launch{kernel: "chase", blocks: 1, threads: 1}, first, int32(warm), int32(steps), out)
	return perLink(r, out, steps*unrolled)
}

// chainOf returns the order in which lines are visited: all of them, or a sample.
func chainOf(lines int, whole bool) []int {
	random := rand.New(rand.NewPCG(1, 2))
	if whole {
		return random.Perm(lines)
	}
	chain := make([]int, 0, coldLinks)
	seen := make(map[int]bool, coldLinks)
	for len(chain) < min(coldLinks, lines) {
		if l := random.IntN(lines); !seen[l] {
			seen[l] = true
			chain = append(chain, l)
		}
	}
	return chain
}

// perLink returns what the kernel counted a link.
func perLink(r *rig, out uint64, links int) (float64, error) {
	return float64(r.read(out)) / float64(links), r.err
}

// SharedLatency returns the cycles of a dependent load from shared memory: of addresses, or of indices where the address is
// computed before each.
func (b *Bench) SharedLatency(addresses bool) (float64, error) {
	const steps = 32
	kernel := "chase_shared"
	if addresses {
		kernel = "chase_shared_address"
	}
	r := b.rig()
	out := r.alloc(16)
	r.run(launch{kernel: kernel, blocks: 1, threads: 1}, int32(steps), out)
	return perLink(r, out, steps*unrolled)
}

// AtomicLatency returns the cycles of a dependent atomic addition to a word in global memory.
func (b *Bench) AtomicLatency() (float64, error) {
	const steps, additions = 64, 4
	r := b.rig()
	word, out := r.alloc(4), r.alloc(16)
	r.run(launch{kernel: "chase_atomic", blocks: 1, threads: 1}, word, int32(steps), out)
	return perLink(r, out, steps*additions)
}
