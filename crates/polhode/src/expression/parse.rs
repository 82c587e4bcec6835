//! Reading expressions: operator precedence, from `or` (loosest) to powers.

use super::graph::Formula;
use super::{Expression, ExpressionError, Function, Mistake, Operation, Program};
use crate::lookup::nearest;
use core::ops::Range;

/// The most characters of an expression.
pub(super) const LONGEST: usize = 65_536;
/// The most levels of parentheses, functions and signs inside each other.
pub(super) const DEEPEST: usize = 64;
/// The most numbers on the stack: one for each level and for what waits there.
pub(super) const TALLEST: usize = 160;

/// The largest exponent that is multiplied out.
const LARGEST_POWER: f64 = 1024.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'a> {
    Number(f64),
    Name(&'a str),
    /// An operator, a parenthesis or a comma.
    Sign(&'static str),
}

/// What a part of an expression gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    Truth,
}

const SIGNS: [&str; 15] = ["<=", ">=", "==", "!=", "**", "<", ">", "+", "-", "*", "/", "^", "(", ")", ","];

fn wrong<T>(mistake: Mistake, span: Range<usize>) -> Result<T, ExpressionError> {
    Err(ExpressionError { mistake, span })
}

/// The tokens with where they stand.
fn tokens<'a>(text: &'a str, hyphened: &[&str]) -> Result<Vec<(Token<'a>, Range<usize>)>, ExpressionError> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            let length = number_length(rest);
            let span = at..at + length;
            match rest[..length].parse::<f64>() {
                Ok(x) if x.is_finite() => all.push((Token::Number(x), span)),
                _ => return wrong(Mistake::Number(rest[..length].into()), span),
            }
            at += length;
        } else if first.is_alphabetic() || first == '_' {
            let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let begin = hyphened_length(hyphened, rest);
            let length = rest[begin..].find(|c: char| !inside(c)).map_or(rest.len(), |end| begin + end);
            all.push((Token::Name(&rest[..length]), at..at + length));
            at += length;
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            all.push((Token::Sign(sign), at..at + sign.len()));
            at += sign.len();
        } else {
            return wrong(Mistake::Character(first), at..at + first.len_utf8());
        }
    }
    Ok(all)
}

/// How many bytes of a text are one of these names with a hyphen, before a point: the longest of them. A name that ends in #
/// stands for all that have a number there. The names are sorted, since there may be as many as a model has bodies.
fn hyphened_length(names: &[&str], text: &str) -> usize {
    if names.is_empty() {
        return 0;
    }
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '{' | '}');
    let run = &text[..text.find(|c: char| !inside(c)).unwrap_or(text.len())];
    let known = |name: &str| names.binary_search(&name).is_ok();
    let is_one = |name: &str| {
        let counted = name.trim_end_matches(|c: char| c.is_ascii_digit());
        known(name) || (counted.len() < name.len() && known(&format!("{counted}#")))
    };
    let mut ends = run.rmatch_indices('.').map(|(end, _)| end);
    ends.find(|end| is_one(&run[..*end])).unwrap_or(0)
}

/// How many bytes a number has: digits, a point, digits, an exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut i: usize| {
        while bytes.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        i
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}

struct Parser<'a> {
    tokens: Vec<(Token<'a>, Range<usize>)>,
    at: usize,
    /// Where the text ends.
    end: usize,
    level: usize,
    /// How many numbers are on the stack.
    height: usize,
    operations: Vec<Operation>,
    names: Vec<String>,
    places: Vec<Range<usize>>,
}

pub(super) fn parse(text: &str, hyphened: &[&str]) -> Result<Expression, ExpressionError> {
    if text.len() > LONGEST {
        return wrong(Mistake::Long, 0..0);
    }
    let tokens = tokens(text, hyphened)?;
    if tokens.is_empty() {
        return wrong(Mistake::Empty, 0..text.len());
    }
    let (operations, names, places) = Default::default();
    let mut parser =
        Parser { tokens, at: 0, end: text.len(), level: 0, height: 0, operations, names, places };
    parser.number(0)?;
    if parser.peek().is_some() {
        return parser.expected("an operator or the end");
    }
    let Parser { mut operations, mut names, mut places, .. } = parser;
    // A model may have hundreds of thousands.
    operations.shrink_to_fit();
    names.shrink_to_fit();
    places.shrink_to_fit();
    match program(&operations, names.len()) {
        Some(program) => Ok(Expression { operations, names, places, program }),
        None => wrong(Mistake::Deep, 0..text.len()),
    }
}

