//! Parses modules and declarations.

use super::ast::{
    Annotation, Class, Constructor, DataType, File, Function, Ident, Interface, Method, Param, Signature,
};
use super::lexer::Token;
use super::modules::NameKind;
use super::parser::{Parse, Parser};
use crate::error::Diagnostic;

impl Parser {
    /// Parses a program whose first file ends at `first`.
    pub(super) fn file(&mut self, first: u32) -> Parse<File> {
        let mut file = File::default();
        while *self.peek() != Token::End {
            self.declaration(&mut file, first)?;
        }
        Ok(file)
    }

    fn declaration(&mut self, file: &mut File, first: u32) -> Parse<()> {
        let annotations = self.annotations()?;
        let Token::Word(word) = self.peek().clone() else {
            if self.is("{") {
                return self.main_block(file, first);
            }
            return Err(self.expected("a declaration or the main block"));
        };
        let declares = ["data", "type", "interface", "class"].contains(&word.as_str());
        if declares && matches!(self.ahead(1), Token::Type(_)) && self.is_ahead(2, ".") {
            let message = "a declaration belongs to its module: its name has no qualifier";
            return Err(Diagnostic::new(self.span(), message));
        }
        match word.as_str() {
            "module" => self.module(file)?,
            "export" => self.export()?,
            "import" => self.import(file)?,
            "data" => file.data.push(self.data_type()?),
            "type" => self.synonym(file)?,
            "exception" => self.exception(file)?,
            "def" => file.functions.push(self.function()?),
            "interface" => file.interfaces.push(self.interface()?),
            "trait" => self.trait_declaration(file)?,
            "class" => file.classes.push(self.class(annotations)?),
            _ => return Err(self.expected("a declaration or the main block")),
        }
        Ok(())
    }

    fn main_block(&mut self, file: &mut File, first: u32) -> Parse<()> {
        let start = self.span();
        let body = self.block()?;
        let span = start.to(self.last());
        if start.start >= first && file.main.is_some() {
            return Ok(());
        }
        if file.main.is_some() {
            return Err(Diagnostic::new(start, "the file has a second main block").help("remove one of the two"));
        }
        file.main = Some((body, span));
        Ok(())
    }

    fn module(&mut self, file: &mut File) -> Parse<()> {
        self.next();
        let name = self.module_name()?;
        self.module = name.text.clone();
        file.modules.push(name);
        self.expect(";").map(drop)
    }

    /// Parses a dotted name and returns it as a whole.
    fn module_name(&mut self) -> Parse<Ident> {
        let start = self.span();
        let mut text = String::new();
        loop {
            let Token::Type(part) = self.peek() else { return Err(self.expected("the name of a module")) };
            text.push_str(part);
            self.next();
            if !self.take(".") {
                return Ok(Ident { text: text.into(), span: start.to(self.last()) });
            }
            text.push('.');
        }
    }

    fn any_name(&mut self) -> Parse<()> {
        loop {
            if !matches!(self.peek(), Token::Type(_) | Token::Word(_)) {
                return Err(self.expected("a name"));
            }
            self.next();
            if !self.take(".") {
                return Ok(());
            }
        }
    }

    /// Parses an export, which has no effect: all declarations are visible everywhere in a file.
    fn export(&mut self) -> Parse<()> {
        self.next();
        if !self.take("*") {
            self.list(Parser::any_name)?;
        }
        if self.take("from") {
            self.module_name()?;
        }
        self.expect(";").map(drop)
    }

    fn import(&mut self, file: &mut File) -> Parse<()> {
        self.next();
        if !self.take("*") {
            self.list(Parser::any_name)?;
        }
        if self.take("from") {
            file.imports.push(self.module_name()?);
        }
        self.expect(";").map(drop)
    }

    fn generics(&mut self) -> Parse<Vec<Ident>> {
        if !self.take("<") {
            return Ok(Vec::new());
        }
        let names = self.list(|p| match p.peek().clone() {
            Token::Type(name) => Ok(Ident { text: name.into(), span: p.next().1 }),
            _ => Err(p.expected("the name of a type parameter")),
        })?;
        self.expect(">")?;
        Ok(names)
    }

    fn data_type(&mut self) -> Parse<DataType> {
        let start = self.next().1;
        let name = self.type_name(NameKind::Type, "the name of a data type")?;
        let generics = self.generics()?;
        let mut constructors = Vec::new();
        if self.take("=") {
            self.take("|");
            constructors.push(self.constructor()?);
            while self.take("|") {
                constructors.push(self.constructor()?);
            }
        }
        self.expect(";")?;
        self.keep_generics(start, &generics);
        Ok(DataType { name, generics, constructors })
    }

