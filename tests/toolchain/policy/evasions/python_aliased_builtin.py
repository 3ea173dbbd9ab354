# expect: paper=ok strict=violation rule=python_builtin line=3
# A built-in under another name.
reach = getattr

def run(x, y):
    reach(x, "__cl" + "ass__")
