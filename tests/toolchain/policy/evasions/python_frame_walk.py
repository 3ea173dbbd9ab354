# expect: paper=ok strict=violation rule=python_attribute line=4
# From a generator to the caller's variables.
def run(x, y):
    frames = (frames.gi_frame.f_back for _ in [0])
    print(next(frames).f_locals)