    fn constructor(&mut self) -> Parse<Constructor> {
        let name = self.type_name(NameKind::Constructor, "the name of a constructor")?;
        let args = if self.take("(") {
            self.list_until(")", |p| {
                let ty = p.type_use()?;
                let selector =
                    if p.is(",") || p.is(")") { None } else { Some(p.function_name("", "the name of a selector")?) };
                Ok((ty, selector))
            })?
        } else {
            Vec::new()
        };
        Ok(Constructor { name, args })
    }

    fn synonym(&mut self, file: &mut File) -> Parse<()> {
        let start = self.next().1;
        let name = self.type_name(NameKind::Type, "the name of a type")?;
        let generics = self.generics()?;
        self.expect("=")?;
        let meant = self.type_use()?;
        self.keep_generics(start, &generics);
        file.synonyms.push((name, generics, meant));
        self.expect(";").map(drop)
    }

    fn exception(&mut self, file: &mut File) -> Parse<()> {
        self.next();
        file.exceptions.push(self.constructor()?);
        self.expect(";").map(drop)
    }

    fn function(&mut self) -> Parse<Function> {
        let start = self.next().1;
        let result = self.type_use()?;
        let name = self.function_name("", "the name of a function")?;
        let generics = self.generics()?;
        let functions = self.function_params()?;
        let params = self.params()?;
        self.expect("=")?;
        let body = if self.take("builtin") {
            if self.is("(") {
                return Err(Diagnostic::new(self.span(), "not supported: foreign code"));
            }
            None
        } else {
            Some(self.expr()?)
        };
        self.expect(";")?;
        self.keep_generics(start, &generics);
        self.keep_generics(start, &functions);
        Ok(Function { signature: Signature { result, name, params }, generics, functions, body })
    }

    /// Parses the first list of `(f, g)(List<A> list)`; parameters with types are not functions.
    fn function_params(&mut self) -> Parse<Vec<Ident>> {
        let named = self.is("(") && matches!(self.ahead(1), Token::Word(_));
        let empty = self.is("(") && self.is_ahead(1, ")") && self.is_ahead(2, "(");
        if !named && !empty {
            return Ok(Vec::new());
        }
        self.next();
        self.list_until(")", |p| p.function_name("", "the name of a function parameter"))
    }

    fn names(&mut self, what: &str) -> Parse<Vec<Ident>> {
        self.list(|p| p.type_name(NameKind::Type, what))
    }

    pub(super) fn signature(&mut self) -> Parse<Signature> {
        let annotations = self.annotations()?;
        let mut result = self.type_use()?;
        result.annotate(&annotations);
        let name = self.word("the name of a method")?;
        Ok(Signature { result, name, params: self.params()? })
    }

    fn interface(&mut self) -> Parse<Interface> {
        self.next();
        let name = self.type_name(NameKind::Type, "the name of an interface")?;
        let extends = if self.take("extends") { self.names("an interface")? } else { Vec::new() };
        self.expect("{")?;
        let mut methods = Vec::new();
        while !self.take("}") {
            methods.push(self.signature()?);
            self.expect(";")?;
        }
        Ok(Interface { name, extends, methods })
    }

    fn class(&mut self, annotations: Vec<Annotation>) -> Parse<Class> {
        self.next();
        let name = self.type_name(NameKind::Class, "the name of a class")?;
        let params = if self.is("(") { self.params()? } else { Vec::new() };
        let implements = if self.take("implements") { self.names("an interface")? } else { Vec::new() };
        self.expect("{")?;
        let (fields, init, methods) = (Vec::new(), Vec::new(), Vec::new());
        let finals = Vec::new();
        let uses = Vec::new();
        let mut class = Class { annotations, name, params, implements, fields, finals, init, methods, uses };
        while !self.take("}") {
            let annotations = self.annotations()?;
            if self.is("uses") {
                class.uses.push(self.trait_use()?);
            } else if self.is("{") {
                class.init = self.block()?;
            } else {
                self.member(&mut class, annotations)?;
            }
        }
        Ok(class)
    }

    /// Parses a field or a method.
    fn member(&mut self, class: &mut Class, annotations: Vec<Annotation>) -> Parse<()> {
        let mut ty = match self.peek() {
            Token::Type(_) => self.type_use()?,
            _ => return Err(self.expected("a field, a method or `}`")),
        };
        ty.annotate(&annotations);
        let name = self.word("the name of a field or method")?;
        if self.is("(") {
            let params = self.params()?;
            let body = self.block()?;
            let end = self.last();
            class.methods.push(Method { annotations, signature: Signature { result: ty, name, params }, body, end });
            return Ok(());
        }
        let value = if self.take("=") { Some(self.expr()?) } else { None };
        self.expect(";")?;
        if super::ast::annotation(&annotations, "Final").is_some() {
            class.finals.push(name.text.clone());
        }
        class.fields.push((Param { ty, name }, value));
        Ok(())
    }
}
