//! ABS programs: parsing, settings, and the creation of machines.

use super::AbsMachine;
use crate::code::Code;
use crate::record::{Coverage, Record};
use crate::selection::Stability;
use std::sync::{Arc, OnceLock};
use whippet_model::{ConflictRule, MachineConfig, MachineError, Program};

/// The default limit on the number of statements in one step.
///
/// ```
/// assert!(whippet_abs::DEFAULT_STATEMENTS >= 1_000_000, "a step rarely takes more than this");
/// ```
pub const DEFAULT_STATEMENTS: u64 = 10_000_000;

/// An ABS program that has been parsed and checked, ready to be explored.
///
/// ```
/// use whippet_abs::AbsProgram;
/// use whippet_model::{Machine, Program};
/// let program = AbsProgram::parse("hello.abs", r#"
///     interface Cell { Unit set(Int v); }
///     class Cell implements Cell { Int value = 0; Unit set(Int v) { value = v; } }
///     { Cell c = new Cell(); c!set(1); c!set(2); }
/// "#).unwrap();
/// let mut machine = program.machine(&Default::default()).unwrap();
/// let mut choices = Vec::new();
/// machine.enabled(&mut choices).unwrap();
/// machine.execute(choices[0]).unwrap();     // the main block
/// choices.clear();
/// machine.enabled(&mut choices).unwrap();
/// assert_eq!(choices.len(), 2);             // either call may be first
/// ```
#[derive(Clone, Debug)]
pub struct AbsProgram {
    pub(super) code: Arc<Code>,
    /// The static analysis of the program, computed on first use.
    pub(super) stability: Arc<OnceLock<Stability>>,
    pub(super) conflict_rule: ConflictRule,
    /// The limit on the statements of one step.
    pub(super) statements: u64,
    /// What the executions of one method have in common.
    pub(super) record: Option<Arc<Record>>,
}

impl AbsProgram {
    /// Parses and checks the text of a file. The name is used in messages.
    ///
    /// ```
    /// use whippet_abs::AbsProgram;
    /// assert!(AbsProgram::parse("right.abs", "{ Int n = 1; }").is_ok());
    /// let error = AbsProgram::parse("wrong.abs", "{ Int n = True; }").unwrap_err();
    /// assert_eq!(error.places()[0].line, 1);
    /// ```
    pub fn parse(name: &str, text: &str) -> Result<AbsProgram, crate::AbsError> {
        AbsProgram::of_files(&[(name.into(), text.into())])
    }

    /// Like [`AbsProgram::parse`], for a program of several files. `others` returns the names and texts of further
    /// files. A file is added to the program if it contains a module that is imported, directly or indirectly, by the
    /// first file. The main blocks of added files are not run.
    ///
    /// ```
    /// use whippet_abs::AbsProgram;
    /// let other = || vec![("numbers.abs".to_string(), "module Numbers; export *; def Int two() = 2; { skip; }".to_string())];
    /// let text = "module Main; import * from Numbers; { assert two() == 2; }";
    /// let program = AbsProgram::parse_with("main.abs", text, other).unwrap();
    /// let verdict = whippet_search::explore(program.into(), &Default::default(), &()).unwrap();
    /// assert!(verdict.findings.is_empty());
    /// ```
    pub fn parse_with(
        name: &str,
        text: &str,
        others: impl FnOnce() -> Vec<(String, String)>,
    ) -> Result<AbsProgram, crate::AbsError> {
        AbsProgram::parse_files(&[(name.to_string(), text.to_string())], others)
    }

    /// Like [`AbsProgram::parse_with`], for several files that belong to the program in any case. The main block is
    /// that of the first file or, if it has none, of the only other file with one.
    ///
    /// ```
    /// use whippet_abs::AbsProgram;
    /// let file = |name: &str, text: &str| (name.to_string(), text.to_string());
    /// let files = [
    ///     file("numbers.abs", "module Numbers; export *; def Int two() = 2;"),
    ///     file("main.abs", "module Main; import * from Numbers; { assert two() == 2; }"),
    /// ];
    /// assert!(AbsProgram::parse_files(&files, Vec::new).is_ok());
    /// let twice = [file("a.abs", "module A;"), file("b.abs", "module B; { }"), file("c.abs", "module C; { }")];
    /// let error = AbsProgram::parse_files(&twice, Vec::new).unwrap_err();
    /// assert!(error.to_string().contains("several files have a main block"));
    /// ```
    ///
    /// # Panics
    ///
    /// If there are no files.
    pub fn parse_files(
        files: &[(String, String)],
        others: impl FnOnce() -> Vec<(String, String)>,
    ) -> Result<AbsProgram, crate::AbsError> {
        let mut files = files.to_vec();
        main_first(&mut files)?;
        AbsProgram::of_files(&with_imports(files, others))
    }

