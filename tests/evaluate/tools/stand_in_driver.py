"""Plays the CUDA driver that writes core dumps: makes the pipe, and for each byte out of it writes the next piece of a dump.

The first argument says how: `closes` the file behind each piece, `keeps` it open, `moves` it to its place, or `ends` behind the
last piece without waiting to be let go. The pieces are hexadecimal arguments; the places are in the driver's own environment
variables. Says `ready` when the pipe is there.
"""

import os
import sys

pipe, core = os.environ["CUDA_COREDUMP_PIPE"], os.environ["CUDA_COREDUMP_FILE"]
how, *pieces = sys.argv[1:]
os.mkfifo(pipe)
reading = os.open(pipe, os.O_RDWR)
print("ready", flush=True)
written = f"{core}.new" if how == "moves" else core
for piece in pieces:
    os.read(reading, 1)
    file = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, bytes.fromhex(piece))
    if how != "keeps":
        os.close(file)
    if how == "moves":
        os.rename(written, core)
if how != "ends":
    sys.stdin.read()
