"""Which words of a system header decide its assembly and its includes."""

from __future__ import annotations

from ptxbench.toolchain.policy.header_words import header_words

HEADER = r"""
#define QUALIFIER __volatile__
#define ASK(level, a) __asm__ QUALIFIER ("cpuid" #level TAIL : "=a"(a) : "0"(ADDED))
#define LABEL(name) PREFIX #name
static inline void stop(int x) { asm volatile ("hlt" EXTRA : "+r"(OPERAND)); } // asm (COMMENTED)
extern int scan(const char *) __asm__ (LABEL(scan));
#define ROOT thrust
#define NAME <ROOT/x.h>
#include NAME
const char *text = "asm (QUOTED)";
int asm_like (PLAIN);
"""


def test_words_between_asm_and_its_operands_count_and_others_do_not() -> None:
    words = header_words([HEADER]).assembly
    assert {"volatile", "__volatile__", "QUALIFIER", "TAIL", "EXTRA", "LABEL", "PREFIX"} <= words
    assert not words & {"level", "a", "ADDED", "OPERAND", "COMMENTED", "QUOTED", "PLAIN", "ROOT", "x"}


def test_words_that_name_an_included_file_are_followed_through_macros() -> None:
    words = header_words([HEADER]).includes
    assert {"NAME", "ROOT"} <= words and "PREFIX" not in words
    assert header_words(["#include NAME\n", "#define NAME SECOND\n", "#define SECOND <x>\n"]).includes >= {"NAME", "SECOND"}
