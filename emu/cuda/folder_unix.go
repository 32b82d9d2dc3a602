//go:build unix

package cuda

import (
	"fmt"
	"os"
	"syscall"
)

// ownFolder says whether a folder is the user's own, which nobody else may enter.
func ownFolder(name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(owner.Uid) != os.Getuid() || info.Mode().Perm() != 0o700 {
		return fmt.Errorf("%s is no folder of this user's alone", name)
	}
	return nil
}
