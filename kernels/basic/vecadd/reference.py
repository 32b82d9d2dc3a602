def reference(case):
    case.expect("c", case.buffer("a") + case.buffer("b"))
