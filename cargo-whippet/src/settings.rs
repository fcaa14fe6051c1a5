//! The settings of one package. They come from the metadata of the workspace, the metadata of the package, environment
//! variables, and the command line, where later sources override earlier ones.

use crate::arguments::{self, Search};
use serde_json::Value;
use std::ffi::OsString;
use whippet_protocol::{Session, given_settings};

/// Merges the settings that apply to a package.
pub(crate) fn merged(workspace: &Value, package: &Value, own: &[String]) -> Result<Search, String> {
    let mut words = Vec::new();
    for (metadata, table) in [(workspace, "workspace"), (package, "package")] {
        let given = words_of(&metadata["whippet"]);
        arguments::search(&given).map_err(|error| format!("in [{table}.metadata.whippet]: {error}"))?;
        words.extend(given);
    }
    words.extend(environment(|name| std::env::var_os(name))?);
    words.extend(own.iter().cloned());
    arguments::search(&words)
}

/// Converts environment variables to command-line words.
fn environment(variable: impl Fn(&str) -> Option<OsString>) -> Result<Vec<String>, String> {
    // The session of this process names the variable if a value is wrong.
    Session::of_variables(&variable).map_err(|error| error.to_string())?;
    let word = |(field, _, value): (String, String, String)| format!("--{}={value}", field.replace('_', "-"));
    Ok(given_settings(variable).into_iter().map(word).collect())
}

/// Converts a table of metadata to command-line words.
fn words_of(table: &Value) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let words: Vec<String> =
                list.iter().map(|word| word.as_str().map_or(word.to_string(), Into::into)).collect();
            words.join(",")
        }
        other => other.to_string(),
    };
    table.as_object().into_iter().flatten().map(|(name, value)| format!("--{name}={}", text(value))).collect()
}

impl Search {
    /// Returns the settings for test processes.
    pub(crate) fn settings(&self) -> whippet_protocol::Settings {
        let flag = |given: Option<bool>| given == Some(true);
        whippet_protocol::Settings {
            reduction: self.reduction.clone(),
            limit_executions: self.limit_executions,
            limit_seconds: self.limit_seconds,
            limit_steps: self.limit_steps,
            workers: self.workers.map(|n| n as usize),
            timers: self.timers,
            stall: self.stall.clone(),
            threads: self.threads.clone(),
            random: self.random,
            first_bug: flag(self.first_bug),
            leaked_tasks: flag(self.leaked_tasks),
            unreceived: flag(self.unreceived),
            preempt_everywhere: flag(self.preempt_everywhere),
            no_merge: flag(self.no_merge),
            once: flag(self.once),
            order: self.order.clone(),
            sleep_sets: flag(self.sleep_sets),
            seed: self.seed,
            samples: self.samples,
            html: self.html.clone(),
            regressions: self.regressions.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_command_line_goes_first() {
        let package =
            json!({"whippet": {"limit-seconds": 5, "hook": ["a", "b"], "left-behind": true, "unreceived": true}});
        let search = merged(&Value::Null, &package, &["--limit-seconds".into(), "7".into()]).unwrap();
        assert_eq!((search.limit_seconds, search.leaked_tasks, search.unreceived), (Some(7.0), Some(true), Some(true)));
        assert_eq!(search.hooks.hook, ["a", "b"]);
    }

    #[test]
    fn variables_are_settings() {
        let variables = |name: &str| match name {
            "WHIPPET_JOBS" => Some("3".into()),
            "WHIPPET_FIRST_BUG" => Some("1".into()),
            "WHIPPET_ONCE" => Some("0".into()),
            _ => None,
        };
        let words = environment(variables).unwrap();
        assert_eq!(words, ["--first-bug=true", "--once=false", "--workers=3"]);
        assert!(arguments::search(&words).is_ok());
        let error = environment(|name| (name == "WHIPPET_SEED").then(|| "x".into())).unwrap_err();
        assert_eq!(error, "WHIPPET_SEED=x is not understood: expected a number");
    }

    /// Every setting is documented with its variable and is an option of the same name.
    #[test]
    fn every_setting_is_documented() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/command-line.md");
        let docs = std::fs::read_to_string(docs).unwrap();
        let all = given_settings(|_| Some("1".into()));
        assert!(all.len() > 15, "{all:?}");
        for (field, ..) in all {
            let row = format!("`WHIPPET_{}` | `--{}`", field.to_uppercase(), field.replace('_', "-"));
            assert!(docs.contains(&row), "this row is missing: {row}");
        }
    }

    #[test]
    fn unknown_settings_say_where() {
        let error = merged(&json!({"whippet": {"limits": 5}}), &Value::Null, &[]).unwrap_err();
        assert!(
            error.starts_with("in [workspace.metadata.whippet]: there is no setting `limits`; the settings are:"),
            "{error}"
        );
    }
}
