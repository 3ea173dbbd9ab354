# expect: paper=ok strict=ok
# A source that does not parse breaks no rule by that.
def run(x, y)
    y[:] = x
