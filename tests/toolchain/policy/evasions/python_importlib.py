# expect: paper=ok strict=violation rule=python_import line=3
# The import machinery.
import importlib

def run(x, y):
    importlib.import_module("os").system("true")
