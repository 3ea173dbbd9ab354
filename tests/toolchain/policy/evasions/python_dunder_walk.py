# expect: paper=ok strict=violation rule=python_attribute line=4
# From a tuple to every class of the interpreter.
def run(x, y):
    for kind in ().__class__.__base__.__subclasses__():
        print(kind)
