"""A client of queryables-server: one file, and nothing but Python's own library.

    from client import Client, Problem

    census = Client("http://127.0.0.1:8400", token).dataset("census")
    adults = {"count": {"where": "age >= 18", "noise": {"laplace": {"epsilon": "0.1"}}}}
    print(census.preview(adults)["cost"])
    reply = census.release(adults)
    print(reply["answer"], reply["interval"])

    search = census.open({"above_threshold": {"threshold": 1000, "hits": 1, "epsilon": "0.05"}})
    for age in range(20, 90, 5):
        if search.ask(f"age <= {age}"):
            break

Lost replies are asked for again, with the same key or number: nothing is charged twice.
"""

import json
import sys
import time
import urllib.error
import urllib.request
import uuid


class Problem(Exception):
    """An error of the server. `code` is one of a fixed list; `problem` has everything it said."""

    def __init__(self, problem):
        self.problem = problem
        self.code = problem.get("code", "unknown")
        super().__init__(problem.get("detail") or problem.get("title") or self.code)


class Client:
    """A server, and the token of an analyst."""

    def __init__(self, address, token, tries=5, timeout=60):
        self._address = address.rstrip("/")
        self._token = token
        self._tries = tries
        self._timeout = timeout
        # No proxy: a token is for the server alone.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def request(self, method, path, body=None, key=None):
        """One request, tried again where that charges nothing twice."""
        headers = {"Authorization": f"Bearer {self._token}"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        for remaining in reversed(range(self._tries)):
            request = urllib.request.Request(self._address + path, data, headers, method=method)
            try:
                with self._opener.open(request, timeout=self._timeout) as response:
                    text = response.read()
                    return json.loads(text) if text else None
            except urllib.error.HTTPError as error:
                problem = json.loads(error.read() or b"{}")
                if remaining and problem.get("code") in ("busy", "too_many", "unavailable"):
                    time.sleep(float(error.headers.get("Retry-After", "1")))
                    continue
                raise Problem(problem) from None
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if not remaining:
                    raise
                time.sleep(1)

    def me(self):
        """Whose token it is, and its role: analyst or curator."""
        return self.request("GET", "/v1/me")

    def datasets(self):
        """What the analyst may see: schemas and budgets."""
        return self.request("GET", "/v1/datasets")

    def dataset(self, name):
        """A dataset to ask."""
        return Budget(self, f"/v1/datasets/{name}")

    def children(self):
        """The analyst's own children that are open."""
        return [child(self, view) for view in self.request("GET", "/v1/children")]


class Budget:
    """A dataset, or a share of its budget."""

    def __init__(self, client, path):
        self._client = client
        self._path = path

    def view(self):
        """The schema, the budget and what is left of it."""
        return self._client.request("GET", self._path)

    def preview(self, launch):
        """What a launch would cost, how often it fits, how accurate it would be. Charges nothing."""
        return self._client.request("POST", self._path + "/preview", launch)

    def release(self, launch, key=None):
        """An answer. With the same key it is the same answer, and is charged once."""
        key = key or str(uuid.uuid4())
        return self._client.request("POST", self._path + "/release", launch, key)

    def open(self, launch, key=None):
        """A child: a search to ask, or a share to launch in. The name of a share is its key."""
        if "filter" not in launch:
            key = key or str(uuid.uuid4())
        return child(self._client, self._client.request("POST", self._path + "/children", launch, key))


def child(client, view):
    """The child that a view is of."""
    path = f"/v1/children/{view['child']}"
    if view["kind"] == "filter":
        return Budget(client, path)
    return Conversation(client, path, view["next"], view["exhausted"])


class Conversation:
    """A child that is asked one question after the other."""

    def __init__(self, client, path, number, exhausted):
        self._client = client
        self._path = path
        self._number = number
        # Whether it answers no more: all its hits were found, for example.
        self.exhausted = exhausted

    def ask(self, condition=None, time=None):
        """Its answer; a count over time is asked by `time`, the number of buckets that have passed.

        A lost reply is asked for again, under the same number.
        """
        question = {"number": self._number}
        if condition is not None:
            question["where"] = condition
        if time is not None:
            question["time"] = time
        reply = self._client.request("POST", self._path + "/ask", question)
        self._number = reply["next"]
        self.exhausted = reply["exhausted"]
        return reply["answer"]

    def close(self):
        """Ends it. Its charge stands."""
        self._client.request("DELETE", self._path)


def main(address, token):
    """Asks the census of the demonstration."""
    client = Client(address, token)
    for view in client.datasets():
        print(view["name"], "has", view["remaining"], "left of", view["limit"])
    census = client.dataset("census")
    question = {"count": {"where": "age >= 40", "noise": {"laplace": {"epsilon": "0.1"}}}}
    preview = census.preview(question)
    print("costs", preview["cost"], "and is within", preview["accuracy"])
    reply = census.release(question)
    print("people from 40 on:", reply["answer"], "in", reply["interval"])
    search = census.open({"above_threshold": {"threshold": 2500, "hits": 1, "epsilon": "0.1"}})
    for age in range(20, 91, 5):
        if search.ask(f"age <= {age}"):
            print("half of the people are at most about", age)
            break
    search.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: client.py ADDRESS TOKEN")
    main(*sys.argv[1:])
