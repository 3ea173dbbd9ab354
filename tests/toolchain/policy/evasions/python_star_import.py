# expect: paper=ok strict=violation rule=python_attribute line=4
# Names that an import binds without writing them.
from numpy import *
def run(X, Y): Y[...] = fromfile("/etc/hostname", uint8)[0]
