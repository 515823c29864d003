//! Expressions from text: a grammar of one screen.
//!
//! ```text
//! or        = and { OR and }
//! and       = not { AND not }
//! not       = NOT not | predicate
//! predicate = sum [ comparison sum | IS [NOT] NULL | [NOT] IN ( constants )
//!                 | [NOT] BETWEEN constant AND constant ]
//! sum       = product { + product | - product }
//! product   = single { * single }
//! single    = column | constant | ( or )
//! ```
//!
//! The parser of `sqlparser` knows all of SQL, and needs some 60 KB of stack for one parenthesis in a
//! debug build: a question of a kilobyte could end the process. So only its tokenizer is used.

use std::str::FromStr;

use super::bounds::{DEEPEST, TOO_DEEP};
use super::words::{VOCABULARY, Word, syntax, words};
use super::{Comparison, Expr, Operation, TableError, Value};

/// Parentheses and `NOT`s in each other. An expression may need two for one of its levels: `(NOT a) = b`.
const MOST_NESTED: usize = 2 * DEEPEST;

/// Reads the vocabulary of questions, which is a small part of SQL.
///
/// Words have any case, names of columns keep theirs. A name that is a word of the vocabulary, or that
/// has other characters than letters, digits and `_`, stands in double quotes; a text stands in single
/// quotes. `DATE '2024-01-31'` and `TIMESTAMP '2024-01-31 12:00:00'` are constants too.
///
/// ```
/// use queryables::table::{Expr, col};
///
/// let text = r#"not (age between 18 and 65) or "home state" is null"#;
/// let expr: Expr = text.parse()?;
/// assert_eq!(expr, !col("age").between(18, 65) | col("home state").is_null());
/// assert_eq!(expr.to_string(), r#"age NOT BETWEEN 18 AND 65 OR "home state" IS NULL"#);
///
/// let error = "age == 18".parse::<Expr>().unwrap_err();
/// assert_eq!(error.to_string(), "at character 5: `==` is not known here: write `=`");
/// # Ok::<(), queryables::table::TableError>(())
/// ```
impl FromStr for Expr {
    type Err = TableError;

    fn from_str(text: &str) -> Result<Self, TableError> {
        let words = words(text)?;
        let mut reader = Reader {
            words: &words,
            end: text.chars().count() + 1,
            nested: 0,
        };
        let expr = reader.or()?;
        match reader.words {
            [] => expr.bounded(),
            _ => Err(reader.unexpected()),
        }
    }
}

/// The words that are left, and where the text ends.
struct Reader<'a> {
    words: &'a [(usize, Word)],
    end: usize,
    nested: usize,
}

