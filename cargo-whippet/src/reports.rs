//! The results of a run for other programs: JSON, JUnit, annotations for GitHub.

use crate::arguments::Reports;
use crate::tests::{Tally, Tested};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use whippet_protocol::{Reported, TestKind};
use whippet_report::Exit;

/// The version of the JSON object. It changes if the meaning of a field does; fields may be added without.
const VERSION: u32 = 1;

static STDOUT_TAKEN: AtomicBool = AtomicBool::new(false);

/// Reserves standard output for a report.
pub(crate) fn take_stdout() {
    STDOUT_TAKEN.store(true, Ordering::Relaxed);
}

/// Returns `true` if standard output is for a report, so that texts go to standard error.
pub(crate) fn is_stdout_taken() -> bool {
    STDOUT_TAKEN.load(Ordering::Relaxed)
}

/// Writes the reports that were asked for.
pub(crate) fn write(
    wanted: &Reports,
    tally: &Tally,
    notes: &[String],
    exit: Exit,
    time: Duration,
    root: &Path,
) -> Result<(), String> {
    if let Some(file) = &wanted.junit {
        let text = junit(tally, time);
        whippet_report::write_file(file, &text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    if wanted.github || std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
        // GitHub knows files by their path in the repository, which may be above the workspace.
        let repository = std::env::var_os("GITHUB_WORKSPACE").and_then(|path| std::fs::canonicalize(path).ok());
        let within = repository.and_then(|above| root.strip_prefix(above).ok().map(Path::to_path_buf));
        for line in annotations(tally, root, &within.unwrap_or_default()) {
            say!("{line}");
        }
    }
    if wanted.json {
        let text = serde_json::to_string_pretty(&object(tally, notes, exit, time)).expect("texts and numbers");
        println!("{text}");
    }
    Ok(())
}

fn result(exit: Option<Exit>) -> &'static str {
    match exit {
        None => "ignored",
        Some(Exit::Holds) => "ok",
        Some(Exit::Found) => "failed",
        Some(Exit::NoVerdict) => "no verdict",
    }
}

/// Returns the JSON object: see docs/command-line.md.
fn object(tally: &Tally, notes: &[String], exit: Exit, time: Duration) -> Value {
    let count = |exit: Option<Exit>| tally.tests.iter().filter(|test| test.ended.exit == exit).count();
    json!({
        "format": "whippet tests",
        "version": VERSION,
        "result": result(Some(exit)),
        "passed": count(Some(Exit::Holds)),
        "failed": count(Some(Exit::Found)),
        "no_verdict": count(Some(Exit::NoVerdict)),
        "ignored": count(None),
        "executions": tally.tests.iter().filter_map(|test| test.ended.executions).sum::<u64>(),
        "seconds": time.as_secs_f64(),
        "notes": notes,
        "tests": tally.tests.iter().map(one).collect::<Vec<_>>(),
    })
}

/// Returns the JSON object of one test.
fn one(test: &Tested) -> Value {
    let (ended, reply) = (&test.ended, &test.ended.reply);
    let search = reply.search.as_ref();
    json!({
        "package": test.package,
        "source": test.source,
        "name": test.name,
        "kind": reply.kind,
        "result": result(ended.exit),
        "executions": ended.executions,
        "transitions": search.map(|search| search.transitions),
        "complete": ended.complete,
        "one_order": ended.one_order,
        "estimate": search.and_then(|search| search.estimate.as_ref()),
        "seconds": ended.seconds,
        "findings": ended.findings.iter().map(finding).collect::<Vec<_>>(),
        "several_threads": test.beyond().map_or_else(Vec::new, |beyond| beyond.findings.iter().map(finding).collect()),
        "warnings": reply.warnings.iter().map(finding).collect::<Vec<_>>(),
        "doubts": reply.doubts,
        "regressions": reply.regressions,
        "page": reply.page,
        "text": if ended.exit == Some(Exit::Holds) { "" } else { ended.text.trim_end() },
        "report": reply.report,
    })
}

fn finding(finding: &Reported) -> Value {
    json!({
        "kind": finding.kind,
        "message": finding.message,
        "place": finding.place,
        "schedule": finding.schedule,
        "threads": finding.threads,
    })
}

