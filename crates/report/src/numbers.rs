//! Formats numbers for people.

use std::time::Duration;
use whippet_model::Estimate;

/// Formats a number with its digits in groups of three: `362,880`.
///
/// ```
/// assert_eq!(whippet_report::grouped(362_880), "362,880");
/// assert_eq!(whippet_report::grouped(12), "12");
/// ```
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats an estimate with its uncertainty, rounded to the significant digits: `about 363,000 ± 21,000`.
///
/// ```
/// let estimate = whippet_model::Estimate::new(362_880.0, 21_234.0);
/// assert_eq!(whippet_report::guess(&estimate), "about 363,000 ± 21,000");
/// ```
#[must_use]
pub fn guess(estimate: &Estimate) -> String {
    if !estimate.total.is_finite() || !estimate.error.is_finite() {
        return "an unknown number of".into();
    }
    let unit = unit(estimate.error).min(unit(estimate.total));
    let total = rounded(estimate.total, unit);
    // Beside the total, such an error says nothing.
    if estimate.error < (estimate.total / 10_000.0).max(0.5) {
        format!("about {total}")
    } else {
        format!("about {total} ± {}", rounded(estimate.error, unit))
    }
}

/// Returns the place value of a number's second digit: further digits are not significant.
fn unit(number: f64) -> f64 {
    10f64.powi((number.max(1.0).log10().floor() as i32 - 1).max(0))
}

/// Rounds a number to a multiple of the unit; from a thousand million on, uses a power of ten.
fn rounded(number: f64, unit: f64) -> String {
    if number >= 1e9 { format!("{number:.1e}") } else { grouped(((number / unit).round() * unit) as u64) }
}

/// Formats a duration in its largest unit: `12 ms`, `1.5 s`.
///
/// ```
/// use std::time::Duration;
/// use whippet_report::time;
/// assert_eq!(time(Duration::from_millis(12)), "12 ms");
/// assert_eq!(time(Duration::from_millis(1_500)), "1.5 s");
/// assert_eq!(time(Duration::from_micros(250)), "250 µs");
/// ```
#[must_use]
pub fn time(duration: Duration) -> String {
    // The text of `Debug` has up to nine digits after the point, without trailing zeros.
    let text = format!("{duration:?}");
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    format!("{} {}", &text[..unit], &text[unit..])
}

/// Formats a count: `1 finding`, `2 findings`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Formats a number of bytes in a suitable unit.
pub(crate) fn bytes(number: u64) -> String {
    let mib = number as f64 / (1024.0 * 1024.0);
    if mib < 1024.0 { format!("{mib:.1} MiB") } else { format!("{:.1} GiB", mib / 1024.0) }
}

/// Formats seconds with as many digits as are significant.
pub(crate) fn seconds(number: f64) -> String {
    if number < 10.0 { format!("{number:.2} s") } else { format!("{number:.0} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_keeps_the_digits_that_its_error_leaves() {
        let guessed = |total, error| guess(&Estimate::new(total, error));
        assert_eq!(guessed(362_880.0, 21_234.0), "about 363,000 ± 21,000");
        assert_eq!(guessed(3_628_800.0, 4.2), "about 3,628,800");
        assert_eq!(guessed(36_288.0, 4.2), "about 36,288 ± 4");
        assert_eq!(guessed(1_234.0, 56_789.0), "about 1,200 ± 56,800");
        assert_eq!(guessed(7.0, 0.0), "about 7");
        assert_eq!(guessed(3.2e12, 1e11), "about 3.2e12 ± 1.0e11");
        assert_eq!(guessed(f64::INFINITY, 1.0), "an unknown number of");
    }

    #[test]
    fn units_fit() {
        assert_eq!(bytes(3 << 20), "3.0 MiB");
        assert_eq!(bytes(5 << 30), "5.0 GiB");
        assert_eq!((seconds(0.123), seconds(75.2)), ("0.12 s".into(), "75 s".into()));
    }
}