impl Reader<'_> {
    fn or(&mut self) -> Result<Expr, TableError> {
        self.list("OR", Self::and, Expr::Or)
    }

    fn and(&mut self) -> Result<Expr, TableError> {
        self.list("AND", Self::not, Expr::And)
    }

    fn list(
        &mut self,
        word: &str,
        part: fn(&mut Self) -> Result<Expr, TableError>,
        list: fn(Vec<Expr>) -> Expr,
    ) -> Result<Expr, TableError> {
        let first = part(self)?;
        if !self.take(word) {
            return Ok(first);
        }
        let mut parts = vec![first, part(self)?];
        while self.take(word) {
            parts.push(part(self)?);
        }
        Ok(list(parts))
    }

    fn not(&mut self) -> Result<Expr, TableError> {
        if self.take("NOT") {
            Ok(!self.deeper(Self::not)?)
        } else {
            self.predicate()
        }
    }

    fn predicate(&mut self) -> Result<Expr, TableError> {
        let one = self.sum()?;
        let expr = if let Some(comparison) = self.comparison() {
            Expr::Compare(comparison, Box::new(one), Box::new(self.sum()?))
        } else if self.take("IS") {
            let negated = self.take("NOT");
            self.need("NULL")?;
            negated_if(negated, one.is_null())
        } else {
            let negated = self.take("NOT");
            if self.take("IN") {
                negated_if(negated, Expr::In(Box::new(one), self.constants()?))
            } else if self.take("BETWEEN") {
                let low = self.constant()?;
                self.need("AND")?;
                let high = self.constant()?;
                negated_if(negated, Expr::Between(Box::new(one), low, high))
            } else if negated {
                return Err(self.unexpected());
            } else {
                return Ok(one);
            }
        };
        let again = [
            "=", "<>", "<", "<=", ">", ">=", "IS", "IN", "BETWEEN", "NOT",
        ];
        match self.words {
            [(place, Word::Sign(sign)), ..] if again.contains(sign) => {
                let problem =
                    format!("`{sign}` cannot follow a comparison: write AND or parentheses");
                Err(syntax(*place, problem))
            }
            _ => Ok(expr),
        }
    }

    fn sum(&mut self) -> Result<Expr, TableError> {
        self.operations(&[Operation::Add, Operation::Sub], Self::product)
    }

    fn product(&mut self) -> Result<Expr, TableError> {
        self.operations(&[Operation::Mul], Self::single)
    }

    /// From the left: `a - b - c` is `(a - b) - c`.
    fn operations(
        &mut self,
        operations: &[Operation],
        part: fn(&mut Self) -> Result<Expr, TableError>,
    ) -> Result<Expr, TableError> {
        let mut one = part(self)?;
        while let Some(operation) = operations.iter().find(|each| self.take(each.sign())) {
            one = Expr::Compute(*operation, Box::new(one), Box::new(part(self)?));
        }
        Ok(one)
    }

    fn single(&mut self) -> Result<Expr, TableError> {
        if let [(_, Word::Name(name)), rest @ ..] = self.words {
            self.words = rest;
            return Ok(Expr::Column(name.clone()));
        }
        if self.take("(") {
            let expr = self.deeper(Self::or)?;
            self.need(")")?;
            return Ok(expr);
        }
        Ok(Expr::Literal(self.constant()?))
    }

    fn constants(&mut self) -> Result<Vec<Value>, TableError> {
        self.need("(")?;
        let mut values = vec![self.constant()?];
        while self.take(",") {
            values.push(self.constant()?);
        }
        self.need(")")?;
        Ok(values)
    }

    fn constant(&mut self) -> Result<Value, TableError> {
        let (value, rest) = match self.words {
            [(_, Word::Constant(value)), rest @ ..] => (value.clone(), rest),
            [(place, Word::Number(digits)), rest @ ..] => (number("", digits, *place)?, rest),
            [
                (place, Word::Sign("-")),
                (_, Word::Number(digits)),
                rest @ ..,
            ] => (number("-", digits, *place)?, rest),
            [(place, Word::Sign("-")), ..] => {
                let problem = "a minus sign can stand before a number only: write `0 - x`";
                return Err(syntax(*place, problem));
            }
            [(place, Word::Sign("NULL")), ..] => {
                let problem = "NULL is not a constant: write `IS NULL` or `IS NOT NULL`";
                return Err(syntax(*place, problem));
            }
            [(place, Word::Name(name)), ..] => {
                let problem = format!("a constant is needed here, and `{name}` is a column");
                return Err(syntax(*place, problem));
            }
            _ => return Err(self.unexpected()),
        };
        self.words = rest;
        Ok(value)
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let mut all = Comparison::ALL.into_iter();
        all.find(|comparison| self.take(comparison.sign()))
    }

    /// Whether the next word is this one, which is then behind.
    fn take(&mut self, sign: &str) -> bool {
        match self.words {
            [(_, Word::Sign(next)), rest @ ..] if *next == sign => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }

    fn need(&mut self, sign: &str) -> Result<(), TableError> {
        if self.take(sign) {
            return Ok(());
        }
        let place = self.words.first().map_or(self.end, |(place, _)| *place);
        Err(syntax(place, format!("`{sign}` is missing here")))
    }

    /// What is inside of something. The call stack grows here only.
    fn deeper(
        &mut self,
        part: fn(&mut Self) -> Result<Expr, TableError>,
    ) -> Result<Expr, TableError> {
        if self.nested == MOST_NESTED {
            return Err(TOO_DEEP);
        }
        self.nested += 1;
        let expr = part(self)?;
        self.nested -= 1;
        Ok(expr)
    }

    fn unexpected(&self) -> TableError {
        let Some((place, word)) = self.words.first() else {
            return syntax(self.end, format!("something is missing here: {VOCABULARY}"));
        };
        let word = match word {
            Word::Name(text) | Word::Number(text) => text.clone(),
            Word::Constant(value) => value.to_string(),
            Word::Sign(sign) => (*sign).to_owned(),
        };
        syntax(*place, format!("`{word}` cannot stand here: {VOCABULARY}"))
    }
}

fn negated_if(negated: bool, expr: Expr) -> Expr {
    if negated { !expr } else { expr }
}

/// A number with a point or an exponent is real.
fn number(sign: &str, digits: &str, place: usize) -> Result<Value, TableError> {
    let text = format!("{sign}{digits}");
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().map(Value::Whole).map_err(|_| {
            let problem = format!("{text} has more than 64 bits: write {text}.0 for a real number");
            syntax(place, problem)
        })
    } else {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Value::Real(value)),
            _ => Err(syntax(
                place,
                format!("{text} is not a real number of 64 bits"),
            )),
        }
    }
}
