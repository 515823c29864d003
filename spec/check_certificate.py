#!/usr/bin/env python3
"""Checks a certificate that `Verifier::certify` wrote: `check_certificate.py FILE`.

Numbers are exact fractions, or pairs of them between which a number lies. It prints what was
checked, or why not and exits with 1. It checks that probabilities add up at every point, within
their bounds, that the strategy of a refutation has a divergence above the claim, and that no
strategy over the points of a proof has. A point of a proof is listed once for all answers that
lead to it, each with a factor for its probabilities. It does not check that probabilities, and
what is listed once, are those of the machine, nor that a menu that changes has everything.
"""
import json
import sys
from fractions import Fraction as F


def need(condition, why):
    if not condition:
        raise ValueError(why)


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


def masses(node):
    both = [list(map(F, of if isinstance(of, list) else (of, of))) for of in node["masses"]]
    need(all(0 <= low <= high for low, high in both), "a negative probability, or wrong bounds")
    return both


class Goal:
    def __init__(self, goal):
        self.kind, epsilon = goal["kind"], F(goal["epsilon"])
        need(self.kind in ("ratio", "delta", "renyi"), "an unknown kind of goal")
        self.said = " ".join(map(str, goal.values()))
        self.degree = 0 if self.kind == "ratio" else 1  # in the probabilities
        self.order = goal["order"] if self.kind == "renyi" else 2
        need(type(self.order) is int and self.order > 1, "the order is no whole number")
        self.factor, self.allowed = exp(epsilon), exp((self.order - 1) * epsilon)
        # A verdict may need this tolerance in epsilon: see `Verdict::holds`.
        self.extra = "1e-9" if self.kind == "renyi" else "1e-27"
        self.tolerated = exp((self.order - 1) * (epsilon + F(self.extra)))[0]
        if self.kind == "delta":
            self.tolerated, self.allowed = F(goal["delta"]), [F(goal["delta"])] * 2
            need(0 <= self.tolerated < 1, "a delta of 1 or more allows everything")

    def leaf(self, p, q, factor):
        """The divergence of one leaf, for these numbers; None for infinity."""
        if self.kind == "delta":
            return max(F(0), p - factor * q)
        if 0 in (p, q):
            return F(0) if p == 0 else None
        return p / q if self.kind == "ratio" else p**self.order / q ** (self.order - 1)

    def together(self, values):
        all_of = max if self.kind == "ratio" else sum
        return None if None in values else all_of([F(0), *values])


def leaves(node, depth, first, menu):
    """The leaves of a strategy that may ask this often after the first query."""
    if "ask" not in node:
        return [masses(node)]
    need(depth >= 0, "the strategy asks more often than it may")
    need(node["ask"] in first, "a query that is not on the menu")
    nodes = once(node["answers"], "an answer is there twice").values()
    return [leaf for after in nodes for leaf in leaves(after, depth - 1, menu, menu)]


def check_refutation(certificate):
    goal = Goal(certificate["goal"])
    tree, menu = certificate["tree"], certificate["menu"]
    starts = tree.get("ask") == "start"  # Left out where it always goes the same way.
    found = leaves(tree, certificate["depth"] - (not starts), ["start"] if starts else menu, menu)
    need(certificate["direction"] in ("forward", "backward"), "an unknown direction")
    found = [[q, p] for p, q in found] if certificate["direction"] == "backward" else found
    cut, rest = F(certificate["cut"]), 1 - sum(q[0] for _, q in found)
    need(all(sum(leaf[side][0] for leaf in found) <= 1 for side in (0, 1)), "more than certain")
    enough = all(sum(leaf[side][1] for leaf in found) + cut >= 1 for side in (0, 1))
    need(enough and cut >= 0, "less than certain")
    # What is above the lower bounds of the second law may be at any leaf; some of it was cut.
    cut = min(cut, rest)
    if goal.kind == "delta":
        value = sum(goal.leaf(p[0], q[1], goal.factor[1]) for p, q in found) - goal.factor[1] * cut
    else:
        value = goal.together([goal.leaf(p[0], min(q[0] + rest, q[1] + cut), None) for p, q in found])
    need(value is None or value > goal.allowed[1], "the strategy does not exceed the claim")
    return f"not private: a strategy with {len(found)} leaves exceeds {goal.said}"


