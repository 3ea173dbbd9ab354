# expect: paper=ok strict=violation rule=python_attribute line=6
# An attribute walk in a format string.
import string

def run(x, y):
    string.Formatter().get_field("0.__class__", (x,), {})
