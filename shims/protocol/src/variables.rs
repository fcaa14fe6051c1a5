//! Settings from environment variables: the only place that reads their values.

use crate::{Error, SERVE, Settings, Work};
use serde_json::{Map, Value};
use std::ffi::OsString;
use whippet_search::{Order, Reduction};

/// Other names of settings in the environment: `WHIPPET_JOBS` beside `WHIPPET_WORKERS`, and former names.
const OTHER_NAMES: [(&str, &str); 5] = [
    ("workers", "WHIPPET_JOBS"),
    ("leaked_tasks", "WHIPPET_LEFT_BEHIND"),
    ("unreceived", "WHIPPET_UNTAKEN"),
    ("preempt_everywhere", "WHIPPET_DEEP"),
    ("random", "WHIPPET_BESIDE"),
];

/// Returns the settings that these variables give, sorted: the field, the variable, and its value, where flags are `true`
/// or `false`. Variables that are empty are not given.
///
/// ```
/// let variable = |name: &str| (name == "WHIPPET_JOBS").then(|| "2".into());
/// let given = whippet_protocol::given_settings(variable);
/// assert_eq!(given, [("workers".to_string(), "WHIPPET_JOBS".to_string(), "2".to_string())]);
/// ```
#[must_use]
pub fn given_settings(variable: impl Fn(&str) -> Option<OsString>) -> Vec<(String, String, String)> {
    let given = |field: &str, default: &Value| {
        let name = format!("WHIPPET_{}", field.to_uppercase());
        let other = OTHER_NAMES.iter().find(|(now, _)| *now == field).map_or("", |(_, other)| other);
        [name.as_str(), other].into_iter().find_map(|name| {
            let value = variable(name).filter(|value| !value.is_empty())?;
            let value = match (default, &*value.to_string_lossy()) {
                (Value::Bool(_), "1") => "true".into(),
                (Value::Bool(_), "0") => "false".into(),
                (_, text) => text.to_string(),
            };
            Some((field.to_string(), name.to_string(), value))
        })
    };
    defaults().iter().filter_map(|(field, default)| given(field, default)).collect()
}

/// Returns all settings with their default values.
fn defaults() -> Map<String, Value> {
    match serde_json::to_value(Settings::default()) {
        Ok(Value::Object(fields)) => fields,
        _ => unreachable!("settings have fields"),
    }
}

/// Returns the settings that these variables give.
pub(crate) fn settings(variable: &impl Fn(&str) -> Option<OsString>) -> Result<Settings, Error> {
    let mut fields = defaults();
    for (field, variable, value) in given_settings(variable) {
        let wrong = |reason: String| Error::Variable { variable, value: value.clone(), reason };
        let read = read(&field, &fields[&field], &value).map_err(wrong)?;
        fields.insert(field, read);
    }
    Ok(serde_json::from_value(Value::Object(fields))?)
}

/// Reads the value of a setting with this default.
fn read(field: &str, default: &Value, text: &str) -> Result<Value, String> {
    if default.is_boolean() {
        return match text {
            "true" => Ok(true.into()),
            "false" => Ok(false.into()),
            _ => Err("expected 1 (on) or 0 (off)".into()),
        };
    }
    match field {
        "reduction" => text.parse::<Reduction>().map(|_| text.into()).map_err(|error| error.to_string()),
        "order" => text.parse::<Order>().map(|_| text.into()).map_err(|error| error.to_string()),
        "html" | "regressions" => Ok(text.into()),
        "stall" => crate::duration(text).map(|_| text.into()),
        "threads" if ["several", "one", "declared"].contains(&text) => Ok(text.into()),
        "threads" => Err("expected `several`, `one` or `declared`".into()),
        "limit_seconds" => match text.parse::<f64>() {
            Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok(seconds.into()),
            _ => Err("expected a number of seconds, e.g. 1.5".into()),
        },
        _ => text.parse::<u64>().map(Value::from).map_err(|_| "expected a number".into()),
    }
}

/// Reads the value of [`SERVE`].
pub(crate) fn serve(value: &str) -> Result<Work, Error> {
    match value {
        "" | "0" | "false" => Ok(Work::Search),
        "1" | "true" => Ok(Work::Serve { port: 0 }),
        port => port.parse().map(|port| Work::Serve { port }).map_err(|_| Error::Variable {
            variable: SERVE.into(),
            value: value.into(),
            reason: "expected 1, or a port".into(),
        }),
    }
}
