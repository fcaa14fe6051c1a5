//! Tests of `list`, `compare` and `reproduce`.

use crate::common::{json, whippet};
use serde_json::Value;

#[test]
fn list_has_parameters() {
    let (list, code) = json(&["list"]);
    assert_eq!(code, 0);
    let pi = list.as_array().unwrap().iter().find(|subject| subject["name"] == "pi").expect("pi is a subject");
    assert_eq!((&pi["parameters"][0]["name"], &pi["parameters"][0]["default"]), (&"workers".into(), &"4".into()));
    assert!(whippet(&["list"]).out.contains("workers=4"));
}

#[test]
fn compare_fib() {
    let (comparison, code) = json(&["compare", "fib", "--limit-executions", "5000"]);
    assert_eq!(code, 0);
    assert_eq!((&comparison["traces"], &comparison["expected"]), (&16.into(), &"lca".into()));
    assert_eq!(comparison["best"]["persistent"], serde_json::json!(["lca"]));
    let cell = |order: &str| {
        let cells = comparison["cells"].as_array().unwrap();
        let is = |c: &&Value| c["reduction"] == "persistent" && c["sleep"] == false && c["order"] == order;
        cells.iter().find(is).expect("every cell is there")["executions"].clone()
    };
    assert_eq!((cell("lca"), cell("eca")), (16.into(), 327.into()));
}

#[test]
fn reproduce_table_4_2() {
    let (result, code) = json(&["reproduce", "--table", "4.2", "--subject", "fib"]);
    assert_eq!(code, 0);
    let table = &result["tables"][0];
    assert_eq!((&table["equal"], &table["wrong"]), (&16.into(), &0.into()), "{}", table["summary"]);
    let text = whippet(&["reproduce", "--table", "4.2", "--subject", "fib"]).out;
    assert!(text.contains("16 / 92 =") && text.contains("4.2: 16 of 16 cells equal"), "{text}");
}