/// Operations as a program with the names as they are.
fn program(operations: &[Operation], names: usize) -> Option<Program> {
    let inputs: Vec<usize> = (0..names).collect();
    Program::of(&[Formula { operations, inputs: &inputs }], names)
}

/// How tightly an operator binds, and what it does.
fn binary(token: Token<'_>) -> Option<(u8, Operation, Kind, Kind)> {
    use Operation::{Add, And, AnyPower, Divide, Multiply, Or, Subtract};
    use Operation::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let (number, truth) = (Kind::Number, Kind::Truth);
    Some(match token {
        Token::Name("or") => (1, Or, truth, truth),
        Token::Name("and") => (2, And, truth, truth),
        Token::Sign("<") => (4, Less, number, truth),
        Token::Sign("<=") => (4, LessOrEqual, number, truth),
        Token::Sign(">") => (4, Greater, number, truth),
        Token::Sign(">=") => (4, GreaterOrEqual, number, truth),
        Token::Sign("==") => (4, Equal, number, truth),
        Token::Sign("!=") => (4, NotEqual, number, truth),
        Token::Sign("+") => (5, Add, number, number),
        Token::Sign("-") => (5, Subtract, number, number),
        Token::Sign("*") => (6, Multiply, number, number),
        Token::Sign("/") => (6, Divide, number, number),
        Token::Sign("^" | "**") => (8, AnyPower, number, number),
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).map(|(token, _)| *token)
    }
    fn span(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.end..self.end, |(_, span)| span.clone())
    }
    fn found(&self) -> Option<String> {
        self.peek().map(|token| match token {
            Token::Number(x) => x.to_string(),
            Token::Name(name) => name.into(),
            Token::Sign(sign) => sign.into(),
        })
    }
    fn expected<T>(&self, wanted: &'static str) -> Result<T, ExpressionError> {
        wrong(Mistake::Expected { wanted, found: self.found() }, self.span())
    }
    fn take(&mut self, sign: &'static str) -> bool {
        let there = self.peek() == Some(Token::Sign(sign));
        self.at += usize::from(there);
        there
    }
    fn deeper(&mut self) -> Result<(), ExpressionError> {
        self.level += 1;
        if self.level > DEEPEST { wrong(Mistake::Deep, self.span()) } else { Ok(()) }
    }
    /// Adds an operation that leaves the stack this much higher.
    fn emit(&mut self, operation: Operation, higher: isize) -> Result<(), ExpressionError> {
        self.operations.push(operation);
        self.height = self.height.saturating_add_signed(higher);
        if self.height > TALLEST { wrong(Mistake::Deep, self.span()) } else { Ok(()) }
    }

    fn number(&mut self, least: u8) -> Result<(), ExpressionError> {
        let begin = self.span().start;
        match self.part(least)? {
            Kind::Number => Ok(()),
            Kind::Truth => wrong(Mistake::Truth, self.since(begin)),
        }
    }
    fn truth(&mut self, least: u8) -> Result<(), ExpressionError> {
        let begin = self.span().start;
        match self.part(least)? {
            Kind::Truth => Ok(()),
            Kind::Number => wrong(Mistake::NoTruth, self.since(begin)),
        }
    }
    /// From a place to the last token that was read.
    fn since(&self, begin: usize) -> Range<usize> {
        let end =
            self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(begin, |(_, span)| span.end);
        begin..end.max(begin)
    }

    /// A part whose operators bind at least as tightly.
    fn part(&mut self, least: u8) -> Result<Kind, ExpressionError> {
        self.deeper()?;
        let begin = self.span().start;
        let mut kind = self.first()?;
        while let Some(token) = self.peek() {
            let Some((binds, operation, takes, gives)) = binary(token).filter(|(binds, ..)| *binds >= least)
            else {
                break;
            };
            if kind != takes {
                let mistake = if takes == Kind::Number { Mistake::Truth } else { Mistake::NoTruth };
                return wrong(mistake, self.since(begin));
            }
            self.at += 1;
            if operation == Operation::AnyPower {
                self.power()?;
                continue;
            }
            // Those of equal strength go on from the left.
            match takes {
                Kind::Number => self.number(binds + 1)?,
                Kind::Truth => self.truth(binds + 1)?,
            }
            self.emit(operation, -1)?;
            kind = gives;
        }
        self.level -= 1;
        Ok(kind)
    }
    /// The exponent of a power, which goes on from the right.
    fn power(&mut self) -> Result<(), ExpressionError> {
        let before = self.operations.len();
        // A sign of its own: 2^-3.
        self.number(7)?;
        let exponent = &self.operations[before..];
        if exponent.iter().any(|operation| matches!(operation, Operation::Name(_))) {
            return self.emit(Operation::AnyPower, -1);
        }
        // A constant: what can be multiplied out is.
        let Some(exponent) = program(exponent, 0) else { return wrong(Mistake::Deep, self.span()) };
        let n: f64 = exponent.value(&|_| f64::NAN);
        self.operations.truncate(before);
        self.height -= 1;
        if n.fract() == 0.0 && n.abs() <= LARGEST_POWER {
            self.emit(Operation::Power(n as i32), 0)
        } else if n == 0.5 {
            self.emit(Operation::Function(Function::Sqrt), 0)
        } else {
            self.emit(Operation::Number(n), 1)?;
            self.emit(Operation::AnyPower, -1)
        }
    }

    /// A number, a name, a call, something in parentheses, or a sign before it.
    fn first(&mut self) -> Result<Kind, ExpressionError> {
        const WANTED: &str = "a number, a name or '('";
        let span = self.span();
        match self.peek() {
            Some(Token::Number(x)) => {
                self.at += 1;
                self.emit(Operation::Number(x), 1)?;
                Ok(Kind::Number)
            }
            Some(Token::Sign("-")) => {
                self.at += 1;
                // Looser than a power: -x^2 is -(x^2).
                self.number(7)?;
                self.emit(Operation::Negate, 0)?;
                Ok(Kind::Number)
            }
            Some(Token::Sign("+")) => {
                self.at += 1;
                self.number(7)?;
                Ok(Kind::Number)
            }
            Some(Token::Sign("(")) => {
                self.at += 1;
                let kind = self.part(0)?;
                if self.take(")") { Ok(kind) } else { self.expected("')' or an operator") }
            }
            Some(Token::Name("not")) => {
                self.at += 1;
                self.truth(3)?;
                self.emit(Operation::Not, 0)?;
                Ok(Kind::Truth)
            }
            Some(Token::Name(name @ ("and" | "or"))) => {
                wrong(Mistake::Expected { wanted: WANTED, found: Some(name.into()) }, span)
            }
            Some(Token::Name(name)) => {
                self.at += 1;
                if self.peek() == Some(Token::Sign("(")) {
                    return self.call(name, span);
                }
                self.name(name, span)
            }
            _ => self.expected(WANTED),
        }
    }
    fn name(&mut self, name: &str, span: Range<usize>) -> Result<Kind, ExpressionError> {
        if name == "pi" {
            self.emit(Operation::Number(core::f64::consts::PI), 1)?;
            return Ok(Kind::Number);
        }
        if name == "if" {
            return wrong(Mistake::Uncalled("if"), span);
        }
        if let Some(function) = Function::ALL.iter().find(|known| known.name() == name) {
            return wrong(Mistake::Uncalled(function.name()), span);
        }
        let names = &mut self.names;
        let number = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.into());
            self.places.push(span);
            names.len() - 1
        });
        self.emit(Operation::Name(number), 1)?;
        Ok(Kind::Number)
    }
    fn call(&mut self, name: &str, span: Range<usize>) -> Result<Kind, ExpressionError> {
        let function = Function::ALL.iter().find(|known| known.name() == name).copied();
        if function.is_none() && name != "if" {
            let known = Function::ALL.iter().map(|known| known.name()).chain(["if"]);
            let near = nearest(name, known);
            return wrong(Mistake::Function { name: name.into(), near }, span);
        }
        let takes = function.map_or(3, Function::arguments);
        self.at += 1;
        let mut given = 0;
        if self.peek() != Some(Token::Sign(")")) {
            loop {
                if function.is_none() && given == 0 {
                    self.truth(0)?;
                } else {
                    self.number(0)?;
                }
                given += 1;
                if !self.take(",") {
                    break;
                }
            }
        }
        if !self.take(")") {
            return self.expected("')', ',' or an operator");
        }
        let known = function.map_or("if", Function::name);
        if given != takes {
            return wrong(Mistake::Arguments { name: known, takes, given }, self.since(span.start));
        }
        match function {
            Some(function) => self.emit(Operation::Function(function), 1 - takes as isize)?,
            None => self.emit(Operation::If, -2)?,
        }
        Ok(Kind::Number)
    }
}
