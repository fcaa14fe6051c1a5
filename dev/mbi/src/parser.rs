//! A parser of the part of C that the generated programs use.

use crate::lexer::Token;

/// An expression.
#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Number(i64),
    Text,
    Name(String),
    /// `-`, `!`, `*`, `&`.
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Assign(Box<Expr>, Box<Expr>),
    /// Adds the number to a place.
    Step(Box<Expr>, i64),
    Index(Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
    /// A condition and two values.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    Sizeof,
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    /// The name, the length of an array, the value.
    Declare(String, Option<Expr>, Option<Expr>),
    Expr(Expr),
    Block(Vec<Stmt>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    For(Box<Stmt>, Option<Expr>, Option<Expr>, Box<Stmt>),
    While(Expr, Box<Stmt>),
    Return,
}

const TYPES: &[&str] = &[
    "int",
    "char",
    "float",
    "double",
    "void",
    "long",
    "const",
    "unsigned",
    "MPI_Comm",
    "MPI_Datatype",
    "MPI_Op",
    "MPI_Request",
    "MPI_Status",
    "MPI_Group",
    "MPI_Win",
    "MPI_Aint",
    "MPI_Message",
];

type Parsed<T> = Result<T, String>;

/// A reader of tokens.
struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
}

/// Returns the body of `main`. Other functions are skipped.
pub(crate) fn main_of(tokens: &[Token]) -> Parsed<Vec<Stmt>> {
    let name = Token::Name("main".into());
    let at = tokens.iter().position(|token| *token == name).ok_or("no main function")?;
    let open = tokens[at..].iter().position(|token| *token == Token::Sign("{")).ok_or("no main function")?;
    let mut parser = Parser { tokens, at: at + open };
    match parser.statement()? {
        Stmt::Block(body) => Ok(body),
        _ => Err("main has no block".into()),
    }
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(s)) if *s == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        let found = self.take(sign);
        if found { Ok(()) } else { Err(format!("expected {sign}, found {:?}", self.peek())) }
    }

    fn take_name(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            other => Err(format!("expected a name, found {other:?}")),
        }
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(name)) if name == word);
        self.at += usize::from(found);
        found
    }

    fn is_type(&self, at: usize) -> bool {
        matches!(self.tokens.get(at), Some(Token::Name(name)) if TYPES.contains(&name.as_str()))
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        if self.take(";") {
            return Ok(Stmt::Block(Vec::new()));
        }
        if self.take("{") {
            let mut body = Vec::new();
            while !self.take("}") {
                body.push(self.statement()?);
            }
            return Ok(Stmt::Block(body));
        }
        if self.take_word("if") {
            let condition = self.in_brackets()?;
            let then = Box::new(self.statement()?);
            let otherwise = if self.take_word("else") { Some(Box::new(self.statement()?)) } else { None };
            return Ok(Stmt::If(condition, then, otherwise));
        }
        if self.take_word("while") {
            let condition = self.in_brackets()?;
            return Ok(Stmt::While(condition, Box::new(self.statement()?)));
        }
        if self.take_word("for") {
            return self.for_statement();
        }
        if self.take_word("return") {
            if !self.is(";") {
                self.expression()?;
            }
            self.expect(";")?;
            return Ok(Stmt::Return);
        }
        let statement = self.simple()?;
        self.expect(";")?;
        Ok(statement)
    }

    fn in_brackets(&mut self) -> Parsed<Expr> {
        self.expect("(")?;
        let inner = self.expression()?;
        self.expect(")")?;
        Ok(inner)
    }

    fn for_statement(&mut self) -> Parsed<Stmt> {
        self.expect("(")?;
        let first = if self.is(";") { Stmt::Block(Vec::new()) } else { self.simple()? };
        self.expect(";")?;
        let condition = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        Ok(Stmt::For(Box::new(first), condition, step, Box::new(self.statement()?)))
    }

    /// Reads declarations or an expression.
    fn simple(&mut self) -> Parsed<Stmt> {
        if !self.is_type(self.at) {
            return Ok(Stmt::Expr(self.expression()?));
        }
        while self.is_type(self.at) {
            self.at += 1;
        }
        let mut all = vec![self.declaration()?];
        while self.take(",") {
            all.push(self.declaration()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Stmt::Block(all) })
    }

    fn declaration(&mut self) -> Parsed<Stmt> {
        while self.take("*") {}
        let name = self.take_name()?;
        let mut length = None;
        if self.take("[") {
            length = Some(self.expression()?);
            self.expect("]")?;
        }
        let mut value = None;
        if self.take("=") {
            if self.take("{") {
                value = Some(self.assignment()?);
                while self.take(",") {
                    self.assignment()?;
                }
                self.expect("}")?;
            } else {
                value = Some(self.assignment()?);
            }
        }
        Ok(Stmt::Declare(name, length, value))
    }

    /// Reads expressions that are separated by commas.
    fn expression(&mut self) -> Parsed<Expr> {
        let mut first = self.assignment()?;
        while self.take(",") {
            first = Expr::Binary(",", Box::new(first), Box::new(self.assignment()?));
        }
        Ok(first)
    }

    fn assignment(&mut self) -> Parsed<Expr> {
        let place = self.choice()?;
        if self.take("=") {
            return Ok(Expr::Assign(Box::new(place), Box::new(self.assignment()?)));
        }
        for (sign, operator) in [("+=", "+"), ("-=", "-"), ("*=", "*")] {
            if self.take(sign) {
                let value = Expr::Binary(operator, Box::new(place.clone()), Box::new(self.assignment()?));
                return Ok(Expr::Assign(Box::new(place), Box::new(value)));
            }
        }
        Ok(place)
    }

    fn choice(&mut self) -> Parsed<Expr> {
        let condition = self.binary(0)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let then = self.assignment()?;
        self.expect(":")?;
        Ok(Expr::Choice(Box::new(condition), Box::new(then), Box::new(self.assignment()?)))
    }

    fn binary(&mut self, level: usize) -> Parsed<Expr> {
        const LEVELS: &[&[&str]] =
            &[&["||"], &["&&"], &["==", "!="], &["<=", ">=", "<", ">"], &["+", "-"], &["*", "/", "%"]];
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(sign) = signs.iter().find(|sign| self.is(sign)) {
            self.at += 1;
            left = Expr::Binary(sign, Box::new(left), Box::new(self.binary(level + 1)?));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        if self.is("(") && self.is_type(self.at + 1) {
            while !self.take(")") {
                self.at += 1; // a cast
            }
            return self.unary();
        }
        for sign in ["-", "!", "*", "&"] {
            if self.take(sign) {
                return Ok(Expr::Unary(sign, Box::new(self.unary()?)));
            }
        }
        if self.take_word("sizeof") {
            while !self.take(")") {
                self.at += 1;
            }
            return Ok(Expr::Sizeof);
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut expr = match self.peek().cloned() {
            Some(Token::Number(number)) => {
                self.at += 1;
                Expr::Number(number)
            }
            Some(Token::Text) => {
                while self.peek() == Some(&Token::Text) {
                    self.at += 1;
                }
                Expr::Text
            }
            Some(Token::Name(name)) => {
                self.at += 1;
                if self.take("(") { Expr::Call(name, self.arguments()?) } else { Expr::Name(name) }
            }
            _ => self.in_brackets()?,
        };
        loop {
            if self.take("[") {
                expr = Expr::Index(Box::new(expr), Box::new(self.expression()?));
                self.expect("]")?;
            } else if self.take("++") {
                expr = Expr::Step(Box::new(expr), 1);
            } else if self.take("--") {
                expr = Expr::Step(Box::new(expr), -1);
            } else {
                return Ok(expr);
            }
        }
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut all = Vec::new();
        while !self.take(")") {
            all.push(self.assignment()?);
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        Ok(all)
    }
}
