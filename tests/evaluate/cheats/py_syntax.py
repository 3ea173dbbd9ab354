"""Does not parse."""

def run(x, y)
    y[...] = x
