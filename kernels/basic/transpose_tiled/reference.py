def reference(case):
    case.expect("out", case.buffer("in").T)
