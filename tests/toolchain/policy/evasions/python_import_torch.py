# expect: paper=ok strict=violation rule=python_import line=3
# The work of another library.
import torch

def run(x, y):
    y[:] = torch.from_numpy(x).softmax(-1).numpy()
