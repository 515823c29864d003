// A request to copy: for a shell, for Rust, for Python. The token is not in it: it is read from the
// environment, so that it is not in the history of a shell or in a file.

import { button, element } from "./dom.js";

/** Each takes a request: `origin`, `method`, `path`, `body` and perhaps `key`. */
const SNIPPETS = { curl, Rust: rust, Python: python };

const shellQuoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

function curl({ origin, method, path, body, key }) {
  const lines = [
    `curl -sS -X ${method} ${shellQuoted(origin + path)}`,
    `-H "Authorization: Bearer $QUERYABLES_TOKEN"`,
    `-H 'Content-Type: application/json'`,
  ];
  if (key) lines.push(`-H 'Idempotency-Key: ${key}'`);
  lines.push(`--data ${shellQuoted(JSON.stringify(body))}`);
  return lines.join(" \\\n  ");
}

/** A raw text with as many `#` as it needs. */
function rustRaw(text) {
  let marks = "#";
  while (text.includes(`"${marks}`)) marks += "#";
  return `r${marks}"${text}"${marks}`;
}

function rust({ origin, path, body, key }) {
  const header = key ? `\n        .header("Idempotency-Key", "${key}")` : "";
  return `// [dependencies] serde_json = "1", ureq = { version = "3", features = ["json"] }
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let token = std::env::var("QUERYABLES_TOKEN")?;
    let question: serde_json::Value = serde_json::from_str(
        ${rustRaw(JSON.stringify(body))},
    )?;
    let mut response = ureq::post(${rustRaw(origin + path)})
        .header("Authorization", format!("Bearer {token}"))${header}
        .send_json(&question)?;
    let reply: serde_json::Value = response.body_mut().read_json()?;
    println!("{reply}");
    Ok(())
}
`;
}

/** JSON that is Python as well: its own words for true, false and null. */
function pythonValue(value) {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(", ")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}: ${pythonValue(inner)}`).join(", ")}}`;
  }
  return JSON.stringify(value);
}

function python({ origin, method, path, body, key }) {
  const last = key ? `, key=${JSON.stringify(key)}` : "";
  return `# client.py is in server/examples of queryables.
import os
from client import Client

client = Client(${JSON.stringify(origin)}, os.environ["QUERYABLES_TOKEN"])
question = ${pythonValue(body)}
print(client.request("${method}", ${JSON.stringify(path)}, question${last}))
`;
}

/** A request, ready to be copied. */
export function snippetView(asked) {
  return element("div", {}, Object.entries(SNIPPETS).map(([name, write]) => {
    const text = write(asked);
    const copy = button("Copy", async () => {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    }, { "aria-label": `Copy as ${name}` });
    return element("div", { class: "snippet" },
      element("div", { class: "snippet-head" }, element("h3", {}, name), copy),
      element("pre", { tabindex: "0", "data-language": name }, text));
  }));
}
