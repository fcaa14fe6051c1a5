//! The parameters of a subject and their values: declaration, defaults, validation.

use std::fmt;

/// A parameter of a subject.
///
/// ```
/// let pi = whippet_subjects::find("pi").unwrap();
/// assert_eq!((pi.parameters[0].name, pi.parameters[0].default), ("workers", "4"));
/// assert_eq!(pi.parameters[0].allowed(), "1 to 12");
/// ```
#[derive(Copy, Clone, Debug)]
pub struct Parameter {
    /// The name, as in `--set name=value`.
    pub name: &'static str,
    /// The default value.
    pub default: &'static str,
    /// A short explanation.
    pub help: &'static str,
    pub(crate) values: Values,
}

/// The allowed values of a parameter.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Values {
    /// A number in this range, both ends included.
    Number(u32, u32),
    /// `true` or `false`.
    Flag,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A value that the function accepts; otherwise it returns the reason.
    Checked(fn(&str) -> Result<(), String>),
}

impl Parameter {
    pub(crate) const fn new(
        name: &'static str,
        default: &'static str,
        values: Values,
        help: &'static str,
    ) -> Parameter {
        Parameter { name, default, help, values }
    }

    /// Returns a description of the allowed values: `1 to 8`, `true or false`.
    #[must_use]
    pub fn allowed(&self) -> String {
        match self.values {
            Values::Number(least, most) => format!("{least} to {most}"),
            Values::Flag => "true or false".into(),
            Values::OneOf(words) => words.join(" or "),
            Values::Checked(_) => "see its help".into(),
        }
    }

    fn check(&self, value: &str) -> Result<(), String> {
        let allowed = match self.values {
            Values::Number(least, most) => value.parse().is_ok_and(|n: u32| (least..=most).contains(&n)),
            Values::Flag => matches!(value, "true" | "false"),
            Values::OneOf(words) => words.contains(&value),
            Values::Checked(check) => return check(value),
        };
        if allowed { Ok(()) } else { Err(format!("expected {}", self.allowed())) }
    }
}

/// An invalid setting of a subject.
///
/// ```
/// let error = whippet_subjects::find("pi").unwrap().settings([("workers", "many")]).unwrap_err();
/// assert!(error.to_string().contains("1 to 12"), "{error}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The subject has no such parameter.
    #[error("`{subject}` has no parameter `{name}`; {known}")]
    UnknownParameter {
        /// The subject.
        subject: String,
        /// The name that was set.
        name: String,
        /// The parameters that exist, as a sentence.
        known: String,
    },
    /// The parameter cannot have this value.
    #[error("`{name}` of `{subject}` cannot be `{value}`: {why}")]
    BadValue {
        /// The subject.
        subject: String,
        /// The parameter.
        name: String,
        /// The value that was set.
        value: String,
        /// The reason, including the allowed values.
        why: String,
    },
}

/// The values of all parameters of a subject, in the order of their declaration.
///
/// ```
/// let settings = whippet_subjects::find("producers").unwrap().settings([("k", "2")]).unwrap();
/// assert_eq!(settings.get("k"), Some("2"));
/// assert_eq!(settings.iter().collect::<Vec<_>>(), [("k", "2"), ("keep", "all")]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    values: Vec<(&'static str, String)>,
}

impl Settings {
    pub(crate) fn new<'a>(
        subject: &str,
        parameters: &'static [Parameter],
        set: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Settings, SettingsError> {
        let mut values: Vec<_> = parameters.iter().map(|p| (p.name, p.default.to_string())).collect();
        for (name, value) in set {
            let Some(at) = parameters.iter().position(|p| p.name == name) else {
                return Err(SettingsError::UnknownParameter {
                    subject: subject.into(),
                    name: name.into(),
                    known: known(parameters),
                });
            };
            parameters[at].check(value).map_err(|why| SettingsError::BadValue {
                subject: subject.into(),
                name: name.into(),
                value: value.into(),
                why,
            })?;
            values[at].1 = value.into();
        }
        Ok(Settings { values })
    }

    /// Returns the value of a parameter as it was written.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_str())
    }

    /// Iterates over all names and values, in the order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.values.iter().map(|(n, v)| (*n, v.as_str()))
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).expect("a subject asks for the parameters it declares")
    }

    pub(crate) fn number(&self, name: &str) -> usize {
        self.text(name).parse().expect("numbers are checked when they are set, and defaults are numbers")
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.text(name) == "true"
    }

    pub(crate) fn is_scala(&self) -> bool {
        self.text("variant") == "scala"
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&parts.join(" "))
    }
}

fn known(parameters: &[Parameter]) -> String {
    match parameters {
        [] => "it has none".into(),
        _ => format!("it has: {}", parameters.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[Parameter] = &[
        Parameter::new("n", "3", Values::Number(1, 8), "how many"),
        Parameter::new("assert", "false", Values::Flag, "whether to look"),
        Parameter::new("variant", "actorfoundry", Values::OneOf(&["actorfoundry", "scala"]), "the original"),
    ];

    fn set(values: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::new("toy", PARAMETERS, values.iter().copied()).map_err(|e| e.to_string())
    }

    #[test]
    fn defaults_stay_unless_set() {
        let settings = set(&[("assert", "true")]).unwrap();
        assert_eq!(settings.to_string(), "n=3 assert=true variant=actorfoundry");
        assert_eq!((settings.number("n"), settings.flag("assert"), settings.is_scala()), (3, true, false));
    }

    #[test]
    fn errors_say_what_is_possible() {
        assert_eq!(set(&[("m", "3")]).unwrap_err(), "`toy` has no parameter `m`; it has: n, assert, variant");
        assert_eq!(set(&[("n", "9")]).unwrap_err(), "`n` of `toy` cannot be `9`: expected 1 to 8");
        assert_eq!(set(&[("n", "x")]).unwrap_err(), "`n` of `toy` cannot be `x`: expected 1 to 8");
        assert_eq!(set(&[("assert", "1")]).unwrap_err(), "`assert` of `toy` cannot be `1`: expected true or false");
        assert_eq!(
            set(&[("variant", "erlang")]).unwrap_err(),
            "`variant` of `toy` cannot be `erlang`: expected actorfoundry or scala"
        );
    }
}
