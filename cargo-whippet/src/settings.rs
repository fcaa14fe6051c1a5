//! The settings of one package. They come from the metadata of the workspace, the metadata of the package, and the
//! command line, where later sources override earlier ones. Environment variables pass them to the test processes.

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
    /// Returns the environment variables that pass the settings to test processes.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let flag = |given: Option<bool>| given.filter(|on| *on).map(|_| "1".to_string());
        let number = |given: Option<u64>| given.map(|n| n.to_string());
        [
            ("WHIPPET_REDUCTION", self.reduction.clone()),
            ("WHIPPET_LIMIT_EXECUTIONS", number(self.limit_executions)),
            ("WHIPPET_LIMIT_SECONDS", self.limit_seconds.map(|n| n.to_string())),
            ("WHIPPET_LIMIT_STEPS", number(self.limit_steps.map(|n| n as u64))),
            ("WHIPPET_TIMERS", number(self.timers)),
            ("WHIPPET_JOBS", number(self.workers)),
            ("WHIPPET_FIRST_BUG", flag(self.first_bug)),
            ("WHIPPET_LEFT_BEHIND", flag(self.left_behind)),
            ("WHIPPET_UNTAKEN", flag(self.untaken)),
            ("WHIPPET_DEEP", flag(self.deep)),
            ("WHIPPET_NO_MERGE", flag(self.no_merge)),
            ("WHIPPET_ONCE", flag(self.once)),
            ("WHIPPET_BESIDE", number(self.random.filter(|n| *n > 0))),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_command_line_goes_first() {
        let package = json!({"whippet": {"limit-seconds": 5, "hook": ["a", "b"], "left-behind": true}});
        let search = merged(&Value::Null, &package, &["--limit-seconds".into(), "7".into()]).unwrap();
        assert_eq!((search.limit_seconds, search.left_behind), (Some(7.0), Some(true)));
        assert_eq!(search.hooks.hook, ["a", "b"]);
    }

    #[test]
    fn unknown_settings_say_where() {
        let error = merged(&json!({"whippet": {"limits": 5}}), &Value::Null, &[]).unwrap_err();
        assert!(
            error.starts_with("in [workspace.metadata.whippet]: there is no setting `limits`; known are:"),
            "{error}"
        );
    }
}
