package cubin

// lineTable maps instruction offsets to source lines.
type lineTable struct{}
