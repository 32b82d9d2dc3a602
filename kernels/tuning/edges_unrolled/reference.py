import numpy as np


def reference(case):
    case.expect("out", case.buffer("cost")[case.buffer("ends")].min(axis=0))
