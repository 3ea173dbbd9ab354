# expect: paper=ok strict=violation rule=python_attribute line=6
# A module that an allowed module imports.
import dataclasses

def run(x, y):
    print(dataclasses.sys.argv)
