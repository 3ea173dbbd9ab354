# expect: paper=ok strict=violation rule=python_attribute line=6
# NumPy's way to native code.
import numpy as np

def run(x, y):
    np.ctypeslib.load_library("libcublas", "/usr/lib")
