//! The requests of the page and their answers.

use crate::background::{Background, lock};
use crate::http::{Request, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use whippet_model::{FindingKind, Problem, Program, Schedule};
use whippet_report::{TraceFile, assets, html, read_source};
use whippet_search::{Configuration, Destination, Options, WalkError, WalkStep, Walker, explain, unfold};

/// Changes a schedule so that it can be replayed outside of the explorer.
pub(crate) type Record = Box<dyn Fn(&mut Schedule) + Send + Sync>;

/// The number of executions, and the time, that an unfolding may take.
const UNFOLDING: (u64, Duration) = (500, Duration::from_secs(10));

/// One program with a machine that is walked, and a search in the background.
pub(crate) struct Session<P> {
    program: Arc<P>,
    options: Options,
    title: String,
    record: Record,
    walker: Mutex<Walker>,
    search: Mutex<Arc<Background>>,
}

/// The body of a request. Every request uses some of the fields.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Wish {
    /// The steps, separated by dots.
    steps: String,
    first: usize,
    second: usize,
    /// The number of a finding or of a node of the tree.
    number: usize,
    /// The number of nodes of the tree that the page has.
    known: usize,
    schedule: Option<Value>,
}

type Answer = Result<Response, Response>;

impl<P: Program + Send + 'static> Session<P> {
    pub(crate) fn new(program: Arc<P>, options: Options, title: String, record: Record) -> Session<P> {
        let walker = Mutex::new(Walker::new(program.clone(), &options));
        let search = Mutex::new(Background::start(program.clone(), options.clone()));
        Session { program, options, title, record, walker, search }
    }

    /// Answers a request.
    pub(crate) fn answer(&self, request: &Request) -> Response {
        let script = "text/javascript; charset=utf-8";
        match (&*request.method, &*request.path) {
            ("GET", "") => Response::new("text/html; charset=utf-8", include_str!("../assets/explorer.html")),
            ("GET", "/") => Response::error(404, "the address of the page ends with a slash"),
            ("GET", "page.css") => {
                let css = [assets::CSS, include_str!("../assets/explorer.css")].concat();
                Response::new("text/css; charset=utf-8", css)
            }
            ("GET", "layout.js") => Response::new(script, assets::LAYOUT),
            ("GET", "diagram.js") => Response::new(script, assets::DIAGRAM),
            ("GET", "values.js") => Response::new(script, assets::VALUES),
            ("GET", "graphs.js") => Response::new(script, include_str!("../assets/graphs.js")),
            ("GET", "explorer.js") => Response::new(script, include_str!("../assets/explorer.js")),
            ("POST", path) => match serde_json::from_slice::<Wish>(&request.body) {
                Ok(wish) => self.act(path, &wish).unwrap_or_else(|error| error),
                Err(why) => Response::error(400, format!("the request cannot be read: {why}")),
            },
            ("GET", _) => Response::error(404, "there is no such page"),
            _ => Response::error(405, "only GET and POST are understood"),
        }
    }

    fn act(&self, path: &str, wish: &Wish) -> Answer {
        match path {
            "program" => Ok(json_response(&json!({
                "name": self.title,
                "parameters": self.program.parameters(),
                "reduction": self.options.reduction.name(),
            }))),
            "at" => self.show(Destination::Steps(steps(wish)?)),
            "end" => self.show(Destination::End(steps(wish)?)),
            "reverse" => {
                self.show(Destination::Reversed { steps: steps(wish)?, first: wish.first, second: wish.second })
            }
            "finding" => self.show(self.finding(wish.number)?),
            "node" => {
                let search = lock(&self.search).clone();
                let path = lock(&search.tree).path(wish.number as u32);
                self.show(Destination::Threads(path.ok_or_else(|| Response::error(404, "there is no such step"))?))
            }
            "follow" => self.show(Destination::Decisions(self.uploaded(wish)?.decisions)),
            "search" => Ok(json_response(&lock(&self.search).report(wish.known))),
            "stop" => {
                lock(&self.search).stop();
                Ok(json_response(&json!({})))
            }
            "restart" => {
                let mut search = lock(&self.search);
                search.stop();
                *search = Background::start(self.program.clone(), self.options.clone());
                Ok(json_response(&json!({})))
            }
            "schedule" => {
                let mut schedule = self.go(Destination::Steps(steps(wish)?))?.schedule;
                (self.record)(&mut schedule);
                Ok(Response::new("application/json", schedule.to_json()))
            }
            "report" => {
                let configuration = self.go(Destination::Steps(steps(wish)?))?;
                Ok(Response::new("text/html; charset=utf-8", self.report(configuration)))
            }
            "unfolding" => self.unfolding(),
            _ => Err(Response::error(404, "there is no such request")),
        }
    }

    fn go(&self, destination: Destination) -> Result<Configuration, Response> {
        lock(&self.walker).go(destination).map_err(|error| match error {
            WalkError::Program(_) => Response::error(500, error.to_string()),
            _ => Response::error(409, error.to_string()),
        })
    }

    fn show(&self, destination: Destination) -> Answer {
        self.go(destination).map(|configuration| json_response(&as_json(&configuration)))
    }

    /// Returns the way to a finding: of the verdict, or of the search that is still running.
    fn finding(&self, number: usize) -> Result<Destination, Response> {
        let search = lock(&self.search).clone();
        let none = || Response::error(404, "there is no such finding");
        if let Some(verdict) = search.verdict() {
            let finding = verdict.findings.iter().chain(&verdict.warnings).nth(number).ok_or_else(none)?;
            return Ok(Destination::Decisions(finding.schedule.decisions.clone()));
        }
        let path = lock(&search.tree).met().get(number).map(|met| met.path.clone());
        path.map(Destination::Threads).ok_or_else(none)
    }

    fn uploaded(&self, wish: &Wish) -> Result<Schedule, Response> {
        let text = wish.schedule.as_ref().map(Value::to_string).unwrap_or_default();
        Schedule::from_json(&text).map_err(|why| Response::error(400, why.to_string()))
    }

    /// Returns the report of an execution: that of the finding which it shows, if the search has found it.
    fn report(&self, configuration: Configuration) -> String {
        let Configuration { mut schedule, mut trace, problems, states, .. } = configuration;
        trace.end = states;
        let verdict = lock(&self.search).verdict();
        let same = verdict.as_ref().and_then(|verdict| {
            verdict.findings.iter().find(|finding| finding.schedule.decisions == schedule.decisions)
        });
        let decides = match same {
            None if problems.iter().any(|problem| !problem.warning) => explain(self.program.clone(), &schedule),
            _ => None,
        };
        (self.record)(&mut schedule);
        let told = problems.iter().find(|problem| problem.is_error());
        let problem = told.or_else(|| problems.iter().find(|problem| problem.declaration.is_none()));
        let mut file = match same {
            Some(finding) => TraceFile::of_finding(finding),
            None => TraceFile::of_execution(&schedule, trace, problem).with_decides(decides.as_ref()),
        };
        file.schedule = schedule.to_value();
        html(&format!("Whippet: {}", self.title), "", &[file.with_sources(read_source)])
    }

    fn unfolding(&self) -> Answer {
        let limits = self.options.limits.clone().with_executions(Some(UNFOLDING.0)).with_time(Some(UNFOLDING.1));
        let options = Options::default().with_limits(limits);
        let unfolded = unfold(self.program.clone(), &options).map_err(|why| Response::error(409, why.to_string()))?;
        Ok(json_response(&json!({ "events": unfolded.events })))
    }
}

