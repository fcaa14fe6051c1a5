//! The settings of one package. They come from the metadata of the workspace, the metadata of the package, and the
//! command line, where later sources override earlier ones.

use crate::arguments::{self, Search};
use serde_json::Value;

/// Merges the settings that apply to a package.
pub(crate) fn merged(workspace: &Value, package: &Value, own: &[String]) -> Result<Search, String> {
    let mut words = Vec::new();
    for (metadata, table) in [(workspace, "workspace"), (package, "package")] {
        let given = words_of(&metadata["whippet"]);
        arguments::search(&given).map_err(|error| format!("in [{table}.metadata.whippet]: {error}"))?;
        words.extend(given);
    }
    words.extend(own.iter().cloned());
    arguments::search(&words)
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
            random: self.random,
            first_bug: flag(self.first_bug),
            leaked_tasks: flag(self.leaked_tasks),
            unreceived: flag(self.unreceived),
            preempt_everywhere: flag(self.preempt_everywhere),
            no_merge: flag(self.no_merge),
            once: flag(self.once),
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
    fn unknown_settings_say_where() {
        let error = merged(&json!({"whippet": {"limits": 5}}), &Value::Null, &[]).unwrap_err();
        assert!(
            error.starts_with("in [workspace.metadata.whippet]: there is no setting `limits`; the settings are:"),
            "{error}"
        );
    }
}
