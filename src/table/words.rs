//! The words and signs of a question's text: `sqlparser` splits it, and only a small vocabulary passes.

use sqlparser::dialect::Dialect;
use sqlparser::tokenizer::{Location, Token, Tokenizer, Whitespace};

use super::bounds::{LONGEST_TEXT, MOST_PARTS, TEXT_TOO_LONG, TOO_MANY_PARTS};
use super::calendar::{read_date, read_time};
use super::{TableError, Value};

/// The words that are not names of columns, unless they are quoted.
const RESERVED: [&str; 9] = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "IS", "NULL", "TRUE", "FALSE",
];

/// What an error says would do.
pub(super) const VOCABULARY: &str = "a question has columns, constants, = <> < <= > >=, IN, BETWEEN, \
    IS NULL, AND, OR, NOT, + - * and parentheses";

/// A word or a sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    /// The name of a column.
    Name(String),
    /// A number without its sign.
    Number(String),
    /// Another constant.
    Constant(Value),
    /// A sign, or a reserved word in capital letters.
    Sign(&'static str),
}

/// Names as they are printed without quotes, and nothing that dialects add to SQL.
#[derive(Debug)]
struct Plain;

impl Dialect for Plain {
    fn is_identifier_start(&self, character: char) -> bool {
        character.is_alphabetic() || character == '_'
    }

    fn is_identifier_part(&self, character: char) -> bool {
        character.is_alphanumeric() || character == '_'
    }
}

/// Whether a name needs no quotes.
pub(super) fn is_plain(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters.next();
    first.is_some_and(|first| Plain.is_identifier_start(first))
        && characters.all(|character| Plain.is_identifier_part(character))
        && reserved(name).is_none()
}

/// The reserved word that this is. Only ASCII letters have two cases here: `ın` is not `IN`.
fn reserved(word: &str) -> Option<&'static str> {
    let mut words = RESERVED.into_iter();
    words.find(|reserved| reserved.eq_ignore_ascii_case(word))
}

/// The words of a text, each with the character at which it begins, from one.
pub(super) fn words(text: &str) -> Result<Vec<(usize, Word)>, TableError> {
    if text.len() > LONGEST_TEXT {
        return Err(TEXT_TOO_LONG);
    }
    let lines = line_starts(text);
    let place = |location: Location| {
        let line = usize::try_from(location.line).unwrap_or(0);
        let start = lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        start + usize::try_from(location.column).unwrap_or(0)
    };
    // Room for what most questions have: each token is large.
    let mut tokens = Vec::with_capacity(text.len().min(32));
    let split = Tokenizer::new(&Plain, text).tokenize_with_location_into_buf(&mut tokens);
    split.map_err(|error| {
        let problem = "a quote or a comment that begins here has no end";
        syntax(place(error.location), problem)
    })?;
    let tokens = tokens
        .into_iter()
        .map(|found| (place(found.span.start), found.token));
    let mut tokens = tokens.filter(|(_, token)| !is_space(token)).peekable();
    let mut words = Vec::new();
    let mut operands = 0;
    while let Some((place, token)) = tokens.next() {
        let word = match token {
            Token::Word(word) => {
                let is_quoted = word.quote_style.is_some();
                let known = reserved(&word.value).filter(|_| !is_quoted);
                match (known, tokens.peek()) {
                    (Some("TRUE"), _) => Word::Constant(true.into()),
                    (Some("FALSE"), _) => Word::Constant(false.into()),
                    (Some(known), _) => Word::Sign(known),
                    (None, Some((_, Token::SingleQuotedString(text)))) if !is_quoted => {
                        let value = calendar_value(&word.value, text);
                        tokens.next();
                        Word::Constant(value.map_err(|problem| syntax(place, problem))?)
                    }
                    (None, Some((_, Token::LParen))) => {
                        let name = word.value;
                        let problem = format!("there is no function `{name}`: {VOCABULARY}");
                        return Err(syntax(place, problem));
                    }
                    (None, _) => Word::Name(word.value),
                }
            }
            Token::Number(digits, false) => Word::Number(digits),
            Token::SingleQuotedString(text) => Word::Constant(text.into()),
            token => Word::Sign(sign(&token).map_err(|problem| syntax(place, problem))?),
        };
        operands += usize::from(!matches!(word, Word::Sign(_)));
        if operands > MOST_PARTS {
            return Err(TOO_MANY_PARTS);
        }
        words.push((place, word));
    }
    Ok(words)
}

pub(super) fn syntax(place: usize, problem: impl Into<String>) -> TableError {
    let problem = problem.into();
    TableError::Syntax { place, problem }
}

/// How many characters there are before each line.
fn line_starts(text: &str) -> Vec<usize> {
    let characters = text.chars().enumerate();
    let ends = characters.filter(|(_, character)| *character == '\n');
    std::iter::once(0)
        .chain(ends.map(|(place, _)| place + 1))
        .collect()
}

fn is_space(token: &Token) -> bool {
    use Whitespace::{Newline, Space, Tab};
    matches!(token, Token::Whitespace(Space | Newline | Tab))
}

/// What a text is after a word: `DATE` and `TIMESTAMP` can stand there, which are names elsewhere.
fn calendar_value(word: &str, text: &str) -> Result<Value, String> {
    let (value, expected) = if word.eq_ignore_ascii_case("DATE") {
        (read_date(text).map(Value::Date), "DATE 'YYYY-MM-DD'")
    } else if word.eq_ignore_ascii_case("TIMESTAMP") {
        let expected = "TIMESTAMP 'YYYY-MM-DD hh:mm:ss' in UTC";
        (read_time(text).map(Value::Time), expected)
    } else {
        return Err(format!("`{word}` cannot stand before a text: {VOCABULARY}"));
    };
    value.ok_or_else(|| format!("'{text}' is no such day or time: write {expected}"))
}

fn sign(token: &Token) -> Result<&'static str, String> {
    let instead = match token {
        Token::Comma => return Ok(","),
        Token::Eq => return Ok("="),
        Token::Neq => return Ok("<>"),
        Token::Lt => return Ok("<"),
        Token::LtEq => return Ok("<="),
        Token::Gt => return Ok(">"),
        Token::GtEq => return Ok(">="),
        Token::Plus => return Ok("+"),
        Token::Minus => return Ok("-"),
        Token::Mul => return Ok("*"),
        Token::LParen => return Ok("("),
        Token::RParen => return Ok(")"),
        Token::DoubleEq => "write `=`",
        Token::Overlap | Token::Ampersand => "write `AND`",
        Token::StringConcat | Token::Pipe => "write `OR`",
        Token::ExclamationMark => "write `NOT`",
        Token::Char('‘' | '’' | '“' | '”' | '`') => {
            "write 'text' for a text, and \"name\" for a column"
        }
        Token::Period => "a column has no table before it",
        Token::Whitespace(_) => return Err("there are no comments here: leave it out".to_owned()),
        _ => VOCABULARY,
    };
    Err(format!("`{token}` is not known here: {instead}"))
}
