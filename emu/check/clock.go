package check

// A clock is a vector clock over the warps of a block: how many synchronisations of each warp are known to have happened, so that accesses
// with that stamp or an earlier one have; and behind that as many entries for each bank: how many groups of the warp's asynchronous
// accesses are known to be complete. Those are a thread of their own, as it were: that their warp goes on says nothing of them.
type clock []uint32

// A bank is a part of a clock.
type bank uint8

// The banks.
const (
	stamps         bank = iota
	copyGroups          // of LDGSTS (PTX ISA, cp.async)
	productGroups       // of products of a warpgroup, those of its first warp (wgmma)
	transferGroups      // of copies by the copy engine, each one of its own (cp.async.bulk)
	fences              // stamps of the writes that fences have made known to the asynchronous proxy (fence.proxy.async)
	numBanks
)

func newClock(warps int) clock { return make(clock, int(numBanks)*warps) }

// at is the entry of a warp in a bank.
func (c clock) at(n bank, warp int) *uint32 { return &c[len(c)/int(numBanks)*int(n)+warp] }

// join takes over what another clock knows.
func (c clock) join(o clock) {
	for i, v := range o {
		c[i] = max(c[i], v)
	}
}

// unfinished says what has not been waited for.
func (n bank) unfinished() string {
	switch n {
	case productGroups:
		return "no wgmma.wait_group between them"
	case transferGroups:
		return "no wait for the mbarrier that counts its bytes between them"
	}
	return "no cp.async.wait_group or wait_all between them"
}
