//! The limits on time and memory, with programs that are much too large.

use std::sync::Arc;
use std::time::Duration;
use whippet_actors::{Actor, ActorProgram, Cx};
use whippet_model::{LimitHit, Program};
use whippet_net::Net;
use whippet_search::toy::{self, Action, Granularity};
use whippet_search::{Options, Reduction, SearchError, explore};

/// Searches a program with each reduction that supports it, until the limit on time.
fn each_search_ends<P: Program + Send + 'static>(program: P) {
    let program = Arc::new(program);
    let mut ended = 0;
    for &reduction in Reduction::ALL {
        let mut options = Options::new(reduction).with_samples(u64::MAX);
        options.limits = options.limits.with_time(Duration::from_millis(200)).with_steps(1_000_000);
        match explore(program.clone(), &options, &()) {
            Ok(verdict) => {
                assert_eq!((verdict.complete, &verdict.limits[..]), (false, &[LimitHit::Time][..]), "{reduction}");
                ended += 1;
            }
            Err(SearchError::Unsupported(_)) => {}
            Err(error) => panic!("{reduction}: {error}"),
        }
    }
    assert!(ended >= 5, "most searches support the program");
}

/// Many actors that receive two messages each.
fn pairs() -> toy::Program {
    const COUNT: u32 = 200;
    (0..COUNT).fold(toy::Program::new(COUNT), |program, k| {
        program.main(k, 1).main(k, 2).on(k, 1, [Action::Set(1)]).on(k, 2, [Action::Set(2)])
    })
}

#[test]
fn every_search_ends_at_the_limit_on_time() {
    each_search_ends(pairs());
}

#[test]
fn every_search_with_footprints_ends_at_the_limit_on_time() {
    each_search_ends(pairs().granularity(Granularity::Fields));
    let (sends, receives) = ("S0 W0 ".repeat(200), "R0 W0 ".repeat(400));
    each_search_ends(Net::parse("mailbox", &format!("a: {sends}\nb: {sends}\nc: {receives}")).unwrap());
}

/// An actor with a large state, which is saved before each step.
#[derive(Clone, Debug)]
struct Large(Vec<u8>);

impl Actor for Large {
    type Msg = u8;

    async fn handle(&mut self, n: u8, _: &mut Cx<Self>) {
        self.0[0] = n;
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_search_that_needs_too_much_memory_has_a_verdict() {
    let program = ActorProgram::new("large", |sys| {
        let large = sys.spawn(Large(vec![1; 4 << 20]));
        (0..40).for_each(|n| sys.send(large, n));
    });
    let mut options = Options::default();
    options.limits = options.limits.with_memory(32 << 20);
    let verdict = explore(program.into(), &options, &()).unwrap();
    assert_eq!((verdict.complete, verdict.limits), (false, vec![LimitHit::Memory]));
}