/// Returns a JUnit report: a suite per test binary. A test without a verdict is an error.
fn junit(tally: &Tally, time: Duration) -> String {
    let mut targets: Vec<String> = tally.tests.iter().map(Tested::target).collect();
    targets.dedup();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all: Vec<&Tested> = tally.tests.iter().collect();
    text += &format!("<testsuites name=\"whippet\" {} time=\"{:.3}\">\n", counts(&all), time.as_secs_f64());
    for target in targets {
        let tests: Vec<&Tested> = tally.tests.iter().filter(|test| test.target() == target).collect();
        let seconds: f64 = tests.iter().map(|test| test.ended.seconds).sum();
        text += &format!("  <testsuite name=\"{}\" {} time=\"{seconds:.3}\">\n", escaped(&target), counts(&tests));
        tests.iter().for_each(|test| text += &case(test));
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}

fn counts(tests: &[&Tested]) -> String {
    let count = |exit: Option<Exit>| tests.iter().filter(|test| test.ended.exit == exit).count();
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        tests.len(),
        count(Some(Exit::Found)),
        count(Some(Exit::NoVerdict)),
        count(None)
    )
}

fn case(test: &Tested) -> String {
    let (ended, reply) = (&test.ended, &test.ended.reply);
    let class = format!("{}.{}", test.package, test.source.trim_end_matches(".rs").replace('/', "."));
    let mut text = format!(
        "    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3}\">\n",
        escaped(&test.name),
        escaped(&class),
        ended.seconds
    );
    let mut properties = vec![("kind", format!("{:?}", reply.kind).to_lowercase())];
    if let Some(executions) = ended.executions {
        properties.push(("executions", executions.to_string()));
        properties.push(("complete", ended.complete.to_string()));
    }
    text += "      <properties>\n";
    for (name, value) in properties {
        text += &format!("        <property name=\"{name}\" value=\"{}\"/>\n", escaped(&value));
    }
    text += "      </properties>\n";
    let headline = headline(test);
    let body = escaped(ended.text.trim_end());
    match ended.exit {
        None => text += "      <skipped/>\n",
        Some(Exit::Holds) => {}
        Some(Exit::Found) => {
            let kind = ended.findings.first().map_or("failure", |finding| &finding.kind);
            let kind = escaped(kind);
            text += &format!("      <failure message=\"{}\" type=\"{kind}\">{body}</failure>\n", escaped(&headline));
        }
        Some(Exit::NoVerdict) => {
            text += &format!("      <error message=\"{}\" type=\"no verdict\">{body}</error>\n", escaped(&headline));
        }
    }
    let several = test.beyond().into_iter().flat_map(|beyond| &beyond.findings);
    let several = several.map(|finding| format!("would fail on a multi-thread runtime: {}", finding.headline()));
    let warnings = reply.warnings.iter().map(|warning| format!("warning: {}", warning.headline()));
    let said: Vec<String> = several.chain(warnings).collect();
    let doubts = reply.doubts.iter().map(|doubt| format!("warning: {doubt}"));
    let kept = reply.regressions.iter().map(|kept| format!("regression {kept}"));
    let said: Vec<String> = said.into_iter().chain(doubts).chain(kept).collect();
    if !said.is_empty() {
        text += &format!("      <system-out>{}</system-out>\n", escaped(&said.join("\n")));
    }
    text + "    </testcase>\n"
}

/// Returns one line about a failure.
fn headline(test: &Tested) -> String {
    let finding = test.ended.findings.first().map(Reported::headline);
    finding.unwrap_or_else(|| test.ended.text.lines().next().unwrap_or_default().to_string())
}

/// Escapes a text for XML, without characters that XML does not have.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped.push('\n'),
            '\t' => escaped.push('\t'),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns the commands by which GitHub marks findings in a pull request.
fn annotations(tally: &Tally, root: &Path, within: &Path) -> Vec<String> {
    let annotation = |level: &str, place: Option<&str>, title: &str, text: &str| {
        let place = place.and_then(|place| located(place, root, within));
        annotation(level, place, title, text)
    };
    let mut lines = Vec::new();
    let bad = |test: &&Tested| [Some(Exit::Found), Some(Exit::NoVerdict)].contains(&test.ended.exit);
    for test in tally.tests.iter().filter(bad) {
        let title = match test.ended.exit {
            Some(Exit::NoVerdict) => format!("{}: no verdict", test.name),
            _ => test.name.clone(),
        };
        if test.ended.findings.is_empty() {
            lines.push(annotation("error", None, &title, &test.ended.text));
        }
        for (k, finding) in test.ended.findings.iter().enumerate() {
            // The text has the counterexamples of all findings.
            let text = if k == 0 { format!("{}\n{}", finding.headline(), test.ended.text) } else { finding.headline() };
            lines.push(annotation("error", finding.place.as_deref(), &title, &text));
        }
    }
    for test in &tally.tests {
        for finding in test.beyond().into_iter().flat_map(|beyond| &beyond.findings) {
            let title = format!("{}: would fail on a multi-thread runtime", test.name);
            lines.push(annotation("warning", finding.place.as_deref(), &title, &finding.headline()));
        }
    }
    for test in tally.tests.iter().filter(|test| test.ended.reply.kind == TestKind::Native) {
        for warning in &test.ended.reply.warnings {
            lines.push(annotation("warning", warning.place.as_deref(), &test.name, &warning.headline()));
        }
    }
    lines
}

