//! Expressions from text. `sqlparser` reads it, and only a small vocabulary is accepted.
//!
//! Three gates, one behind the other. Words and signs outside of the vocabulary never reach the parser:
//! every word that is not ours becomes a quoted name, so that no keyword of SQL means anything. The
//! parser's recursion is limited. What it returns is translated by a list of what is known.

use std::str::FromStr;

use sqlparser::ast::{self, BinaryOperator, DataType, Spanned, TimezoneInfo, UnaryOperator};
use sqlparser::dialect::Dialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Whitespace, Word};

use super::bounds::{DEEPEST, LONGEST_TEXT, MOST_PARTS, TEXT_TOO_LONG, TOO_DEEP, TOO_MANY_PARTS};
use super::calendar::{read_date, read_time};
use super::{Comparison, Expr, Operation, TableError, Value};

/// The words that are not names of columns, unless they are quoted.
const RESERVED: [&str; 9] = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "IS", "NULL", "TRUE", "FALSE",
];

const VOCABULARY: &str = "a question has columns, constants, = <> < <= > >=, IN, BETWEEN, IS NULL, \
    AND, OR, NOT, + - * and parentheses";

/// The parser descends at most twice for one level of an expression: for the right side of an operator,
/// and for a parenthesis there.
const PARSER_LEVELS: usize = 2 * DEEPEST + 2;

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
        if text.len() > LONGEST_TEXT {
            return Err(TEXT_TOO_LONG);
        }
        let end = text.chars().count() + 1;
        let mut parser = Parser::new(&Vocabulary)
            .with_recursion_limit(PARSER_LEVELS)
            .with_tokens_with_locations(tokens(text)?);
        let parsed = parser.parse_expr();
        let next = parser.peek_token();
        match parsed {
            Ok(parsed) if next.token == Token::EOF => translated(parsed, DEEPEST)?.bounded(),
            Ok(_) => Err(unexpected(&next, end)),
            Err(ParserError::RecursionLimitExceeded) => Err(TOO_DEEP),
            Err(ParserError::ParserError(_) | ParserError::TokenizerError(_)) => {
                Err(unexpected(&next, end))
            }
        }
    }
}

/// Names as they are printed without quotes, and nothing else that dialects add to SQL.
#[derive(Debug)]
struct Vocabulary;

impl Dialect for Vocabulary {
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
    characters
        .next()
        .is_some_and(|first| Vocabulary.is_identifier_start(first))
        && characters.all(|character| Vocabulary.is_identifier_part(character))
        && reserved(name).is_none()
}

/// The word of the vocabulary that this is. Only ASCII letters have two cases here: `ın` is no `IN`.
fn reserved(word: &str) -> Option<&'static str> {
    RESERVED
        .into_iter()
        .find(|reserved| reserved.eq_ignore_ascii_case(word))
}

/// The words and signs of a text, if all are in the vocabulary. Each has its character as its column, in
/// one line.
fn tokens(text: &str) -> Result<Vec<TokenWithSpan>, TableError> {
    let lines = line_starts(text);
    let character = |location: Location| {
        let line = usize::try_from(location.line).unwrap_or(0);
        let start = lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        start + usize::try_from(location.column).unwrap_or(0)
    };
    let found = Tokenizer::new(&Vocabulary, text).tokenize_with_location();
    let found = found.map_err(|error| {
        let problem = format!("{}: a quote or a comment may be open", error.message);
        syntax(character(error.location), problem)
    })?;
    let mut tokens: Vec<TokenWithSpan> = Vec::with_capacity(found.len());
    let mut operands = 0;
    let mut open = 0_usize;
    let mut found = found
        .into_iter()
        .filter(|found| !is_space(&found.token))
        .peekable();
    while let Some(TokenWithSpan { token, span }) = found.next() {
        let place = character(span.start);
        let next = found.peek().map(|next| &next.token);
        let token = match token {
            Token::Word(word) if word.quote_style.is_some() => Token::Word(word),
            Token::Word(word) => match reserved(&word.value) {
                Some(keyword) => Token::make_keyword(keyword),
                None if matches!(next, Some(Token::SingleQuotedString(_))) => {
                    typed_literal(&word, place)?
                }
                None => Token::make_word(&word.value, Some('"')),
            },
            token => accepted(token, place)?,
        };
        match &token {
            Token::Word(Word {
                quote_style: Some(_),
                value,
                ..
            }) => {
                operands += 1;
                if next == Some(&Token::LParen) {
                    let problem =
                        format!("there are no functions here, and so no `{value}`: {VOCABULARY}");
                    return Err(syntax(place, problem));
                }
            }
            Token::Number(..) | Token::SingleQuotedString(_) => operands += 1,
            Token::LParen => open += 1,
            Token::RParen => open = open.saturating_sub(1),
            _ => {}
        }
        if open > DEEPEST {
            return Err(TOO_DEEP);
        }
        if operands > MOST_PARTS {
            return Err(TOO_MANY_PARTS);
        }
        let start = Location::new(1, place as u64);
        tokens.push(TokenWithSpan::new(token, Span::new(start, start)));
    }
    Ok(tokens)
}

