//! Words of commands that are shown to the user.

/// Quotes a word for a POSIX shell, if it needs to be.
///
/// ```
/// assert_eq!(whippet_report::quoted("bank::two_customers"), "bank::two_customers");
/// assert_eq!(whippet_report::quoted("my test: 8/9"), "'my test: 8/9'");
/// assert_eq!(whippet_report::quoted("it's"), r"'it'\''s'");
/// ```
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=+,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::quoted;
    use std::process::Command;

    #[test]
    fn a_shell_sees_one_word_whatever_is_in_it() {
        for text in
            ["plain/path-1.json", "my project/it's.json", "a\"b$c`d", "my test: 8/9", "", "*?[x]", "ü – ö", "a;b&c|d"]
        {
            let line = format!("WORD={} sh -c 'printf %s \"$WORD\"'", quoted(text));
            let output = Command::new("sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), text, "{line}");
        }
    }
}
