//! Parsers for the values of flags.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::ops::RangeInclusive;
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

/// Parses `FIRST..LAST`, both included.
pub(crate) fn range(text: &str) -> Result<RangeInclusive<i64>, String> {
    let bounds = text.split_once("..").and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    match bounds {
        Some((first, last)) if first <= last => Ok(first..=last),
        _ => Err("expected the first and the last number, e.g. -1..2".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_include_both_ends() {
        assert_eq!(range("-1..2"), Ok(-1..=2));
        assert_eq!(range("3..3"), Ok(3..=3));
        for wrong in ["2..1", "1", "1..", "a..b"] {
            assert!(range(wrong).unwrap_err().contains("-1..2"), "{wrong}");
        }
    }

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