    /// Returns a program that creates an object of a class and calls one of its methods, given as `Class.method`, with
    /// all arguments within the bounds: each is a choice of the search. The main blocks of the files are ignored. Files are
    /// found as by [`AbsProgram::parse_files`].
    ///
    /// ```
    /// use whippet_abs::{AbsProgram, InputBounds};
    /// let text = "module M; interface Till { Int change(Int paid, Int price); }
    ///     class Till implements Till { Int change(Int paid, Int price) { assert paid >= price; return paid - price; } }";
    /// let bounds = InputBounds::default().with_ints(0..=2);
    /// let program =
    ///     AbsProgram::parse_method(&[("till.abs".into(), text.into())], Vec::new, "Till.change", &bounds).unwrap();
    /// let verdict = whippet_search::explore(program.into(), &Default::default(), &()).unwrap();
    /// assert_eq!(verdict.counters.executions, 9);
    /// assert_eq!(verdict.findings[0].executions, 3, "the price is higher in three of them");
    /// ```
    pub fn parse_method(
        files: &[(String, String)],
        others: impl FnOnce() -> Vec<(String, String)>,
        method: &str,
        bounds: &crate::InputBounds,
    ) -> Result<AbsProgram, crate::AbsError> {
        let source = crate::source::Source::new(&with_imports(files.to_vec(), others));
        let error = |diagnostics| crate::AbsError::new(&source, diagnostics);
        let parse = |text: &str, first, ranges: &[_]| {
            crate::syntax::parse(text, first, ranges).map_err(|diagnostic| error(vec![diagnostic]))
        };
        let mut file = parse(&source.text, source.end_of_first() + 1, &source.ranges())?;
        crate::syntax::apply_traits(&mut file).map_err(|diagnostic| error(vec![diagnostic]))?;
        let library = parse(crate::syntax::PRELUDE, u32::MAX, &[])?;
        let main =
            crate::inputs::main_block(&file, &library, method, bounds).map_err(|diagnostic| error(vec![diagnostic]))?;
        file.main = Some((main, crate::source::Span::default()));
        let mut code = crate::check::check(&source, &file).map_err(error)?;
        code.caveats.push(format!("inputs of {method}: {bounds}; errors that need others are not found"));
        let record = Record::new(&code, method_number(&code, method));
        Ok(AbsProgram { record: Some(record), ..AbsProgram::of_code(code) })
    }

    /// Returns the branches that the explored executions of a program of [`AbsProgram::parse_method`] have reached so far.
    /// Returns `None` for other programs.
    ///
    /// ```
    /// use whippet_abs::AbsProgram;
    /// assert_eq!(AbsProgram::parse("empty.abs", "{ }").unwrap().coverage(), None);
    /// ```
    #[must_use]
    pub fn coverage(&self) -> Option<Coverage> {
        Some(self.record.as_ref()?.coverage(&self.code))
    }

    /// Returns an ABS program that calls the method once with each input that was explored, and asserts that the result is one
    /// of those that were found. The arguments must be those of the call of [`AbsProgram::parse_method`]. Returns `None` for other
    /// programs.
    ///
    /// ```
    /// use whippet_abs::{AbsProgram, InputBounds};
    /// let text = "module M; export *; interface Till { Int rest(Int paid); }
    ///     class Till implements Till { Int rest(Int paid) { return paid - 1; } }";
    /// let (files, bounds) = ([("till.abs".to_string(), text.to_string())], InputBounds::default().with_ints(1..=2));
    /// let program = AbsProgram::parse_method(&files, Vec::new, "Till.rest", &bounds).unwrap();
    /// whippet_search::explore(program.clone().into(), &Default::default(), &()).unwrap();
    /// let cases = program.method_cases(&files, Vec::new, "Till.rest", &bounds).unwrap();
    /// assert!(cases.contains("input2!rest(2)") && cases.contains("result == 1"), "{cases}");
    /// let all = [("cases.abs".to_string(), cases), files[0].clone()];
    /// let verdict = whippet_search::explore(AbsProgram::parse_files(&all, Vec::new).unwrap().into(), &Default::default(), &());
    /// assert!(verdict.unwrap().findings.is_empty());
    /// ```
    #[must_use]
    pub fn method_cases(
        &self,
        files: &[(String, String)],
        others: impl FnOnce() -> Vec<(String, String)>,
        method: &str,
        bounds: &crate::InputBounds,
    ) -> Option<String> {
        let record = self.record.as_ref()?;
        let all = with_imports(files.to_vec(), others);
        let source = crate::source::Source::new(&all);
        let mut file = crate::syntax::parse(&source.text, source.end_of_first() + 1, &source.ranges()).ok()?;
        crate::syntax::apply_traits(&mut file).ok()?;
        let library = crate::syntax::parse(crate::syntax::PRELUDE, u32::MAX, &[]).ok()?;
        let main = crate::inputs::main_block(&file, &library, method, bounds).ok()?;
        let result = crate::inputs::result_type(&file, method)?;
        let about = format!("Generated: all inputs of {method} with {bounds}.");
        let modules: Vec<String> = file.modules.iter().map(|module| module.text.to_string()).collect();
        let write = |into: &str| crate::cases::write(&record.cases(), &main, result, &modules, into, &about);
        let text = write("Cases");
        // A module that does not export all that the cases need gets them as a part of its own.
        let mut together = all;
        together.insert(0, ("cases.abs".into(), text.clone()));
        match AbsProgram::of_files(&together) {
            Err(_) if !modules.is_empty() => Some(write(&modules[0])),
            _ => Some(text),
        }
    }

