//! The identity of a search: what must be the same so that it can be continued.

use crate::chosen::ChosenProgram;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use whippet_search::Options;

/// The properties of a search that decide what is executed, and in which parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity(Vec<(String, String)>);

/// Returns a hash as text. It means the same in all runs of one executable.
pub(crate) fn hash(value: impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

impl Identity {
    /// Returns the identity of a search of this program. Limits on time and executions, and the number of workers, do not
    /// belong to it. The executable is still missing.
    pub(super) fn of(target: &ChosenProgram, options: &Options) -> Identity {
        let recorded = target.recorded();
        let limits = &options.limits;
        let mut all = vec![
            ("program".to_string(), recorded.program),
            ("version of Whippet".into(), env!("CARGO_PKG_VERSION").into()),
            ("source".into(), target.sources.clone()),
        ];
        all.extend(recorded.settings.into_iter().map(|(name, value)| (format!("setting {name}"), value)));
        for (name, value) in [
            ("reduction", options.reduction.to_string()),
            ("order", options.order.to_string()),
            ("first-bug", options.first_bug.to_string()),
            ("undeliverable", options.undeliverable_is_error.to_string()),
            ("limit-steps", limits.steps.to_string()),
            ("limit-findings", limits.findings.to_string()),
        ] {
            all.push((format!("--{name}"), value));
        }
        Identity(all)
    }

    /// Adds the executable of this process, which takes a while to read.
    pub(super) fn with_executable(mut self) -> Result<Identity, String> {
        let read = || std::fs::read(std::env::current_exe()?);
        let executable = read().map_err(|why| format!("cannot read the executable: {why}"))?;
        self.0.push(("executable".into(), hash(executable)));
        Ok(self)
    }

    /// Returns the properties in which another search differs, in words. `self` is the one that was saved.
    pub(super) fn differences(&self, other: &Identity) -> Vec<String> {
        let value = |of: &Identity, name: &str| {
            of.0.iter().find(|(known, _)| known == name).map_or_else(String::new, |(_, value)| value.clone())
        };
        let mut names: Vec<&String> = self.0.iter().chain(&other.0).map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        let differ = names.into_iter().filter(|name| value(self, name) != value(other, name));
        differ
            .map(|name| match name.as_str() {
                "executable" => "it was made by another build of the command".to_string(),
                "source" => "the source of the program has changed".to_string(),
                name => format!("its {name} is `{}`, here it is `{}`", value(self, name), value(other, name)),
            })
            .collect()
    }

    /// Returns a name for a directory of this search.
    pub(super) fn directory_name(&self) -> String {
        hash(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told_in_words() {
        let identity = |values: &[(&str, &str)]| {
            Identity(values.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
        };
        let saved = identity(&[("executable", "1"), ("--order", "eca"), ("program", "pi")]);
        let here = identity(&[("executable", "2"), ("--order", "lca"), ("program", "pi")]);
        assert_eq!(
            saved.differences(&here),
            ["its --order is `eca`, here it is `lca`", "it was made by another build of the command"]
        );
        assert!(saved.differences(&saved).is_empty());
        assert_ne!(saved.directory_name(), here.directory_name());
    }
}
