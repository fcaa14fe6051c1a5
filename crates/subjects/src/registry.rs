//! The list of subjects, by name.

use crate::programs;
use crate::settings::{Parameter, Settings, SettingsError};
use std::sync::Arc;
use whippet::{ActorProgram, System};

/// A program of the papers.
///
/// ```
/// use whippet_model::Program;
/// let subject = whippet_subjects::find("pi").unwrap();
/// assert_eq!(subject.parameters[0].name, "workers");
/// let program = subject.program([("workers", "3")]).unwrap();
/// assert_eq!(program.name(), "pi");
/// assert!(subject.program([("workers", "many")]).is_err());
/// ```
#[derive(Copy, Clone, Debug)]
pub struct Subject {
    /// The name on the command line.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// The parameters that can be set.
    pub parameters: &'static [Parameter],
    /// The basis of the reconstruction, if the source of the original is not public.
    pub reconstructed: Option<&'static str>,
    pub(crate) body: fn(&Settings) -> Body,
}

/// The body of a subject's test.
pub(crate) type Body = Arc<dyn Fn(&mut System) + Send + Sync>;

/// Creates a body.
pub(crate) fn body(body: impl Fn(&mut System) + Send + Sync + 'static) -> Body {
    Arc::new(body)
}

impl Subject {
    /// Checks the settings and fills in the defaults.
    ///
    /// ```
    /// let pi = whippet_subjects::find("pi").unwrap();
    /// assert_eq!(pi.settings([("workers", "3")]).unwrap().get("workers"), Some("3"));
    /// assert_eq!(pi.settings([]).unwrap().get("workers"), Some("4"), "the default");
    /// ```
    pub fn settings<'a>(&self, set: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Settings, SettingsError> {
        Settings::new(self.name, self.parameters, set)
    }

    /// Returns the subject as a program, ready to be searched or replayed.
    ///
    /// ```
    /// let server = whippet_subjects::find("server").unwrap().program([("assert", "true")]).unwrap();
    /// let verdict = whippet_search::explore(std::sync::Arc::new(server), &Default::default(), &()).unwrap();
    /// assert_eq!(verdict.findings.len(), 1, "the inconsistent read");
    /// ```
    pub fn program<'a>(
        &self,
        set: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<ActorProgram, SettingsError> {
        let settings = self.settings(set)?;
        let body = (self.body)(&settings);
        let test = ActorProgram::new(self.name, move |system: &mut System| body(system));
        Ok(settings.iter().fold(test, |test, (name, value)| test.parameter(name, value)))
    }
}

/// Returns all subjects, small ones first.
///
/// ```
/// assert!(whippet_subjects::all().iter().any(|subject| subject.name == "philosophers"));
/// ```
#[must_use]
pub fn all() -> &'static [Subject] {
    programs::ALL
}

/// A subject that does not exist.
///
/// ```
/// let error = whippet_subjects::find("hanoi").unwrap_err();
/// assert!(error.to_string().contains("unknown subject `hanoi`"), "{error}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown subject `{name}`; expected one of: {known}")]
pub struct UnknownSubject {
    name: String,
    known: String,
}

/// Returns the subject with this name.
///
/// ```
/// assert_eq!(whippet_subjects::find("fib").unwrap().about, "Fibonacci numbers by a tree of actors");
/// ```
pub fn find(name: &str) -> Result<&'static Subject, UnknownSubject> {
    all().iter().find(|subject| subject.name == name).ok_or_else(|| UnknownSubject {
        name: name.into(),
        known: all().iter().map(|subject| subject.name).collect::<Vec<_>>().join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use whippet_model::Program;

    #[test]
    fn every_subject_builds_with_its_defaults_and_its_variants() {
        for subject in all() {
            subject
                .program([])
                .unwrap()
                .machine(&Default::default())
                .unwrap_or_else(|e| panic!("{}: {e}", subject.name));
            if let Some(variant) = subject.parameters.iter().find(|p| p.name == "variant") {
                for word in variant.allowed().split(" or ") {
                    subject.program([("variant", word)]).unwrap().machine(&Default::default()).unwrap();
                }
            }
        }
    }

    #[test]
    fn defaults_are_values_that_could_be_set() {
        for subject in all() {
            // An empty default means "not given".
            let set = subject.parameters.iter().map(|p| (p.name, p.default)).filter(|(_, value)| !value.is_empty());
            assert_eq!(subject.settings(set.collect::<Vec<_>>()), subject.settings([]), "{}", subject.name);
        }
    }

    #[test]
    fn names_are_unique_and_an_unknown_one_lists_them() {
        let mut names: Vec<_> = all().iter().map(|s| s.name).collect();
        let error = find("hanoi").unwrap_err().to_string();
        assert_eq!(error, format!("unknown subject `hanoi`; expected one of: {}", names.join(", ")));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
    }

    #[test]
    fn a_program_tells_its_settings() {
        let program = find("shortpath").unwrap().program([("graph", "0-1")]).unwrap();
        let parameters = program.parameters();
        assert_eq!(parameters[0], ("graph".into(), "0-1".into()));
        assert_eq!(parameters[1], ("variant".into(), "actorfoundry".into()));
    }
}
