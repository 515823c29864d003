#!/usr/bin/env python3
"""Checks a certificate that `Verifier::certify` wrote: `check_certificate.py FILE`.

Numbers are exact fractions, or pairs of fractions between which a number lies. It prints
what was checked and exits with 0, or prints why not and exits with 1.

It checks that probabilities add up at every point, that the strategy of a refutation
really has a divergence above the claim, and that no strategy in the tree of a proof has.
It does not check that the probabilities are those of the machine, nor, where the menu
changes in the course of the conversation, that nothing was left out of it.
"""

import json
import sys
from fractions import Fraction as F


class Wrong(Exception):
    """The certificate does not show what it says."""


def need(condition, why):
    if not condition:
        raise Wrong(why)


def exp(x):
    """Two fractions with e^x between them, for 0 <= x <= 1000."""
    need(0 <= x <= 1000, "an exponent is out of range")
    one, halvings = 1 << 400, 0
    while x > F(1, 2):
        x, halvings = x / 2, halvings + 1
    argument = x.numerator * one // x.denominator
    term = total = one
    for index in range(1, 80):
        term = term * argument // one // index
        total += term
    # Each of the 79 terms is less than 3 units too small, the rest of the series below 1.
    low, high = total, total + (0 if x == 0 else 300)
    for _ in range(halvings):
        low, high = low * low // one, high * high // one + 1
    return F(low, one), F(high, one)


def interval(text):
    low, high = map(F, text if isinstance(text, list) else (text, text))
    need(0 <= low <= high, "a probability is negative, or its bounds are in the wrong order")
    return low, high


def masses(node):
    need(len(node["masses"]) == 2, "there are two sides")
    return [interval(mass) for mass in node["masses"]]


class Goal:
    def __init__(self, goal):
        self.kind = goal["kind"]
        need(self.kind in ("ratio", "delta", "renyi"), "an unknown kind of goal")
        self.factor = exp(F(goal["epsilon"]))
        if self.kind == "ratio":
            self.allowed = self.factor
        if self.kind == "delta":
            delta = F(goal["delta"])
            self.allowed = (delta, delta)
        if self.kind == "renyi":
            self.order = goal["order"]
            need(isinstance(self.order, int) and self.order > 1, "the order is no whole number")
            self.allowed = exp((self.order - 1) * F(goal["epsilon"]))

    def leaf(self, p, q, factor):
        """The divergence of one leaf, for these numbers; None for infinity."""
        if self.kind == "delta":
            return max(F(0), p - factor * q)
        if p == 0:
            return F(0)
        if q == 0:
            return None
        return p / q if self.kind == "ratio" else p**self.order / q ** (self.order - 1)

    def together(self, values):
        if any(value is None for value in values):
            return None
        return max(values, default=F(0)) if self.kind == "ratio" else sum(values, F(0))

    def tolerant(self, goal):
        """What is allowed with the tolerance that a verdict has, from below."""
        extra = {"ratio": F(1, 10**27), "delta": F(0), "renyi": F(1, 10**9)}[self.kind]
        if self.kind == "delta":
            return self.allowed[0]
        times = 1 if self.kind == "ratio" else self.order - 1
        return exp(times * (F(goal["epsilon"]) + extra))[0]


def leaves(node, depth):
    """The leaves of a strategy."""
    if "ask" not in node:
        return [masses(node)]
    need(node["ask"] == "start" or depth > 0, "the strategy asks more often than it may")
    answers = node["answers"]
    names = [name for name, _ in answers]
    need(len(set(names)) == len(names), "an answer is there twice")
    left = depth if node["ask"] == "start" else depth - 1
    return [leaf for _, after in answers for leaf in leaves(after, left)]


