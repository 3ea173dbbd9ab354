# expect: paper=ok strict=violation rule=python_builtin line=4
# Code in a string.
def run(x, y):
    eval("__imp" + "ort__('os')")
