# expect: paper=ok strict=violation rule=python_attribute line=5
# Dispatch evaluates annotations that are strings.
import functools

@functools.singledispatch
def pick(x): return 1

@pick.register
def _(x: "print(1) or int"): return 2

def run(X, Y): Y[...] = pick(1)