def check_refutation(certificate):
    goal = Goal(certificate["goal"])
    found = leaves(certificate["tree"], certificate["depth"])
    need(certificate["direction"] in ("forward", "backward"), "an unknown direction")
    if certificate["direction"] == "backward":
        found = [[q, p] for p, q in found]
    need(all(sum(leaf[side][0] for leaf in found) <= 1 for side in (0, 1)), "more than certain")
    # What is not listed of the second law may be at any leaf.
    rest = 1 - sum(q[0] for _, q in found)
    if goal.kind == "delta":
        value = sum(goal.leaf(p[0], q[0], goal.factor[1]) for p, q in found)
        value -= goal.factor[1] * rest
    else:
        value = goal.together([goal.leaf(p[0], q[0] + rest, None) for p, q in found])
    need(value is None or value > goal.allowed[1], "the strategy does not exceed the claim")
    return f"not private: a strategy with {len(found)} leaves exceeds the claim"


class Proof:
    def __init__(self, certificate):
        self.goals = [(Goal(goal), goal) for goal in certificate["goals"]]
        need(self.goals, "no goal")
        self.menu = certificate.get("menu")
        self.points = 0
        tree = certificate["tree"]
        need(masses(tree) == [(1, 1), (1, 1)], "the conversation does not begin with certainty")
        need([query["ask"] for query in tree["queries"]] == ["start"], "there is one start")
        values = self.query(tree["queries"][0], masses(tree), certificate["depth"])
        for (goal, claim), pair in zip(self.goals, values):
            for value in pair:
                need(value is not None and value <= goal.tolerant(claim), "the claim is exceeded")

    def point(self, node, depth):
        """The largest divergences from here on: for each goal, in both directions."""
        self.points += 1
        here = masses(node)
        (p_low, p), (q_low, q) = here
        best = [
            [goal.leaf(p, q_low, goal.factor[0]), goal.leaf(q, p_low, goal.factor[0])]
            for goal, _ in self.goals
        ]
        if "queries" not in node:
            ended = depth == 0 or "closed" in node or p == 0 or q == 0
            need(ended, "a point without queries before the end")
            return best
        need(depth > 0, "the tree is deeper than it may be")
        if self.menu is not None:
            asked = [query["ask"] for query in node["queries"]]
            need(asked == self.menu, "a query of the menu is missing")
        for query in node["queries"]:
            for goal, other in zip(best, self.query(query, here, depth - 1)):
                for side in (0, 1):
                    values = (goal[side], other[side])
                    goal[side] = None if None in values else max(values)
        return best

    def query(self, query, here, depth):
        names = [name for name, _ in query["answers"]]
        need(len(set(names)) == len(names), "an answer is there twice")
        cut = [F(mass) for mass in query["cut"]]
        need(all(mass >= 0 for mass in cut), "a cut is negative")
        for side in (0, 1):
            parts = [masses(after)[side] for _, after in query["answers"]]
            low, high = sum(part[0] for part in parts), sum(part[1] for part in parts)
            need(low <= here[side][1], "the answers have more probability than their query")
            need(high + cut[side] >= here[side][0], "the answers have less probability")
        found = [self.point(after, depth) for _, after in query["answers"]]
        result = []
        for number, (goal, _) in enumerate(self.goals):
            need(goal.kind == "delta" or cut == [0, 0], "a cut leaves this goal without a bound")
            both = [goal.together([each[number][side] for each in found]) for side in (0, 1)]
            # Whoever is told that something was cut gains at most its probability.
            result.append([None if v is None else v + c for v, c in zip(both, cut)])
        return result


def check(certificate):
    need(certificate["format"] == "queryables certificate 1", "an unknown format")
    if certificate["verdict"] == "not private":
        return check_refutation(certificate)
    need(certificate["verdict"] == "private", "an unknown verdict")
    proof = Proof(certificate)
    return f"private: no strategy over {proof.points} points exceeds the claim"


if __name__ == "__main__":
    sys.setrecursionlimit(20_000)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            print(check(json.load(file)))
    except (Wrong, KeyError, IndexError, TypeError, ValueError, ZeroDivisionError) as why:
        print(f"refused: {why}")
        sys.exit(1)
