package cuda

import (
	"fmt"
	"runtime"

	"gpa/cubin"
)

// passed are the parameters of a kernel that a launch passes: all but the tensor maps of a tile kernel.
func passed(k *cubin.Kernel) []cubin.Param {
	if k.Tile != nil {
		return k.Params[:k.Tile.Arguments]
	}
	return k.Params
}

// completeTile makes the launch of a tile kernel, which says only how many blocks there are, one that the GPU can run: with the threads
// that the compiler gave a block, and with the tensor maps that the kernel's code for the host makes of the parameters.
func (c *call) completeTile(q *request, params []byte) Result {
	k := q.function.kernel
	if q.block != [3]int{1, 1, 1} {
		return ErrInvalidValue
	}
	if k.ReqThreads[0] > 0 {
		q.block = k.ReqThreads
	}
	if len(passed(k)) == len(k.Params) {
		return Success
	}
	if len(k.Tile.HostCode) == 0 || runtime.GOARCH != "amd64" { // the program is one for the architecture that gpa runs on
		c.server.problem(fmt.Errorf("kernel %s: its tensor maps are made by code for the host that gpa cannot run", k.Demangled))
		return ErrNotSupported
	}
	err := c.makeTensorMaps(k.Tile, params)
	if err != nil {
		c.server.problem(fmt.Errorf("kernel %s: tensor maps: %w", k.Demangled, err))
		return ErrOperatingSystem
	}
	return Success
}

// makeTensorMaps has the program, as the driver within it would, run the kernel's code for the host. The memory for it is there only
// meanwhile.
func (c *call) makeTensorMaps(t *cubin.Tile, params []byte) (err error) {
	code := (uint64(len(t.HostCode)) + pageSize - 1) / pageSize * pageSize
	size := code + uint64(len(params))
	base, err := c.conn.MapAnonymous(size)
	if err != nil {
		return err
	}
	defer func() {
		if unmapped := c.conn.Unmap(base, size); err == nil {
			err = unmapped
		}
	}()
	if r := c.store(base, t.HostCode); r != Success {
		return r
	}
	if r := c.store(base+code, params); r != Success {
		return r
	}
	if err := c.conn.Executable(base, code); err != nil {
		return err
	}
	c.mu.Unlock()
	v, err := c.conn.Callback(base+t.HostEntry, 0, 0, 0, base+code)
	c.mu.Lock()
	if err != nil {
		return err
	}
	if uint32(v) != 0 {
		return fmt.Errorf("the kernel's code for the host returned %d", int32(v))
	}
	if r := c.load(base+code, params); r != Success {
		return r
	}
	return nil
}
