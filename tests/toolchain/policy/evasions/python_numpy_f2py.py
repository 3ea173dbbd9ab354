# expect: paper=ok strict=violation rule=python_import line=3
# A compiler inside NumPy.
from numpy import f2py

def run(x, y):
    f2py.compile(b"")
