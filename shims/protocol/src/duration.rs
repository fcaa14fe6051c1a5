//! Durations on the command line, in manifests and in environment variables.

use std::time::Duration;

/// The units, the longest names first.
const UNITS: [(&str, f64); 6] = [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("min", 60.0), ("s", 1.0)];

/// Parses a duration: a number and a unit, or `unlimited`.
///
/// ```
/// use std::time::Duration;
/// use whippet_protocol::duration;
/// assert_eq!(duration("100ms"), Ok(Duration::from_millis(100)));
/// assert_eq!(duration("1.5 s"), Ok(Duration::from_millis(1_500)));
/// assert_eq!(duration("0"), Ok(Duration::ZERO));
/// assert_eq!(duration("unlimited"), Ok(Duration::MAX));
/// assert_eq!(duration("5").unwrap_err(), "expected a duration with a unit, such as 100ms, 1.5s or unlimited");
/// ```
///
/// # Errors
///
/// With the form that is expected.
pub fn duration(text: &str) -> Result<Duration, String> {
    match text.trim() {
        "unlimited" => return Ok(Duration::MAX),
        "0" => return Ok(Duration::ZERO),
        _ => {}
    }
    let of_unit =
        |(unit, seconds): (&str, f64)| Some(text.trim().strip_suffix(unit)?.trim_end().parse::<f64>().ok()? * seconds);
    let seconds = UNITS.into_iter().find_map(of_unit);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "expected a duration with a unit, such as 100ms, 1.5s or unlimited".into())
}