/// How many characters there are before each line.
fn line_starts(text: &str) -> Vec<usize> {
    let ends = text
        .chars()
        .enumerate()
        .filter(|(_, character)| *character == '\n');
    std::iter::once(0)
        .chain(ends.map(|(place, _)| place + 1))
        .collect()
}

fn is_space(token: &Token) -> bool {
    matches!(
        token,
        Token::Whitespace(Whitespace::Space | Whitespace::Newline | Whitespace::Tab)
    )
}

/// A word before a text: `DATE` and `TIMESTAMP` say what the text is. Elsewhere they are names.
fn typed_literal(word: &Word, place: usize) -> Result<Token, TableError> {
    for keyword in ["DATE", "TIMESTAMP"] {
        if word.value.eq_ignore_ascii_case(keyword) {
            return Ok(Token::make_keyword(keyword));
        }
    }
    let problem = format!(
        "`{}` cannot stand before a text: only DATE and TIMESTAMP can",
        word.value
    );
    Err(syntax(place, problem))
}

/// The sign or the constant, if it is in the vocabulary.
fn accepted(token: Token, place: usize) -> Result<Token, TableError> {
    let instead = match &token {
        Token::Number(_, false)
        | Token::SingleQuotedString(_)
        | Token::Comma
        | Token::Eq
        | Token::Neq
        | Token::Lt
        | Token::LtEq
        | Token::Gt
        | Token::GtEq
        | Token::Plus
        | Token::Minus
        | Token::Mul
        | Token::LParen
        | Token::RParen => return Ok(token),
        Token::DoubleEq => "write `=`",
        Token::Overlap | Token::Ampersand => "write `AND`",
        Token::StringConcat | Token::Pipe => "write `OR`",
        Token::ExclamationMark => "write `NOT`",
        Token::Char('‘' | '’' | '“' | '”' | '`') => {
            "write 'text' for a text and \"name\" for a column"
        }
        Token::Whitespace(_) => "leave comments out",
        Token::Period => "a column has no table before it",
        _ => VOCABULARY,
    };
    Err(syntax(
        place,
        format!("`{token}` is not known here: {instead}"),
    ))
}

fn syntax(place: usize, problem: impl Into<String>) -> TableError {
    let problem = problem.into();
    TableError::Syntax { place, problem }
}

/// Something stands where the parser has no use for it.
fn unexpected(found: &TokenWithSpan, end: usize) -> TableError {
    match &found.token {
        Token::EOF => syntax(end, format!("something is missing here: {VOCABULARY}")),
        Token::Word(Word { value, .. }) => syntax(
            place(found.span),
            format!("`{value}` cannot stand here: {VOCABULARY}"),
        ),
        token => syntax(
            place(found.span),
            format!("`{token}` cannot stand here: {VOCABULARY}"),
        ),
    }
}

fn place(span: Span) -> usize {
    usize::try_from(span.start.column).unwrap_or(0)
}

/// What was parsed, if it is in the vocabulary and has at most these levels.
fn translated(parsed: ast::Expr, levels: usize) -> Result<Expr, TableError> {
    let inside = levels.checked_sub(1).ok_or(TOO_DEEP)?;
    let negate = |negated: bool, expr: Expr| if negated { !expr } else { expr };
    Ok(match parsed {
        ast::Expr::Nested(one) => translated(*one, levels)?,
        ast::Expr::Identifier(name) => Expr::Column(name.value),
        ast::Expr::IsNull(one) => operand(*one, inside)?.is_null(),
        ast::Expr::IsNotNull(one) => !operand(*one, inside)?.is_null(),
        ast::Expr::InList {
            expr,
            list,
            negated,
        } => {
            let values = list.into_iter().map(constant).collect::<Result<_, _>>()?;
            negate(negated, Expr::In(Box::new(operand(*expr, inside)?), values))
        }
        ast::Expr::Between {
            expr,
            negated,
            low,
            high,
        } => {
            let one = Box::new(operand(*expr, inside)?);
            negate(
                negated,
                Expr::Between(one, constant(*low)?, constant(*high)?),
            )
        }
        ast::Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        } => !translated(*expr, inside)?,
        ast::Expr::BinaryOp { left, op, right } => match op {
            BinaryOperator::And => Expr::And(chain(*left, &op, *right, inside)?),
            BinaryOperator::Or => Expr::Or(chain(*left, &op, *right, inside)?),
            _ => match (comparison(&op), operation(&op)) {
                (Some(comparison), _) => {
                    let one = operand(*left, inside)?;
                    Expr::Compare(
                        comparison,
                        Box::new(one),
                        Box::new(operand(*right, inside)?),
                    )
                }
                (None, Some(operation)) => {
                    let one = operand(*left, inside)?;
                    Expr::Compute(operation, Box::new(one), Box::new(operand(*right, inside)?))
                }
                (None, None) => {
                    let problem = format!("`{op}` is not known here: {VOCABULARY}");
                    return Err(syntax(place(right.span()), problem));
                }
            },
        },
        other => Expr::Literal(constant(other)?),
    })
}

