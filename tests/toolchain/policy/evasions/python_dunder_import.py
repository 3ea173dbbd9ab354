# expect: paper=ok strict=violation rule=python_builtin line=4
# A name that is only put together at run time.
def run(x, y):
    __import__("o" + "s").system("true")
