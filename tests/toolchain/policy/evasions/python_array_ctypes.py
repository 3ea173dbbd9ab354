# expect: paper=ok strict=violation rule=python_attribute line=4
# From an array to ctypes.
def run(x, y):
    x.ctypes._ctypes.CDLL(None)
