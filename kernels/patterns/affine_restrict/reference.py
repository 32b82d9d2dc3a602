from corpus import fma32


def reference(case):
    case.expect("out", fma32(case.buffer("in"), case.buffer("scale"), case.buffer("shift")))
