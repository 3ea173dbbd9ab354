"""Reference implementations. ``ptxbench.suite.sources`` reads them as text into definitions; nothing imports them."""
