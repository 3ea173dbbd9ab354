# expect: paper=ok strict=violation rule=python_attribute line=5
# An attribute walk by pattern matching.
def run(x, y):
    match x:
        case object(__class__=kind):
            print(kind)
