"""The proof of the protocol's section 6: executed instructions, joined with their opcodes, and what follows from them. Pure."""
