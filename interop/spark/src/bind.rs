//! Parameters as Spark Connect sends them: beside the text, each with its type.

use std::collections::HashMap;

use queryables::table::Value;
use queryables::table::sql::{Parameter, Statement};
use spark_connect_proto as proto;

use proto::expression::literal::LiteralType;
use proto::expression::{ExprType, Literal};
use proto::relation::RelType;

use crate::dialect::name;

/// A statement with its parameters, as a relation.
pub(crate) fn relation(statement: &Statement) -> proto::Relation {
    let mut named = HashMap::new();
    for (parameter, number) in statement.parameters.iter().zip(1..) {
        match parameter {
            Parameter::One(value) => {
                named.insert(name(number, None), literal(value));
            }
            Parameter::List(_, values) => {
                let values = values.iter().enumerate();
                named.extend(values.filter_map(|(place, value)| {
                    Some((name(number, Some(place)), literal(value.as_ref()?)))
                }));
            }
        }
    }
    let sql = proto::Sql {
        query: statement.text.clone(),
        named_arguments: named,
        ..proto::Sql::default()
    };
    proto::Relation {
        rel_type: Some(RelType::Sql(sql)),
        ..proto::Relation::default()
    }
}

fn literal(value: &Value) -> proto::Expression {
    let literal = match value {
        Value::Whole(number) => LiteralType::Long(*number),
        // Not -0, as in columns.
        Value::Real(number) => LiteralType::Double(*number + 0.0),
        Value::Text(text) => LiteralType::String(text.clone()),
        Value::Bool(yes) => LiteralType::Boolean(*yes),
        Value::Date(days) => LiteralType::Long((*days).into()),
        Value::Time(microseconds) => LiteralType::Long(*microseconds),
    };
    let literal = Literal {
        literal_type: Some(literal),
        ..Literal::default()
    };
    proto::Expression {
        expr_type: Some(ExprType::Literal(literal)),
        ..proto::Expression::default()
    }
}
