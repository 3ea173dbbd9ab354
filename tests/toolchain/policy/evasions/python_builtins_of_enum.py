# expect: paper=ok strict=violation rule=python_attribute line=4
# enum knows the built-ins by a name of its own.
import enum
def run(X, Y): enum.bltns.eval("1")
