"""Stands in for ``ncu_report`` where that is not installed: the same calls, on a report that is the JSON of its content."""

from __future__ import annotations

import json


class Ids:
    def __init__(self, pairs):
        self.pairs = pairs

    def as_string(self, index):
        return self.pairs[index][0]


class Metric:
    def __init__(self, pairs):
        self.pairs = pairs

    def correlation_ids(self):
        return Ids(self.pairs)

    def num_instances(self):
        return len(self.pairs)

    def as_uint64(self, index):
        return self.pairs[index][1]


class Action:
    NameBase_MANGLED = 2

    def __init__(self, kernel):
        self.kernel = kernel

    def name(self, base):
        return self.kernel["name"]

    def metric_by_name(self, name):
        return Metric(self.kernel[name]) if name in self.kernel else None


class Range:
    def __init__(self, kernels):
        self.kernels = kernels

    def num_actions(self):
        return len(self.kernels)

    def action_by_idx(self, index):
        return Action(self.kernels[index])


class Context:
    def __init__(self, kernels):
        self.kernels = kernels

    def num_ranges(self):
        return 1

    def range_by_idx(self, index):
        return Range(self.kernels)


def load_report(name):
    return Context(json.load(open(name))["kernels"])
