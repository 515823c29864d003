// Requests to the server. The token is in a variable of this module and nowhere else: no cookie, no
// storage, no address.

let token = null;

export function setToken(text) {
  token = text;
}

/** An error of the server: `code` is one of a fixed list, `problem` has everything it said. */
export class Problem extends Error {
  constructor(problem) {
    super(problem.detail ?? problem.title ?? problem.code);
    this.code = problem.code;
    this.problem = problem;
  }
}

/** The server could not be reached. */
const UNREACHABLE = {
  code: "unreachable",
  title: "The server cannot be reached. Trying again with the same key charges nothing twice.",
};

const TRY_AGAIN = ["busy", "too_many", "unavailable"];
/** Long enough for a server that restarts. */
const TRIES = 20;

/**
 * One request. A lost reply is asked for again with the same body, and so with the same key or number:
 * the server charges it once.
 */
export async function request(method, path, { body, key, signal, tries = TRIES, lost = () => {} } = {}) {
  const headers = { Authorization: `Bearer ${token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key !== undefined) headers["Idempotency-Key"] = key;
  for (let left = tries - 1; ; left -= 1) {
    let problem = UNREACHABLE;
    try {
      const response = await fetch(path, {
        method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body),
        credentials: "omit", cache: "no-store", redirect: "error",
      });
      const text = await response.text();
      const isJson = /json$/.test(response.headers.get("Content-Type") ?? "");
      const value = isJson ? JSON.parse(text) : text;
      if (response.ok) return value;
      problem = isJson ? value : { code: "unknown", title: `The server answered ${response.status}.` };
      if (!TRY_AGAIN.includes(problem.code)) throw new Problem(problem);
    } catch (error) {
      if (error instanceof Problem || error.name === "AbortError") throw error;
    }
    if (left <= 0) throw new Problem(problem);
    lost(problem);
    await pause(1000, signal);
  }
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** A key that nobody has used: 128 random bits. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The address of a budget: that of a dataset, or of a share of it. */
export function budgetPath(dataset, share) {
  return share ? `/v1/children/${encodeURIComponent(share)}` : `/v1/datasets/${encodeURIComponent(dataset)}`;
}
