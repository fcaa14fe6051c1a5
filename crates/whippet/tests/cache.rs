//! Checks that the worked example of the documentation behaves as documented.

#[path = "../examples/cache.rs"]
mod cache;

#[test]
fn the_documentation_shows_what_the_example_prints() {
    let documentation = include_str!("../../../docs/futures.md");
    let printed = cache::report().replace("tests/../", "");
    let parts: Vec<&str> = printed.split("== ").skip(1).collect();
    for part in &parts {
        assert!(documentation.contains(part.trim_end()), "docs/futures.md does not show this as it is:\n{part}");
    }
    let [holding, without, first] = parts[..] else { panic!("{printed}") };
    assert!(holding.contains("deadlock: a cycle of actors"), "{holding}");
    assert!(without.contains("race: data race on variable 1"), "{without}");
    assert_eq!(first.lines().count(), 1, "{first}");
}

#[test]
fn the_example_runs() {
    cache::main();
}