class Proof:
    def __init__(self, certificate):
        self.goals = [Goal(goal) for goal in certificate["goals"]]
        need(self.goals, "no goal")
        self.menu, self.changes = certificate["menu"], certificate["menu changes"] == "yes"
        self.depth, self.points, self.says = certificate["depth"], [], False
        self.said = ", ".join(goal.said for goal in self.goals)
        # Each comes before those that lead to it, so that its values are known by then.
        for node in certificate["points"]:
            self.points.append(self.point(node))
        values = self.query(certificate["start"], [(1, 1), (1, 1)], self.depth, starts=True)
        need(self.says, "nothing is answered, and nothing differs")
        for goal, (*most, low, other) in zip(self.goals, values):
            need(None not in most and max(most) <= goal.tolerated, "the claim is exceeded")
            need(max(low, other) <= goal.allowed[1], "the claim is exceeded within the tolerance")
            if max(most) > goal.allowed[0]:
                self.said += f", up to {goal.extra} in epsilon"

    def point(self, node):
        """Its probabilities, how many queries are left (0 if none is asked), and for each goal the
        largest divergences in both directions, from above and from below."""
        (p_low, p), (q_low, q) = here = masses(node)
        pairs = ((p, q_low, 0), (q, p_low, 0), (p_low, q, 1), (q_low, p, 1))
        best = [[goal.leaf(a, b, goal.factor[end]) for a, b, end in pairs] for goal in self.goals]
        if "queries" not in node:
            return here, 0, best
        left, asked = node["left"], [query["ask"] for query in node["queries"]]
        need(type(left) is int and left > 0, "queries where none are left")
        need(self.changes or asked == self.menu, "a query of the menu is missing")
        need(asked or left < self.depth, "nothing is asked at the start")
        for query in node["queries"]:
            for goal, other in zip(best, self.query(query, here, left - 1)):
                goal[:] = [None if None in pair else max(pair) for pair in zip(goal, other)]
        return here, left, best

    def answer(self, name, index, factor, left, starts):
        """The probabilities and divergences of the point after an answer, times the factor."""
        need(type(index) is int and 0 <= index < len(self.points), "not an earlier point")
        factor, (here, of_point, values) = F(factor), self.points[index]
        need(factor > 0, "a factor is not positive")
        need(name[0] in ("answer", "fault", "end"), "an unknown kind of answer")
        self.says |= name[0] == "answer" and not starts or here[0] != here[1]
        over = left == 0 or name[0] == "end" or [0, 0] in here  # After a fault it goes on.
        need(of_point > 0 or over, "a point without queries before the end")
        need(of_point in (0, left), "a point with another number of queries left")
        values = [[v and v * factor**g.degree for v in of] for g, of in zip(self.goals, values)]
        return [[bound * factor for bound in side] for side in here], values

    def query(self, query, here, left, starts=False):
        once([(name, None) for name, _, _ in query["answers"]], "an answer is there twice")
        cut = [F(query["cut"][side]) for side in (0, 1)]
        need(min(cut) >= 0, "a cut is negative")
        found = [self.answer(*answer, left, starts) for answer in query["answers"]]
        for side in (0, 1):
            low, high = (sum(part[side][end] for part, _ in found) for end in (0, 1))
            need(low <= here[side][1], "the answers have more probability than their query")
            need(high + cut[side] >= here[side][0], "the answers have less probability")
        result = []
        for number, goal in enumerate(self.goals):
            need(goal.kind == "delta" or cut == [0, 0], "a cut leaves this goal without a bound")
            values = [goal.together([each[number][i] for _, each in found]) for i in range(4)]
            # Whoever is told that something was cut gains at most its probability.
            result.append([None if v is None else v + c for v, c in zip(values, [*cut, 0, 0])])
        return result


def once(pairs, why="a key is there twice"):
    need(len({str(key) for key, _ in pairs}) == len(pairs), why)
    return {str(key): value for key, value in pairs}


def check(certificate):
    need(certificate["format"] == "queryables certificate 3", "an unknown format")
    depth, menu, (one, other) = (certificate[key] for key in ("depth", "menu", "sides"))
    need(type(depth) is int and depth >= 1, "a depth of 0 asks nothing")
    need(isinstance(menu, list) and menu, "an empty menu asks nothing")
    need(one != other or one.endswith("…"), "the two sides are the same")  # or begin alike
    scope = f"; depth {depth}, {len(menu)} on the menu, {one} against {other}"
    if certificate["verdict"] == "not private":
        return check_refutation(certificate) + scope
    need(certificate["verdict"] == "private", "an unknown verdict")
    proof = Proof(certificate)
    scope += ", and the menu changes" if proof.changes else ""
    return f"private: no strategy over {len(proof.points)} points exceeds {proof.said}{scope}"


if __name__ == "__main__":
    sys.setrecursionlimit(20_000)
    getattr(sys, "set_int_max_str_digits", id)(0)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            print(check(json.load(file, object_pairs_hook=once)))
    except (LookupError, AttributeError, TypeError, ValueError, ArithmeticError) as why:
        print(f"refused: {why}")
        sys.exit(1)
