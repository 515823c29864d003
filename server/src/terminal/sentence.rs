//! Launches in words, for people who type.
//!
//! ```text
//! count [where CONDITION] [by COLUMNS] with epsilon 0.1
//! sum | mean | variance of NUMBER [where CONDITION] [by COLUMNS] with epsilon 0.1
//! search above 1000 [hits 1] [counts 0.05] with epsilon 0.05
//! share NAME with epsilon 0.2
//! ```
//!
//! `COLUMNS` are names between commas; one with numbers has edges of buckets after it: `age [0 40 100]`.
//! Noise is for an `epsilon`, a `rho` or a `mu`. A launch as JSON is taken as it is.

use serde_json::{Map, Value, json};

/// The words of sentences, for completion.
pub const WORDS: &[&str] = &[
    "count", "sum", "mean", "variance", "search", "share", "of", "where", "by", "with", "above",
    "hits", "counts", "epsilon", "delta", "rho", "mu",
];

/// Whether a launch opens a child.
pub fn is_open(launch: &Value) -> bool {
    let names = ["above_threshold", "sparse_vector", "filter"];
    names.iter().any(|name| launch.get(name).is_some())
}

/// The launch that a sentence is. An error says how to write it.
pub fn launch(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if text.starts_with('{') {
        return serde_json::from_str(text).map_err(|error| error.to_string());
    }
    let (text, loss) = split_last(text, "with")
        .ok_or("the loss is missing: end with `with epsilon 0.1`, for example")?;
    let losses = pairs(loss)?;
    let (kind, rest) = first_word(text);
    match kind.to_ascii_lowercase().as_str() {
        kind @ ("count" | "sum" | "mean" | "variance") => statistic(kind, rest, &losses),
        "search" => search(rest, &losses),
        "share" if !rest.is_empty() => {
            Ok(json!({"filter": {"name": rest, "budget": Map::from_iter(losses)}}))
        }
        "share" => Err("a share has a name: `share mine with epsilon 0.2`".to_owned()),
        _ => Err(format!(
            "{kind:?} is not known: a question is a count, sum, mean, variance, search or share"
        )),
    }
}

type Losses = Vec<(String, Value)>;

/// `epsilon 0.1 delta 0.000001`.
fn pairs(text: &str) -> Result<Losses, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let pair = |pair: &[&str]| match pair {
        [name @ ("epsilon" | "delta" | "rho" | "mu"), number] => {
            Ok(((*name).to_owned(), json!(number)))
        }
        _ => Err(format!(
            "a loss is `epsilon 0.1`, `rho 0.01` or `mu 0.2`, not {text:?}"
        )),
    };
    words.chunks(2).map(pair).collect()
}

fn statistic(kind: &str, rest: &str, losses: &Losses) -> Result<Value, String> {
    let (rest, by) = with_clause(rest, "by");
    let (rest, condition) = with_clause(rest, "where");
    let (rest, of) = with_clause(rest, "of");
    if !rest.trim().is_empty() {
        return Err(format!("{:?} cannot stand after `{kind}`", rest.trim()));
    }
    let noise = match losses.as_slice() {
        [(name, number)] if name == "epsilon" => json!({"laplace": {"epsilon": number}}),
        [(name, number)] if name != "delta" => json!({"gaussian": {name: number}}),
        _ => return Err("noise is for one of `epsilon`, `rho` and `mu`".to_owned()),
    };
    let mut statistic = Map::new();
    let texts = [("of", of), ("where", condition)];
    for (name, text) in texts {
        if let Some(text) = text {
            statistic.insert(name.to_owned(), json!(text));
        }
    }
    if let Some(by) = by {
        let columns: Result<Vec<_>, _> = outside(by, ',').map(grouping).collect();
        statistic.insert("by".to_owned(), json!(columns?));
    }
    statistic.insert("noise".to_owned(), noise);
    Ok(json!({ kind: statistic }))
}

/// `sex`, or `age [0 40 100]`.
fn grouping(text: &str) -> Result<Value, String> {
    let text = text.trim();
    let Some((column, edges)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) else {
        return Ok(json!(text));
    };
    let edges = edges.split([' ', ',']).filter(|edge| !edge.is_empty());
    let edges = edges.map(|edge| {
        let number: Result<f64, _> = edge.parse();
        number.map_err(|_| format!("an edge is a number, not {edge:?}"))
    });
    let edges: Result<Vec<_>, _> = edges.collect();
    Ok(json!({"column": column.trim(), "edges": edges?}))
}

