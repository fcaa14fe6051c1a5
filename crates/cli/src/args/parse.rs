//! Parsers for the values of flags.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::str::FromStr;
use std::time::Duration;

/// Returns a parser for one of several names, each with a line of help.
pub(super) fn choice<T>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    help: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + FromStr + Send + Sync + 'static,
{
    let values = all.iter().map(|&known| PossibleValue::new(name(known)).help(help(known)));
    PossibleValuesParser::new(values)
        .map(|name| name.parse().unwrap_or_else(|_| unreachable!("clap accepts only known names")))
}

/// Parses `NAME=VALUE`.
pub(super) fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("expected NAME=VALUE, e.g. workers=4".into()),
    }
}

/// Parses a number of seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .and_then(|number| Duration::try_from_secs_f64(number).ok())
        .ok_or_else(|| "expected seconds, e.g. 1.5".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_needs_a_name_and_a_value() {
        assert_eq!(setting("edges=a=b"), Ok(("edges".into(), "a=b".into())));
        assert!(setting("n").unwrap_err().contains("NAME=VALUE"));
        assert!(setting("=3").is_err());
    }

    #[test]
    fn seconds_are_positive_decimals() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in ["-1", "soon", "inf", "NaN", ""] {
            assert_eq!(seconds(wrong), Err("expected seconds, e.g. 1.5".into()), "{wrong}");
        }
    }
}
