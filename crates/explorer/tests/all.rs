//! The explorer as the page sees it: requests over a socket.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};
use whippet::prelude::*;
use whippet_explorer::{Explorer, Server};
use whippet_search::Options;

/// Serves a program in which an actor fails if 2 comes before 1.
fn first_come() -> Server {
    let program = Checker::new("first come").program(|sys| {
        let gate = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
            let (first, second) = (inbox.receive().await, inbox.receive().await);
            assert!(first < second, "2 came first");
        });
        sys.send(gate, 1);
        sys.send(gate, 2);
    });
    Explorer::new("first come").serve(Arc::new(program)).unwrap()
}

/// Sends a request as it is, and returns the status and the body.
fn raw(server: &Server, head: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let length = body.len();
    write!(stream, "{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

fn path(server: &Server) -> String {
    let (_, path) = server.address().split_once(&format!(":{}", server.port())).unwrap();
    path.to_owned()
}

fn post(server: &Server, what: &str, wish: &Value) -> (u16, String) {
    let head = format!("POST {}{what} HTTP/1.1\r\nHost: 127.0.0.1:{}", path(server), server.port());
    raw(server, &head, &wish.to_string())
}

fn ask(server: &Server, what: &str, wish: Value) -> Value {
    let (status, body) = post(server, what, &wish);
    assert_eq!(status, 200, "{what} {wish}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// Waits for the end of the search, and returns its report.
fn searched(server: &Server) -> Value {
    let began = Instant::now();
    loop {
        let report = ask(server, "search", json!({}));
        if report["running"] == false {
            return report;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "the search does not end: {report}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_reader_takes_steps_goes_back_and_reverses_a_race() {
    let server = first_come();
    let start = ask(&server, "at", json!({ "steps": "" }));
    assert_eq!(start["choices"].as_array().unwrap().len(), 2);
    assert_eq!(start["choices"][1]["action"], "receives 2");
    assert_eq!(start["states"][0]["pending"], json!(["1 from the test", "2 from the test"]));

    let one = ask(&server, "at", json!({ "steps": "0" }));
    assert_eq!(one["trace"]["events"][0]["text"], "receives 1");
    let end = ask(&server, "end", json!({ "steps": "0" }));
    assert_eq!((&end["steps"], &end["problems"]), (&json!("0.0"), &json!([])));
    assert_eq!(end["races"], json!([[0, 1]]));

    let other = ask(&server, "reverse", json!({ "steps": "0.0", "first": 0, "second": 1 }));
    assert_eq!(other["steps"], "1.0");
    assert_eq!(other["problems"][0]["message"], "2 came first");
    assert_eq!(other["problems"][0]["events"], json!([1]));
    let back = ask(&server, "at", json!({ "steps": "1" }));
    assert_eq!(back["trace"]["events"].as_array().unwrap().len(), 1);
    assert_eq!(back["choices"][0]["problem"]["message"], "2 came first", "the choice is tried beforehand");
    // The machine is where it was, whatever was tried.
    assert_eq!(ask(&server, "at", json!({ "steps": "" })), start);
}

#[test]
fn findings_and_executions_of_the_search_can_be_visited() {
    let server = first_come();
    let report = searched(&server);
    assert_eq!((&report["executions"], &report["complete"], &report["kept"]), (&json!(2), &json!(true), &json!(2)));
    assert_eq!(report["findings"][0]["kind"], "panic");
    let finding = ask(&server, "finding", json!({ "number": 0 }));
    assert_eq!(finding["problems"][0]["message"], "2 came first");
    let ends = report["tree"].as_array().unwrap();
    let fails = ends.iter().position(|node| node["end"] == "panic").unwrap();
    assert_eq!(ask(&server, "node", json!({ "number": fails }))["steps"], finding["steps"]);
    assert!(ask(&server, "search", json!({ "known": ends.len() })).get("tree").is_none(), "the page has it");
    assert_eq!(post(&server, "finding", &json!({ "number": 7 })).0, 404);
    assert_eq!(post(&server, "node", &json!({ "number": 700 })).0, 404);

    ask(&server, "restart", json!({}));
    assert_eq!(searched(&server)["executions"], 2);
}

#[test]
fn schedules_and_reports_can_be_downloaded_and_opened() {
    let server = first_come();
    searched(&server);
    let (_, schedule) = post(&server, "schedule", &json!({ "steps": "1.0" }));
    let schedule: Value = serde_json::from_str(&schedule).unwrap();
    assert_eq!(schedule["steps"][0]["text"], "actor receives 2");
    let there = ask(&server, "follow", json!({ "schedule": schedule }));
    assert_eq!(there["steps"], "1.0");
    let (status, why) = post(&server, "follow", &json!({ "schedule": { "format": "other" } }));
    assert!(status == 400 && why.contains("schedule"), "{why}");

    let (_, failing) = post(&server, "report", &json!({ "steps": "1.0" }));
    assert!(failing.starts_with("<!doctype html>") && failing.contains("all would hold"), "that of the finding");
    let (_, passing) = post(&server, "report", &json!({ "steps": "0.0" }));
    assert!(passing.contains(r#""kind":"none""#) && passing.contains("no problem in this execution"));
}

#[test]
fn wrong_requests_are_refused_with_a_reason() {
    let server = first_come();
    for (steps, why) in [("9", "choice 10 does not exist, there are 2"), ("0.0.0", "nothing is enabled there")] {
        let (status, body) = post(&server, "at", &json!({ "steps": steps }));
        assert!(status == 409 && body.contains(why), "{body}");
    }
    assert_eq!(post(&server, "at", &json!({ "steps": "x" })).0, 400);
    assert_eq!(post(&server, "reverse", &json!({ "steps": "0", "first": 0, "second": 5 })).0, 409);
    assert_eq!(post(&server, "nothing", &json!({})).0, 404);
    assert_eq!(ask(&server, "at", json!({ "steps": "0" }))["steps"], "0", "it goes on after an error");

    let (port, path) = (server.port(), path(&server));
    let host = format!("Host: 127.0.0.1:{port}");
    for (head, wanted) in [
        (format!("GET {path} HTTP/1.1\r\n{host}"), 200),
        (format!("GET {path}explorer.js HTTP/1.1\r\n{host}"), 200),
        (format!("GET {path}graphs.js HTTP/1.1\r\n{host}"), 200),
        (format!("GET {path}nothing HTTP/1.1\r\n{host}"), 404),
        (format!("DELETE {path} HTTP/1.1\r\n{host}"), 405),
        (format!("POST {path}at HTTP/1.1\r\n{host}"), 400),
        (format!("GET / HTTP/1.1\r\n{host}"), 403),
        (format!("POST /00000000000000000000000000000000/at HTTP/1.1\r\n{host}"), 403),
        (format!("GET {path} HTTP/1.1\r\nHost: evil.example"), 403),
        (format!("GET {path} HTTP/1.1\r\n{host}\r\nOrigin: http://evil.example"), 403),
    ] {
        assert_eq!(raw(&server, &head, "").0, wanted, "{head}");
    }
}

#[test]
fn code_that_does_not_return_is_reported_and_does_not_end_the_walk() {
    let program = Checker::new("endless").program(|sys| {
        let loops = sys.spawn_fn(async |inbox: &mut Inbox<bool>| {
            if inbox.receive().await {
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                }
            }
        });
        sys.send(loops, true);
        sys.send(loops, false);
    });
    let mut options = Options::default();
    options.limits.handler = Duration::from_millis(300);
    let server = Explorer::new("endless").options(options).serve(Arc::new(program)).unwrap();
    let start = ask(&server, "at", json!({ "steps": "" }));
    assert_eq!(start["choices"][0]["remark"], "did not return within 1s when it was tried");
    assert_eq!(start["choices"][1]["action"], "receives false");
    let (status, why) = post(&server, "at", &json!({ "steps": "0" }));
    assert_eq!((status, &*why), (409, "step 1 did not return within 300ms"));
    assert_eq!(ask(&server, "at", json!({ "steps": "1" }))["steps"], "1");
}

#[test]
fn the_unfolding_of_a_small_program_is_shown() {
    let program = whippet_net::Net::parse("two", "a: Km\nb: Km").unwrap();
    let server = Explorer::new("two").serve(Arc::new(program)).unwrap();
    assert_eq!(ask(&server, "unfolding", json!({}))["events"].as_array().unwrap().len(), 4);
}