fn search(rest: &str, losses: &Losses) -> Result<Value, String> {
    let [(name, epsilon)] = losses.as_slice() else {
        return Err("a search has one loss: `with epsilon 0.05`".to_owned());
    };
    if name != "epsilon" {
        return Err("a search has a loss in epsilon".to_owned());
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    let mut search = json!({"hits": 1, "epsilon": epsilon});
    let number = |text: &str| {
        let number: Result<i64, _> = text.parse();
        number.map_err(|_| format!("{text:?} is not a whole number"))
    };
    for pair in words.chunks(2) {
        match pair {
            ["above", text] => search["threshold"] = json!(number(text)?),
            ["hits", text] => search["hits"] = json!(number(text)?),
            ["counts", text] => search["counts_epsilon"] = json!(text),
            _ => return Err("a search is `search above 1000 hits 1 with epsilon 0.05`".to_owned()),
        }
    }
    Ok(match search.get("counts_epsilon") {
        Some(_) => json!({ "sparse_vector": search }),
        None => json!({ "above_threshold": search }),
    })
}

fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (first, rest.trim())
}

/// What is before the last such word, and what is after it. Words in quotes are texts or names.
fn split_last<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let mut found = None;
    let mut start = 0;
    for part in outside(text, ' ') {
        if part.eq_ignore_ascii_case(word) {
            found = Some((text.get(..start)?, text.get(start + part.len()..)?));
        }
        start += part.len() + 1;
    }
    found.map(|(before, after)| (before.trim(), after.trim()))
}

fn with_clause<'a>(text: &'a str, word: &str) -> (&'a str, Option<&'a str>) {
    match split_last(text, word) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

/// The parts between separators that are outside of quotes and brackets.
fn outside(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut quote, mut depth) = (None, 0_usize);
    text.split(move |character: char| {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '[') => depth += 1,
            (None, ']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        quote.is_none() && depth == 0 && character == separator
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_launches() {
        let noise = json!({"laplace": {"epsilon": "0.1"}});
        let cases = [
            ("count with epsilon 0.1", json!({"count": {"noise": noise}})),
            (
                "mean of hours * 2 where sex = 'by with where' by sex, age [0 40, 100] with rho 0.01",
                json!({"mean": {"of": "hours * 2", "where": "sex = 'by with where'",
                    "by": ["sex", {"column": "age", "edges": [0.0, 40.0, 100.0]}],
                    "noise": {"gaussian": {"rho": "0.01"}}}}),
            ),
            (
                "search above -5 with epsilon 0.1",
                json!({"above_threshold": {"threshold": -5, "hits": 1, "epsilon": "0.1"}}),
            ),
            (
                "search above 7 hits 3 counts 0.2 with epsilon 0.1",
                json!({"sparse_vector": {"threshold": 7, "hits": 3, "epsilon": "0.1", "counts_epsilon": "0.2"}}),
            ),
            (
                "share mine with epsilon 1 delta 0.001",
                json!({"filter": {"name": "mine", "budget": {"epsilon": "1", "delta": "0.001"}}}),
            ),
            (r#"{"count": 1}"#, json!({"count": 1})),
        ];
        for (text, wanted) in cases {
            assert_eq!(launch(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn an_error_says_how_to_write_it() {
        let cases = [
            (
                "count where age > 3",
                "the loss is missing: end with `with epsilon 0.1`, for example",
            ),
            (
                "count age with epsilon 1",
                "\"age\" cannot stand after `count`",
            ),
            (
                "count with sigma 1",
                "a loss is `epsilon 0.1`, `rho 0.01` or `mu 0.2`, not \"sigma 1\"",
            ),
            (
                "count with epsilon 1 delta 2",
                "noise is for one of `epsilon`, `rho` and `mu`",
            ),
            (
                "count by age [1 b] with epsilon 1",
                "an edge is a number, not \"b\"",
            ),
            ("search with rho 1", "a search has a loss in epsilon"),
            (
                "search above x with epsilon 1",
                "\"x\" is not a whole number",
            ),
            (
                "share with epsilon 1",
                "a share has a name: `share mine with epsilon 0.2`",
            ),
            (
                "median with epsilon 1",
                "\"median\" is not known: a question is a count, sum, mean, variance, search or share",
            ),
        ];
        for (text, wanted) in cases {
            assert_eq!(launch(text), Err(wanted.to_owned()), "{text}");
        }
    }
}
