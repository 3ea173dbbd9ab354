# expect: paper=ok strict=violation rule=python_import line=3
# The same, imported.
from enum import bltns as harmless
def run(X, Y): harmless.exec("1")