fn steps(wish: &Wish) -> Result<Vec<WalkStep>, Response> {
    let steps = wish.steps.split('.').filter(|step| !step.is_empty()).map(str::parse);
    steps.collect::<Result<_, _>>().map_err(|_| Response::error(400, "the steps in this address cannot be read"))
}

fn json_response(value: &Value) -> Response {
    Response::new("application/json", value.to_string())
}

fn as_json(configuration: &Configuration) -> Value {
    let Configuration { steps, trace, races, choices, problems, states, .. } = configuration;
    let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
    let choices: Vec<Value> = choices
        .iter()
        .map(|choice| {
            let description = &choice.description;
            json!({
                "step": choice.step.to_string(),
                "actor": description.actor,
                "action": description.action,
                "from": description.from,
                "origin": description.origin,
                "effects": description.effects,
                "changes": description.changes,
                "problem": choice.problem.as_ref().map(problem_json),
                "remark": choice.remark,
            })
        })
        .collect();
    json!({
        "steps": steps.join("."),
        "trace": trace,
        "races": races,
        "choices": choices,
        "problems": problems.iter().map(problem_json).collect::<Vec<_>>(),
        "states": states,
    })
}

fn problem_json(problem: &Problem) -> Value {
    let Problem { kind, message, place, steps, warning, waits, .. } = problem;
    let waits: Vec<Value> = waits.iter().map(|wait| json!({ "actor": wait.actor, "text": wait.text })).collect();
    // The steps of a deadlock are all steps of the actors in it.
    let shown: &[usize] = if *kind == FindingKind::Deadlock { &[] } else { steps };
    json!({ "kind": kind, "message": message, "place": place, "events": shown, "warning": warning, "waits": waits })
}