/// The parts of `a AND b AND c`, which is parsed from the left: as deep as it is long.
fn chain(
    left: ast::Expr,
    word: &BinaryOperator,
    right: ast::Expr,
    levels: usize,
) -> Result<Vec<Expr>, TableError> {
    let (mut first, mut parts) = (left, vec![right]);
    loop {
        match first {
            ast::Expr::BinaryOp { left, op, right } if op == *word => {
                parts.push(*right);
                first = *left;
            }
            other => {
                parts.push(other);
                break;
            }
        }
    }
    let parts = parts.into_iter().rev();
    parts.map(|part| translated(part, levels)).collect()
}

/// A side of a comparison or of a sum: not another comparison, unless it is in parentheses.
fn operand(parsed: ast::Expr, levels: usize) -> Result<Expr, TableError> {
    let is_alone = match &parsed {
        ast::Expr::BinaryOp { op, .. } => operation(op).is_some(),
        ast::Expr::UnaryOp { op, .. } => *op == UnaryOperator::Minus,
        ast::Expr::IsNull(_) | ast::Expr::IsNotNull(_) => false,
        ast::Expr::InList { .. } | ast::Expr::Between { .. } => false,
        _ => true,
    };
    if is_alone {
        translated(parsed, levels)
    } else {
        let problem = "this can be read in two ways: put one part into parentheses";
        Err(syntax(place(parsed.span()), problem))
    }
}

fn comparison(op: &BinaryOperator) -> Option<Comparison> {
    Some(match op {
        BinaryOperator::Eq => Comparison::Eq,
        BinaryOperator::NotEq => Comparison::Ne,
        BinaryOperator::Lt => Comparison::Lt,
        BinaryOperator::LtEq => Comparison::Le,
        BinaryOperator::Gt => Comparison::Gt,
        BinaryOperator::GtEq => Comparison::Ge,
        _ => return None,
    })
}

fn operation(op: &BinaryOperator) -> Option<Operation> {
    Some(match op {
        BinaryOperator::Plus => Operation::Add,
        BinaryOperator::Minus => Operation::Sub,
        BinaryOperator::Multiply => Operation::Mul,
        _ => return None,
    })
}

/// A number, a text, yes or no, a date or a time.
fn constant(parsed: ast::Expr) -> Result<Value, TableError> {
    let place = place(parsed.span());
    let wrong = |problem: &str| Err(syntax(place, problem));
    match parsed {
        ast::Expr::Value(value) => match value.value {
            ast::Value::Number(digits, _) => number("", &digits, place),
            ast::Value::SingleQuotedString(text) => Ok(Value::Text(text)),
            ast::Value::Boolean(value) => Ok(Value::Bool(value)),
            ast::Value::Null => wrong("NULL is no constant: write `IS NULL` or `IS NOT NULL`"),
            _ => wrong(VOCABULARY),
        },
        ast::Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => match *expr {
            ast::Expr::Value(ast::ValueWithSpan {
                value: ast::Value::Number(digits, _),
                ..
            }) => number("-", &digits, place),
            _ => wrong("a minus sign can stand before a number only: write `0 - x`"),
        },
        ast::Expr::TypedString(typed) => match (typed.data_type, typed.value.value) {
            (DataType::Date, ast::Value::SingleQuotedString(text)) => match read_date(&text) {
                Some(days) => Ok(Value::Date(days)),
                None => wrong("this is not a date: write DATE 'YYYY-MM-DD'"),
            },
            (
                DataType::Timestamp(None, TimezoneInfo::None),
                ast::Value::SingleQuotedString(text),
            ) => match read_time(&text) {
                Some(time) => Ok(Value::Time(time)),
                None => wrong("this is not a time: write TIMESTAMP 'YYYY-MM-DD hh:mm:ss' in UTC"),
            },
            _ => wrong(VOCABULARY),
        },
        ast::Expr::Nested(one) => constant(*one),
        _ => wrong("a constant is needed here"),
    }
}

/// A number with a point or an exponent is real.
fn number(sign: &str, digits: &str, place: usize) -> Result<Value, TableError> {
    let text = format!("{sign}{digits}");
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().map(Value::Whole).map_err(|_| {
            let problem =
                format!("{text} has more than 64 bits: for a real number, write {text}.0");
            syntax(place, problem)
        })
    } else {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Value::Real(value)),
            _ => Err(syntax(place, format!("{text} is not a number of 64 bits"))),
        }
    }
}
