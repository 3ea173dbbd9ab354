"""Start of a candidate's process: ``python -I -S boot.py CHANNEL``.

The interpreter runs without site-packages and the checkout need not be importable, so the sibling files are made a package by
hand; nothing else of ptxbench is ever loaded here.
"""

import importlib
import sys
import types

package = types.ModuleType("ptxbench_inside")
package.__path__ = [__file__.rpartition("/")[0]]
sys.modules["ptxbench_inside"] = package
importlib.import_module("ptxbench_inside.main").main(int(sys.argv[1]))
