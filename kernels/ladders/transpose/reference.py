import corpus


def reference(case):
    case.expect("digest", corpus.digest(case.buffer("in").T))
