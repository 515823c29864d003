//! The prompt. What was typed can be called back with the arrow keys; it is not written to a file.

use std::error::Error;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};
use serde_json::{Value, json};

use super::client::{Client, Failure, encoded};
use super::{launch_in, sentence};

const HELP: &str = "\
count where age >= 18 by sex with epsilon 0.1   answers once; also sum, mean, variance of a number
search above 1000 hits 1 with epsilon 0.05      opens a search: `ask 1 age <= 40`, `close 1`
share mine with epsilon 0.2                     sets a share of the budget aside
preview QUESTION                                what it would cost; charges nothing
datasets, use NAME, columns, children, help, quit";

const COMMANDS: &[&str] = &[
    "preview", "ask", "close", "datasets", "use", "columns", "children", "help", "quit",
];

/// A conversation with the server until its end.
struct Prompt<'a> {
    client: &'a Client,
    datasets: Vec<Value>,
    dataset: String,
    /// Children, by the number that they have here: identifiers are long.
    children: Vec<Open>,
}

struct Open {
    child: String,
    question: String,
    next: u64,
}

/// Reads lines until the end of the input.
pub fn run(client: &Client) -> Result<(), Box<dyn Error>> {
    let mut prompt = Prompt {
        client,
        datasets: Vec::new(),
        dataset: String::new(),
        children: Vec::new(),
    };
    prompt.refresh()?;
    let config = Config::builder().auto_add_history(true).build();
    let mut editor = Editor::with_history(config, MemHistory::new())?;
    println!("{}", prompt.budget());
    loop {
        editor.set_helper(Some(Words(prompt.words())));
        let line = match editor.readline(&format!("{}> ", prompt.dataset)) {
            Ok(line) => line,
            Err(ReadlineError::Eof | ReadlineError::Interrupted) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        match line.trim() {
            "" => {}
            "quit" | "exit" => return Ok(()),
            line => match prompt.answer(line) {
                Ok(text) => println!("{text}"),
                Err(error) => println!("{error}"),
            },
        }
    }
}

impl Prompt<'_> {
    fn answer(&mut self, line: &str) -> Result<String, Box<dyn Error>> {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        Ok(match command {
            "help" => HELP.to_owned(),
            "datasets" => {
                self.refresh()?;
                let names = self
                    .datasets
                    .iter()
                    .filter_map(|view| view["name"].as_str());
                names.collect::<Vec<_>>().join("\n")
            }
            "use" if self.view(rest).is_some() => {
                self.dataset = rest.to_owned();
                self.budget()
            }
            "use" => return Err(format!("there is no dataset {rest:?}").into()),
            "columns" => self.columns(),
            "children" => {
                let children = self.children.iter().enumerate();
                let lines =
                    children.map(|(place, open)| format!("{} {}", place + 1, open.question));
                lines.collect::<Vec<_>>().join("\n")
            }
            "ask" => self.ask(rest)?,
            "close" => {
                let place = self.child(rest)?;
                let open = self.children.get(place).ok_or("there is no such child")?;
                self.client
                    .delete(&format!("/v1/children/{}", open.child))?;
                "closed: what it cost stands".to_owned()
            }
            "preview" => self.preview(&sentence::launch(rest)?)?,
            _ => self.launch(&sentence::launch(line)?)?,
        })
    }

    fn preview(&self, launch: &Value) -> Result<String, Failure> {
        let path = format!("{}/preview", self.place());
        let seen = self.client.post(&path, launch, None)?;
        let accuracy = seen["accuracy"].as_f64();
        let accuracy =
            accuracy.map_or_else(|| "unknown".to_owned(), |distance| distance.to_string());
        Ok(format!(
            "costs {}, fits {} times, error bar ± {accuracy} ({})",
            loss(&seen["cost"]),
            seen["launches_left"],
            seen["confidence"].as_str().unwrap_or_default(),
        ))
    }

    fn launch(&mut self, launch: &Value) -> Result<String, Failure> {
        let reply = launch_in(self.client, &self.place(), launch, None)?;
        let cost = format!(
            "cost {}, left {}",
            loss(&reply["loss"]),
            loss(&reply["remaining"])
        );
        Ok(match reply["child"].as_str() {
            Some(child) => {
                self.children.push(Open {
                    child: child.to_owned(),
                    question: reply["question"].as_str().unwrap_or_default().to_owned(),
                    next: reply["next"].as_u64().unwrap_or_default(),
                });
                format!("child {} is open\n{cost}", self.children.len())
            }
            None => format!("{}\n{cost}", answer(&reply)),
        })
    }

    fn ask(&mut self, rest: &str) -> Result<String, Box<dyn Error>> {
        let (number, condition) = rest.split_once(' ').unwrap_or((rest, ""));
        let place = self.child(number)?;
        let open = self
            .children
            .get_mut(place)
            .ok_or("there is no such child")?;
        let question = json!({"number": open.next, "where": condition.trim()});
        let path = format!("/v1/children/{}/ask", open.child);
        let reply = self.client.post(&path, &question, None)?;
        open.next = reply["next"].as_u64().unwrap_or(open.next);
        Ok(match &reply["answer"] {
            Value::Bool(true) => "above the threshold".to_owned(),
            Value::Bool(false) | Value::Null => "below the threshold".to_owned(),
            count => format!("above the threshold: about {count}"),
        })
    }

    fn child(&self, number: &str) -> Result<usize, String> {
        let number: Option<usize> = number.parse().ok();
        let place = number.and_then(|number| number.checked_sub(1));
        place.ok_or_else(|| "name a child by its number: `ask 1 age <= 40`".to_owned())
    }

    fn place(&self) -> String {
        format!("/v1/datasets/{}", encoded(&self.dataset))
    }

    fn refresh(&mut self) -> Result<(), Failure> {
        let views = self.client.get("/v1/datasets")?;
        self.datasets = views.as_array().cloned().unwrap_or_default();
        if self.view(&self.dataset).is_none() {
            let first = self.datasets.first().and_then(|view| view["name"].as_str());
            self.dataset = first.unwrap_or_default().to_owned();
        }
        Ok(())
    }

    fn view(&self, name: &str) -> Option<&Value> {
        self.datasets.iter().find(|view| view["name"] == name)
    }

    fn budget(&self) -> String {
        match self.view(&self.dataset) {
            Some(view) => format!(
                "{} has {} left of {}; `help` says what can be asked",
                self.dataset,
                loss(&view["remaining"]),
                loss(&view["limit"])
            ),
            None => "this token has no dataset".to_owned(),
        }
    }

    fn column_views(&self) -> &[Value] {
        let columns = self.view(&self.dataset);
        let columns = columns.and_then(|view| view["schema"]["columns"].as_array());
        columns.map_or(&[], Vec::as_slice)
    }

    fn columns(&self) -> String {
        let lines = self.column_views().iter().map(|column| {
            let domain = ["range", "categories"]
                .iter()
                .find_map(|name| column.get(name));
            let domain = domain.map(ToString::to_string).unwrap_or_default();
            let text = |name: &str| column[name].as_str().unwrap_or_default();
            format!("{} {} {domain}", text("name"), text("type"))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// What can be completed: commands, words of sentences, datasets and columns.
    fn words(&self) -> Vec<String> {
        let known = COMMANDS.iter().chain(sentence::WORDS).copied();
        let named = self.datasets.iter().chain(self.column_views());
        let named = named.filter_map(|view| view["name"].as_str());
        known.chain(named).map(str::to_owned).collect()
    }
}

/// `epsilon 0.1`.
fn loss(loss: &Value) -> String {
    let numbers = loss.as_object().into_iter().flatten();
    let numbers =
        numbers.map(|(name, number)| format!("{name} {}", number.as_str().unwrap_or("?")));
    numbers.collect::<Vec<_>>().join(", ")
}

/// A number with its interval, or a line for each group.
fn answer(reply: &Value) -> String {
    let Some(rows) = reply["answer"]["rows"].as_array() else {
        return estimate(reply);
    };
    let lines = rows.iter().map(|row| {
        let group = row["group"].as_array().into_iter().flatten();
        let group: Vec<_> = group.filter_map(Value::as_str).collect();
        format!("{}: {}", group.join(", "), estimate(row))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A noisy number and its interval, rounded for reading as on the page. What is null is beyond all numbers.
fn estimate(reply: &Value) -> String {
    let answer = number(&reply["answer"], "unknown");
    let low = number(&reply["interval"][0], "-∞");
    let high = number(&reply["interval"][1], "∞");
    format!("{answer}, between {low} and {high}")
}

fn number(value: &Value, beyond: &str) -> String {
    let Some(number) = value.as_f64() else {
        return beyond.to_owned();
    };
    let digits = if number.abs() < 100.0 { 3 } else { 1 };
    let text = format!("{number:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Completes the last word.
struct Words(Vec<String>);

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let before = line.get(..position).unwrap_or_default();
        let start = before.rfind([' ', ',', '(']).map_or(0, |place| place + 1);
        let begun = before.get(start..).unwrap_or_default();
        let fitting = self.0.iter().filter(|word| word.starts_with(begun));
        Ok((start, fitting.cloned().collect()))
    }
}

impl Hinter for Words {
    type Hint = String;
}
impl Highlighter for Words {}
impl Validator for Words {}
impl Helper for Words {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_completed() {
        let words = Words(["where", "with", "age"].map(str::to_owned).to_vec());
        let history = MemHistory::new();
        let complete = |line: &str| {
            let context = Context::new(&history);
            words.complete(line, line.len(), &context).unwrap()
        };
        let both = vec!["where".to_owned(), "with".to_owned()];
        assert_eq!(complete("count w"), (6, both));
        assert_eq!(complete("count where (a"), (13, vec!["age".to_owned()]));
        assert_eq!(complete("x"), (0, Vec::new()));
    }

    #[test]
    fn an_estimate_is_rounded_for_reading() {
        let one = json!({"answer": 23.0, "interval": [-277.00000000000006, 323.00000000000006]});
        assert_eq!(answer(&one), "23, between -277 and 323");
        let mean = json!({"answer": 38.4567, "interval": [null, 100.0]});
        let rows = json!({"answer": {"rows": [{"group": ["Male"], "answer": mean["answer"], "interval": mean["interval"]}]}});
        assert_eq!(answer(&rows), "Male: 38.457, between -∞ and 100");
    }
}