/// Returns the properties of an annotation that name a place: `file=tests/bank.rs,line=15,`. Only files of the workspace
/// can be marked, which is `within` the repository.
fn located(place: &str, root: &Path, within: &Path) -> Option<String> {
    let mut parts = place.splitn(3, ':');
    let (file, line) = (parts.next()?, parts.next()?);
    let line = line.parse::<u32>().ok()?;
    let file = Path::new(file).strip_prefix(root).unwrap_or(Path::new(file));
    let known = file.is_relative() && root.join(file).exists();
    known.then(|| format!("file={},line={line},", property(&within.join(file).display().to_string())))
}

/// Returns one command: `::error file=tests/bank.rs,line=15,title=…::…`.
fn annotation(level: &str, place: Option<String>, title: &str, text: &str) -> String {
    format!("::{level} {}title={}::{}", place.unwrap_or_default(), property(title), data(text.trim_end()))
}

/// Escapes the text of an annotation.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of an annotation.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Ended;
    use whippet_protocol::{Reply, Searched};

    fn tally() -> Tally {
        let finding = Reported {
            kind: "assertion".into(),
            message: "a < b, 100%".into(),
            place: Some("src/main.rs:7".into()),
            ..Reported::default()
        };
        let failed = Ended {
            exit: Some(Exit::Found),
            text: "assertion: a < b, 100%\n  1. one & only\n".into(),
            executions: Some(6),
            complete: true,
            findings: vec![finding],
            reply: Reply { kind: TestKind::Native, search: Some(Searched::default()), ..Reply::default() },
            ..Ended::default()
        };
        let test = |name: &str, ended| Tested {
            package: "bank".into(),
            source: "tests/bank.rs".into(),
            name: name.into(),
            ended,
        };
        Tally {
            tests: vec![
                test("wrong", failed),
                test("cut", Ended::no_verdict("no verdict after 1 execution".into())),
                test("later", Ended::default()),
            ],
            ..Tally::default()
        }
    }

    #[test]
    fn junit_has_a_case_per_test() {
        let wanted = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"whippet\" tests=\"3\" failures=\"1\" errors=\"1\" skipped=\"1\" time=\"1.500\">
  <testsuite name=\"bank tests/bank.rs\" tests=\"3\" failures=\"1\" errors=\"1\" skipped=\"1\" time=\"0.000\">
    <testcase name=\"wrong\" classname=\"bank.tests.bank\" time=\"0.000\">
      <properties>
        <property name=\"kind\" value=\"native\"/>
        <property name=\"executions\" value=\"6\"/>
        <property name=\"complete\" value=\"true\"/>
      </properties>
      <failure message=\"assertion: a &lt; b, 100% at src/main.rs:7\" type=\"assertion\">assertion: a &lt; b, 100%
  1. one &amp; only</failure>
    </testcase>
    <testcase name=\"cut\" classname=\"bank.tests.bank\" time=\"0.000\">
      <properties>
        <property name=\"kind\" value=\"plain\"/>
      </properties>
      <error message=\"no verdict after 1 execution\" type=\"no verdict\">no verdict after 1 execution</error>
    </testcase>
    <testcase name=\"later\" classname=\"bank.tests.bank\" time=\"0.000\">
      <properties>
        <property name=\"kind\" value=\"plain\"/>
      </properties>
      <skipped/>
    </testcase>
  </testsuite>
</testsuites>
";
        assert_eq!(junit(&tally(), Duration::from_millis(1_500)), wanted);
    }

    #[test]
    fn annotations_have_a_place_in_the_repository() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let lines = annotations(&tally(), root, Path::new(""));
        let wanted = [
            "::error file=src/main.rs,line=7,title=wrong::assertion: a < b, 100%25 at src/main.rs:7%0Aassertion: a < b, 100%25%0A  1. one & only",
            "::error title=cut%3A no verdict::no verdict after 1 execution",
        ];
        assert_eq!(lines, wanted);
        let lines = annotations(&tally(), root, Path::new("rust"));
        assert!(lines[0].starts_with("::error file=rust/src/main.rs,line=7,"), "{}", lines[0]);
    }

    #[test]
    fn the_object_has_a_version() {
        let object = object(&tally(), &["note: n".into()], Exit::Found, Duration::from_secs(1));
        assert_eq!((&object["format"], &object["version"]), (&"whippet tests".into(), &1.into()));
        assert_eq!(
            (&object["failed"], &object["no_verdict"], &object["executions"]),
            (&1.into(), &1.into(), &6.into())
        );
        assert_eq!(object["tests"][0]["findings"][0]["kind"], "assertion");
        assert_eq!(object["tests"][0]["kind"], "native");
    }
}
