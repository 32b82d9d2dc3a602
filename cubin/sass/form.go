package sass

// An Op is a base opcode, as in FFMA.
type Op uint16

// A ModKind names a modifier field, as in Round.
type ModKind uint8

// A Form is one row of the table: one operand form of one instruction.
type Form struct {
	Op Op
}