    /// Returns `true` if a text has a main block.
    ///
    /// ```
    /// use whippet_abs::AbsProgram;
    /// assert!(AbsProgram::has_main_block("module M; { skip; }"));
    /// assert!(!AbsProgram::has_main_block("module M; class C { }"));
    /// ```
    #[must_use]
    pub fn has_main_block(text: &str) -> bool {
        crate::syntax::parse(text, u32::MAX, &[]).is_ok_and(|file| file.main.is_some())
    }

    /// Checks the syntax of a text and nothing else: names need no declaration, and no main block is required.
    ///
    /// ```
    /// use whippet_abs::AbsProgram;
    /// assert!(AbsProgram::parse_syntax("part.abs", "class C implements Unknown { }").is_ok());
    /// assert!(AbsProgram::parse_syntax("wrong.abs", "class { }").is_err());
    /// ```
    pub fn parse_syntax(name: &str, text: &str) -> Result<(), crate::AbsError> {
        let source = crate::source::Source::new(&[(name.into(), text.into())]);
        let file = crate::syntax::parse(&source.text, source.end_of_first() + 1, &source.ranges());
        file.map(drop).map_err(|diagnostic| crate::AbsError::new(&source, vec![diagnostic]))
    }

    /// Checks the syntax, names and types of a text, which need not have a main block.
    ///
    /// ```
    /// use whippet_abs::AbsProgram;
    /// assert!(AbsProgram::check("library.abs", "module M; export *; def Int two() = 2;").is_ok());
    /// assert!(AbsProgram::check("wrong.abs", "module M; def Int two() = True;").is_err());
    /// ```
    pub fn check(name: &str, text: &str) -> Result<(), crate::AbsError> {
        let source = crate::source::Source::new(&[(name.into(), text.into())]);
        let error = |diagnostics| crate::AbsError::new(&source, diagnostics);
        let mut file = crate::syntax::parse(&source.text, source.end_of_first() + 1, &source.ranges())
            .map_err(|one| error(vec![one]))?;
        file.main.get_or_insert_with(|| (Vec::new(), crate::source::Span::default()));
        crate::check::check(&source, &file).map(drop).map_err(error)
    }

    fn of_files(files: &[(String, String)]) -> Result<AbsProgram, crate::AbsError> {
        let source = crate::source::Source::new(files);
        let file = crate::syntax::parse(&source.text, source.end_of_first() + 1, &source.ranges());
        let file = file.map_err(|diagnostic| crate::AbsError::new(&source, vec![diagnostic]))?;
        let code =
            crate::check::check(&source, &file).map_err(|diagnostics| crate::AbsError::new(&source, diagnostics))?;
        Ok(AbsProgram::of_code(code))
    }

    fn of_code(code: Code) -> AbsProgram {
        let (conflict_rule, statements) = (ConflictRule::default(), DEFAULT_STATEMENTS);
        AbsProgram { code: Arc::new(code), stability: Arc::default(), conflict_rule, statements, record: None }
    }

