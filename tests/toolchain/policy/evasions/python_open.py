# expect: paper=ok strict=violation rule=python_builtin line=4
# Reads files.
def run(x, y):
    with open("/proc/self/maps") as maps:
        y[:] = len(maps.read())
