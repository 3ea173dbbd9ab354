# expect: paper=ok strict=violation rule=python_import line=3
# Native code without a compiler.
from ctypes import CDLL

def run(x, y):
    CDLL("libcublas.so.13")