    /// Returns notes on how the program was understood, for example that it is written in an older dialect.
    ///
    /// ```
    /// use whippet_abs::AbsProgram;
    /// let older = AbsProgram::parse("older.abs", "class C { } { new cog C(); }").unwrap();
    /// assert!(older.notes()[0].contains("older"));
    /// ```
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.code.notes
    }

    /// Sets the conflict rule.
    ///
    /// ```
    /// # use whippet_abs::AbsProgram;
    /// # let program = AbsProgram::parse("cell.abs", r#"
    /// #     interface Cell { Unit set(Int v); }
    /// #     class Cell implements Cell { Int value = 0; Unit set(Int v) { value = v; } }
    /// #     { Cell c = new Cell(); c!set(1); c!set(2); }
    /// # "#).unwrap();
    /// use whippet_abs::ConflictRule;
    /// let verdict = whippet_search::explore(program.conflict_rule(ConflictRule::Actors).into(), &Default::default(), &()).unwrap();
    /// assert_eq!(verdict.counters.executions, 2);
    /// ```
    #[must_use]
    pub fn conflict_rule(mut self, rule: ConflictRule) -> AbsProgram {
        self.conflict_rule = rule;
        self
    }

    /// Sets the limit on the statements of one step, which ends endless loops.
    ///
    /// ```
    /// use whippet_abs::AbsProgram;
    /// let endless = AbsProgram::parse("endless.abs", "{ while (True) { skip; } }").unwrap().statement_limit(1_000);
    /// let verdict = whippet_search::explore(endless.into(), &Default::default(), &()).unwrap();
    /// assert_eq!(verdict.findings[0].kind, whippet_model::FindingKind::Limit);
    /// ```
    #[must_use]
    pub fn statement_limit(mut self, limit: u64) -> AbsProgram {
        self.statements = limit;
        self
    }
}

/// Adds the files with modules that are imported, directly or indirectly. `others` returns the files that may have them.
fn with_imports(
    mut files: Vec<(String, String)>,
    others: impl FnOnce() -> Vec<(String, String)>,
) -> Vec<(String, String)> {
    let (mut declared, mut imported) = (Vec::new(), Vec::new());
    for (_, text) in &files {
        let (modules, imports) = crate::syntax::modules(text);
        declared.extend(modules);
        imported.extend(imports);
    }
    let mut others = Some(others);
    let mut remaining: Vec<(String, String)> = Vec::new();
    while let Some(module) = imported.pop() {
        if declared.contains(&module) || crate::check::is_library(&module) {
            continue;
        }
        if let Some(others) = others.take() {
            remaining = others();
        }
        let declares = |(_, text): &(String, String)| crate::syntax::modules(text).0.contains(&module);
        if let Some(k) = remaining.iter().position(declares) {
            let file = remaining.remove(k);
            let (modules, imports) = crate::syntax::modules(&file.1);
            declared.extend(modules);
            imported.extend(imports);
            files.push(file);
        }
    }
    files
}

/// Returns the number of a method, given as `Class.method`.
fn method_number(code: &Code, method: &str) -> u32 {
    let (class, name) = method.rsplit_once('.').expect("the main block calls the method");
    let is_named = |known: &str| known == class || known.rsplit_once('.').is_some_and(|(_, last)| last == class);
    let program = code.classes.iter().skip(code.library_classes as usize);
    let class = program.filter(|known| is_named(&known.name)).find_map(|class| {
        let methods = class.methods.iter();
        methods.clone().find(|&&(known, _)| code.method_names[known as usize] == name).map(|&(_, number)| number)
    });
    class.expect("the main block calls the method")
}

/// Moves the file with the main block to the front.
fn main_first(files: &mut [(String, String)]) -> Result<(), crate::AbsError> {
    if files.len() < 2 {
        return Ok(());
    }
    let main = |text: &str| crate::syntax::parse(text, u32::MAX, &[]).ok()?.main.map(|(_, span)| span);
    let found: Vec<(usize, crate::source::Span)> =
        files.iter().enumerate().filter_map(|(k, (_, text))| Some((k, main(text)?))).collect();
    match found[..] {
        [] | [(0, _), ..] => {}
        [(k, _)] => files[..=k].rotate_right(1),
        [(first, _), (second, span), ..] => {
            let source = crate::source::Source::new(&files[second..=second]);
            let message = "several files have a main block, and the first file has none";
            let help = format!("another one is in {}: name the file whose main block is to run first", files[first].0);
            let diagnostic = crate::error::Diagnostic::new(span, message).help(help);
            return Err(crate::AbsError::new(&source, vec![diagnostic]));
        }
    }
    Ok(())
}

impl Program for AbsProgram {
    type Machine = AbsMachine;

    fn machine(&self, _: &MachineConfig) -> Result<AbsMachine, MachineError> {
        Ok(AbsMachine::new(self))
    }

    fn name(&self) -> String {
        self.code.source.name.clone()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn caveats(&self) -> Vec<String> {
        self.code.caveats.clone()
    }

    fn refinements(&self) -> u64 {
        0
    }
}
