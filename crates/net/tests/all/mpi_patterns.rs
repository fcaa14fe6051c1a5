//! Patterns of MPI programs, each with the verdicts that the standard requires.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use whippet_model::{FindingKind, Verdict};
use whippet_net::Net;
use whippet_net::mpi::Buffering::{Eager, Either, Zero};
use whippet_net::mpi::{Buffering, PROC_NULL, Persistent, Rank, Source, Tag, UNDEFINED, World, operators};
use whippet_search::{Options, Reduction, explore};

/// Searches with all algorithms, which must agree, and returns the verdict.
fn verdict(net: &Net) -> Verdict {
    let run = |reduction| explore(net.clone().into(), &Options::new(reduction), &()).unwrap();
    let first = run(Reduction::Udpor);
    for reduction in [Reduction::Optimal, Reduction::Source] {
        let other = run(reduction);
        assert_eq!(other.counters.executions, first.counters.executions, "{reduction}");
        assert_eq!(kinds(&other), kinds(&first), "{reduction}");
    }
    first
}

fn kinds(verdict: &Verdict) -> BTreeSet<FindingKind> {
    verdict.findings.iter().map(|finding| finding.kind).collect()
}

fn is_fine(net: &Net) {
    let verdict = verdict(net);
    assert!(verdict.complete && verdict.findings.is_empty(), "{:?}", verdict.findings);
}

/// Checks that the only findings are of this kind, and returns the first message.
fn finds(net: &Net, kind: FindingKind) -> String {
    let verdict = verdict(net);
    assert_eq!(kinds(&verdict), [kind].into(), "{:?}", verdict.findings);
    verdict.findings[0].message.clone()
}

/// A place for values that executions report.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<BTreeSet<String>>>);

impl Seen {
    fn add(&self, what: impl std::fmt::Debug) {
        self.0.lock().unwrap().insert(format!("{what:?}"));
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().cloned().collect()
    }
}

/// Returns what executions report in the function given as `body`.
fn seen<F>(world: World, body: impl FnOnce(Seen) -> F) -> Vec<String>
where
    F: AsyncFn(Rank<usize>) + Send + Sync + 'static,
{
    let seen = Seen::default();
    is_fine(&world.program("seen", body(seen.clone())));
    seen.all()
}

// ---- collectives synchronise only as required ----------------------------------------------------------------------

/// The example "correct, but nondeterministic" of the standard's section on the correctness of collectives: rank 1 may
/// receive the message of rank 0 or that of rank 2 first.
fn nondeterministic_broadcast(buffering: Buffering) -> Vec<String> {
    seen(World::new(3).buffering(buffering), |seen| {
        async move |mpi: Rank<usize>| match mpi.rank() {
            0 => {
                mpi.bcast(0, 1).await;
                mpi.send(1, 0, 0).await;
            }
            1 => {
                let first = mpi.recv(Source::Any, 0).await.source;
                mpi.bcast(0, 0).await;
                mpi.recv(Source::Any, 0).await;
                seen.add(first);
            }
            _ => {
                mpi.send(1, 0, 2).await;
                mpi.bcast(0, 0).await;
            }
        }
    })
}

#[test]
fn root_may_leave_a_broadcast_early() {
    assert_eq!(nondeterministic_broadcast(Eager), ["0", "2"]);
    assert_eq!(nondeterministic_broadcast(Zero), ["2"]);
    assert_eq!(nondeterministic_broadcast(Either), ["0", "2"]);
}

#[test]
fn others_may_leave_a_reduction_early() {
    let first = |buffering| {
        seen(World::new(3).buffering(buffering), |seen| {
            async move |mpi: Rank<usize>| match mpi.rank() {
                0 => {
                    seen.add(mpi.recv(Source::Any, 0).await.source);
                    mpi.reduce(0, 0, operators::sum).await;
                    mpi.recv(Source::Any, 0).await;
                }
                1 => {
                    mpi.reduce(0, 0, operators::sum).await;
                    mpi.send(0, 0, 0).await;
                }
                _ => {
                    mpi.send(0, 0, 0).await;
                    mpi.reduce(0, 0, operators::sum).await;
                }
            }
        })
    };
    assert_eq!(first(Eager), ["1", "2"]);
    assert_eq!(first(Zero), ["2"]);
}

#[test]
fn barrier_and_allreduce_always_synchronise() {
    for which in 0..2 {
        let first = seen(World::new(2).buffering(Eager), |seen| {
            async move |mpi: Rank<usize>| {
                let receive = if mpi.rank() == 0 { Some(mpi.irecv(1, 0).await) } else { None };
                if which == 0 {
                    mpi.barrier().await;
                } else {
                    mpi.allreduce(1, operators::sum).await;
                }
                match receive {
                    Some(receive) => {
                        seen.add(mpi.test(&receive).await.is_some());
                        mpi.wait(&receive).await;
                    }
                    None => mpi.send(0, 0, 0).await,
                }
            }
        });
        assert_eq!(first, ["false", "true"], "the message is sent after the synchronisation");
    }
}

#[test]
fn collective_before_receive_deadlocks_only_if_it_synchronises() {
    // Rank 0 broadcasts before it receives; rank 1 sends without a buffer before it takes part.
    let net = |buffering| {
        World::new(2).buffering(buffering).program("cross", async |mpi: Rank<usize>| {
            if mpi.rank() == 0 {
                mpi.bcast(0, 1).await;
                mpi.recv(1, 0).await;
            } else {
                mpi.ssend(0, 0, 1).await;
                mpi.bcast(0, 0).await;
            }
        })
    };
    is_fine(&net(Eager));
    let message = finds(&net(Zero), FindingKind::Deadlock);
    assert!(
        message.contains("rank 0 waits for its bcast(root 0, usize) (action 0); rank 1 did not call it"),
        "{message}"
    );
    finds(&net(Either), FindingKind::Deadlock);
}

// ---- calls that do not match ---------------------------------------------------------------------------------------

/// Returns the message about a mismatch, which must be the same with all bufferings.
fn mismatch<F>(body: F) -> String
where
    F: AsyncFn(Rank<i32>) + Clone + Send + Sync + 'static,
{
    let message = |buffering| {
        finds(&World::new(2).buffering(buffering).program("mismatch", body.clone()), FindingKind::Assertion)
    };
    let zero = message(Zero);
    assert_eq!(message(Eager), zero);
    let lines: Vec<&str> = zero.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, "collective calls do not match"), "{zero}");
    let call = |line: &str| line.split(" at ").next().unwrap().trim().to_string();
    assert!(lines[1].contains("mpi_patterns.rs:"), "{zero}");
    format!("{} | {}", call(lines[1]), call(lines[2]))
}

#[test]
fn different_operations_do_not_match() {
    assert_eq!(
        mismatch(async |mpi| match mpi.rank() {
            0 => drop(mpi.reduce(0, 1, operators::sum).await),
            _ => drop(mpi.bcast(0, 1).await),
        }),
        "rank 0 calls reduce(root 0, sum, i32) (action 0) | rank 1 calls bcast(root 0, i32) (action 0)"
    );
    assert_eq!(
        mismatch(async |mpi| match mpi.rank() {
            0 => mpi.barrier().await,
            _ => drop(mpi.bcast(1, 1).await),
        }),
        "rank 0 calls barrier (action 0) | rank 1 calls bcast(root 1, i32) (action 0)"
    );
    assert_eq!(
        mismatch(async |mpi| match mpi.rank() {
            0 => drop(mpi.bcast(0, 1).await),
            _ => {
                let request = mpi.ibcast(0, 1).await;
                mpi.wait(&request).await;
            }
        }),
        "rank 0 calls bcast(root 0, i32) (action 0) | rank 1 calls ibcast(root 0, i32) (action 0)"
    );
}

#[test]
fn different_roots_operators_types_and_counts_do_not_match() {
    assert_eq!(
        mismatch(async |mpi| assert_eq!(mpi.bcast(mpi.rank(), 1).await, 1)),
        "rank 0 calls bcast(root 0, i32) (action 0) | rank 1 calls bcast(root 1, i32) (action 0)"
    );
    assert_eq!(
        mismatch(async |mpi| match mpi.rank() {
            0 => drop(mpi.allreduce(1, operators::sum).await),
            _ => drop(mpi.allreduce(1, operators::max).await),
        }),
        "rank 0 calls allreduce(sum, i32) (action 0) | rank 1 calls allreduce(max, i32) (action 0)"
    );
    assert_eq!(
        mismatch(async |mpi| match mpi.rank() {
            0 => drop(mpi.bcast(0, 1).await),
            _ => drop(mpi.typed::<f64>().bcast(0, 1.0).await),
        }),
        "rank 0 calls bcast(root 0, i32) (action 0) | rank 1 calls bcast(root 0, f64) (action 0)"
    );
    assert_eq!(
        mismatch(async |mpi| {
            let mpi = mpi.typed::<Vec<i32>>();
            mpi.reduce(0, vec![1; 2 + mpi.rank()], |a, _| a).await;
        }),
        "rank 0 calls reduce(root 0, 2 values in alloc::vec::Vec<i32>) (action 0) | \
         rank 1 calls reduce(root 0, 3 values in alloc::vec::Vec<i32>) (action 0)"
    );
}

#[test]
fn closures_are_not_compared() {
    is_fine(&World::new(2).program("closures", async |mpi: Rank<i32>| match mpi.rank() {
        0 => drop(mpi.allreduce(1, |a, b| a + b).await),
        _ => drop(mpi.allreduce(1, |a, b| b + a).await),
    }));
}

#[test]
fn missing_calls_are_found() {
    let net = |buffering| {
        World::new(2).buffering(buffering).program("missing", async |mpi: Rank<i32>| {
            if mpi.rank() == 0 {
                mpi.bcast(0, 1).await;
            }
        })
    };
    let message = finds(&net(Eager), FindingKind::Assertion);
    assert!(message.ends_with("but rank 1 ended without calling it"), "{message}");
    finds(&net(Zero), FindingKind::Deadlock);
    // In the other order, both calls are complete before either rank goes on to the next.
    let order = World::new(2).buffering(Eager).program("order", async |mpi: Rank<i32>| {
        let (first, second) = (mpi.dup().await, mpi.dup().await);
        let (one, two) = if mpi.rank() == 0 { (&first, &second) } else { (&second, &first) };
        one.barrier().await;
        two.barrier().await;
    });
    finds(&order, FindingKind::Deadlock);
}

#[test]
fn a_receive_of_another_type_is_found() {
    let net = World::new(2).program("types", async |mpi: Rank<i32>| match mpi.rank() {
        0 => mpi.send(1, 0, 1).await,
        _ => {
            mpi.typed::<f64>().recv(0, 0).await;
        }
    });
    let message = finds(&net, FindingKind::Panic);
    assert!(message.contains("a receive of f64") && message.contains("the type i32"), "{message}");
}

// ---- requests ------------------------------------------------------------------------------------------------------

#[test]
fn waitany_returns_any_complete_request() {
    // The send is buffered, and the message may have arrived: either may be reported.
    let which = seen(World::new(2).buffering(Eager), |seen| {
        async move |mpi: Rank<usize>| {
            let other = 1 - mpi.rank();
            let requests = [mpi.isend(other, 0, 7).await, mpi.irecv(other, 0).await];
            let first = mpi.waitany(&requests.each_ref()).await.0;
            let second = mpi.waitany(&requests.each_ref()).await.0;
            assert_eq!(mpi.waitany(&requests.each_ref()).await.0, UNDEFINED);
            seen.add((first, second));
        }
    });
    assert_eq!(which, ["(0, 1)", "(1, 0)"]);
}

#[test]
fn testany_returns_any_complete_request() {
    let which = seen(World::new(2).buffering(Eager), |seen| {
        async move |mpi: Rank<usize>| {
            let other = 1 - mpi.rank();
            let requests = [mpi.isend(other, 0, 7).await, mpi.irecv(other, 0).await];
            seen.add(mpi.testany(&requests.each_ref()).await.map(|(k, _)| k));
            mpi.waitall(&requests.each_ref()).await;
            assert_eq!(mpi.testany(&requests.each_ref()).await, Some((UNDEFINED, None)));
        }
    });
    assert_eq!(which, ["Some(0)", "Some(1)"], "a buffered send is complete: the test does not fail");
}

#[test]
fn completed_requests_are_not_reported_again() {
    let net = World::new(3).program("loop", async |mpi: Rank<usize>| match mpi.rank() {
        0 => {
            let requests = [mpi.irecv(1, 0).await, mpi.irecv(2, 0).await];
            let mut left = BTreeSet::from([0, 1]);
            for _ in 0..2 {
                let (k, message) = mpi.waitany(&requests.each_ref()).await;
                assert!(left.remove(&k), "request {k} was reported twice");
                assert_eq!(message.unwrap().value, k + 1);
            }
            assert_eq!(mpi.wait(&requests[0]).await, None);
            assert_eq!(mpi.test(&requests[0]).await, Some(None));
        }
        rank => mpi.send(0, 0, rank).await,
    });
    is_fine(&net);
}

#[test]
fn waitsome_testsome_testall() {
    let counts = seen(World::new(3).buffering(Eager), |seen| {
        async move |mpi: Rank<usize>| match mpi.rank() {
            0 => {
                let requests = [mpi.irecv(1, 0).await, mpi.irecv(2, 0).await];
                let some = mpi.waitsome(&requests.each_ref()).await.len();
                let all = mpi.testall(&requests.each_ref()).await.is_some();
                mpi.waitall(&requests.each_ref()).await;
                seen.add((some, all));
            }
            rank => mpi.send(0, 0, rank).await,
        }
    });
    assert_eq!(counts, ["(1, false)", "(1, true)", "(2, true)"]);
}

#[test]
fn unfinished_requests_are_reported_on_request() {
    let net = |world: World| {
        world.buffering(Eager).program("unfinished", async |mpi: Rank<usize>| {
            if mpi.rank() == 0 {
                mpi.isend(1, 3, 1).await;
                mpi.irecv(1, 0).await;
            } else {
                mpi.recv(0, 3).await;
            }
        })
    };
    is_fine(&net(World::new(2)));
    let message = finds(&net(World::new(2).report_unfinished()), FindingKind::Panic);
    assert_eq!(message, "rank 0 ended with an unfinished request: its send to rank 1 with tag 3 and 1 more");
}

#[test]
fn messages_that_are_never_received_are_warnings() {
    let net = World::new(2).buffering(Eager).program("unreceived", async |mpi: Rank<usize>| match mpi.rank() {
        0 => {
            mpi.send(1, 3, 7).await;
            mpi.send(1, 4, 8).await;
        }
        _ => assert_eq!(mpi.recv(0, 4).await.value, 8),
    });
    let verdict = verdict(&net);
    assert!(verdict.findings.is_empty());
    let warnings: Vec<&str> = verdict.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(warnings, ["7 from rank 0 with tag 3 is never received by rank 1"]);
    let options = Options::default().with_undeliverable_is_error(true);
    let strict = explore(net.into(), &options, &()).unwrap();
    assert_eq!(strict.findings[0].kind, FindingKind::Undeliverable);
}

// ---- probes ---------------------------------------------------------------------------------------------------------

/// Ranks 1 and 2 send; rank 0 probes for any, and receives twice.
fn probing<F>(body: impl FnOnce(Seen) -> F) -> Vec<String>
where
    F: AsyncFn(Rank<usize>) + Send + Sync + 'static,
{
    seen(World::new(3), body)
}

#[test]
fn a_probed_message_is_received_by_its_source() {
    let pairs = probing(|seen| {
        async move |mpi: Rank<usize>| match mpi.rank() {
            0 => {
                let found = mpi.probe(Source::Any, Tag::Any).await.source;
                seen.add((found, mpi.recv(found, Tag::Any).await.source));
                mpi.recv(Source::Any, Tag::Any).await;
            }
            rank => mpi.send(0, 0, rank).await,
        }
    });
    assert_eq!(pairs, ["(1, 1)", "(2, 2)"]);
}

/// The standard's example of a wrong use: the receive from any source may get the other message.
#[test]
fn a_receive_from_any_may_get_another_message_than_was_probed() {
    let pairs = probing(|seen| {
        async move |mpi: Rank<usize>| match mpi.rank() {
            0 => {
                let found = mpi.probe(Source::Any, Tag::Any).await.source;
                seen.add((found, mpi.recv(Source::Any, Tag::Any).await.source));
                mpi.recv(Source::Any, Tag::Any).await;
            }
            rank => mpi.send(0, 0, rank).await,
        }
    });
    assert_eq!(pairs, ["(1, 1)", "(1, 2)", "(2, 1)", "(2, 2)"]);
    // A message that was taken is out of reach.
    let pairs = probing(|seen| {
        async move |mpi: Rank<usize>| match mpi.rank() {
            0 => {
                let (found, taken) = mpi.mprobe(Source::Any, Tag::Any).await;
                seen.add((found.source, mpi.recv(Source::Any, Tag::Any).await.source));
                assert_eq!(mpi.wait(&taken).await.unwrap().source, found.source);
            }
            rank => mpi.send(0, 0, rank).await,
        }
    });
    assert_eq!(pairs, ["(1, 2)", "(2, 1)"]);
}

#[test]
fn messages_of_one_source_are_probed_in_order() {
    let tags = seen(World::new(2).buffering(Eager), |seen| {
        async move |mpi: Rank<usize>| match mpi.rank() {
            0 => {
                let (any, second) = (mpi.probe(1, Tag::Any).await.tag, mpi.probe(1, 8).await.tag);
                seen.add((any, second, mpi.recv(1, Tag::Any).await.tag, mpi.probe(1, Tag::Any).await.tag));
            }
            _ => {
                mpi.send(0, 7, 0).await;
                mpi.send(0, 8, 0).await;
            }
        }
    });
    assert_eq!(tags, ["(7, 8, 7, 8)"]);
}

#[test]
fn a_message_for_an_earlier_receive_is_not_probed() {
    let net = World::new(2).program("taken", async |mpi: Rank<usize>| match mpi.rank() {
        0 => {
            let receive = mpi.irecv(1, 0).await;
            mpi.probe(1, 0).await;
            mpi.wait(&receive).await;
        }
        _ => mpi.send(0, 0, 1).await,
    });
    let message = finds(&net, FindingKind::Deadlock);
    assert!(
        message.contains("rank 0 waits for its probe for a message from rank 1 with tag 0 (action 1)"),
        "{message}"
    );
}

#[test]
fn a_failed_probe_finds_the_message_later() {
    let found = seen(World::new(2).buffering(Eager), |seen| {
        async move |mpi: Rank<usize>| match mpi.rank() {
            0 => {
                let early = mpi.iprobe(Source::Any, Tag::Any).await.is_some();
                let again = mpi.iprobe(Source::Any, Tag::Any).await.is_some();
                assert!(!early || again);
                let got = mpi.recv(Source::Any, Tag::Any).await.source;
                seen.add((early, again, got, mpi.iprobe(Source::Any, Tag::Any).await));
            }
            _ => mpi.send(0, 0, 1).await,
        }
    });
    assert_eq!(found, ["(false, false, 1, None)", "(false, true, 1, None)", "(true, true, 1, None)"]);
}

#[test]
fn a_probe_does_not_complete_a_synchronous_send() {
    let net = World::new(2).program("synchronous", async |mpi: Rank<usize>| match mpi.rank() {
        0 => drop(mpi.probe(1, 0).await),
        _ => mpi.ssend(0, 0, 1).await,
    });
    finds(&net, FindingKind::Deadlock);
    is_fine(&World::new(1).program("no rank", async |mpi: Rank<usize>| {
        assert_eq!(mpi.probe(PROC_NULL, 0).await.source, PROC_NULL);
        assert!(mpi.iprobe(PROC_NULL, 0).await.is_some());
    }));
}

// ---- ready sends ----------------------------------------------------------------------------------------------------

#[test]
fn a_ready_send_needs_a_receive_that_was_started() {
    let net = |waits: bool| {
        World::new(2).buffering(Eager).program("ready", async move |mpi: Rank<usize>| match mpi.rank() {
            0 => {
                let receive = mpi.irecv(1, 0).await;
                mpi.send(1, 1, 0).await;
                mpi.wait(&receive).await;
            }
            _ => {
                let told = mpi.irecv(0, 1).await;
                if waits {
                    while mpi.test(&told).await.is_none() {}
                }
                mpi.rsend(0, 0, 1).await;
                mpi.wait(&told).await;
            }
        })
    };
    let verdict = verdict(&net(true));
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    let message = finds(&net(false), FindingKind::Assertion);
    assert_eq!(
        message,
        "ready send without a receive: the send of rank 1 (action 1): \
         the receive of rank 0 (action 0) may not have been started before"
    );
    let net = World::new(2).buffering(Eager).program("nobody", async |mpi: Rank<usize>| {
        if mpi.rank() == 1 {
            mpi.rsend(0, 0, 1).await;
        }
    });
    assert!(finds(&net, FindingKind::Assertion).ends_with("there is no receive for it"));
}

// ---- buffering -----------------------------------------------------------------------------------------------------

/// Rank 1 can receive from rank 2 first only if the first send of rank 0 is buffered; then ranks 0 and 1 send to each
/// other before they receive, which deadlocks only if neither of these sends is buffered.
fn partial(buffering: Buffering) -> Net {
    World::new(3).buffering(buffering).program("partial", async |mpi: Rank<usize>| match mpi.rank() {
        0 => {
            mpi.send(1, 0, 1).await;
            mpi.send(2, 0, 2).await;
            mpi.send(1, 1, 3).await;
            mpi.recv(1, 1).await;
        }
        1 => {
            let first = mpi.recv(Source::Any, 0).await.source;
            mpi.recv(Source::Any, 0).await;
            if first == 0 {
                mpi.recv(0, 1).await;
                mpi.send(0, 1, 4).await;
            } else {
                mpi.send(0, 1, 4).await;
                mpi.recv(0, 1).await;
            }
        }
        _ => {
            mpi.recv(0, 0).await;
            mpi.send(1, 0, 5).await;
        }
    })
}

#[test]
fn some_sends_with_a_buffer_and_some_without() {
    is_fine(&partial(Zero));
    is_fine(&partial(Eager));
    let message = finds(&partial(Either), FindingKind::Deadlock);
    assert!(message.contains("rank 0 waits for its send to rank 1 with tag 1"), "{message}");
}

#[test]
fn send_modes() {
    let exchange = |mode: usize, buffering| {
        World::new(2).buffering(buffering).program("modes", async move |mpi: Rank<usize>| {
            let other = 1 - mpi.rank();
            match mode {
                0 => mpi.ssend(other, 0, 1).await,
                1 => mpi.bsend(other, 0, 1).await,
                _ => mpi.send(other, 0, 1).await,
            }
            mpi.recv(other, 0).await;
        })
    };
    for buffering in [Zero, Eager, Either] {
        finds(&exchange(0, buffering), FindingKind::Deadlock);
        is_fine(&exchange(1, buffering));
    }
    finds(&exchange(2, Zero), FindingKind::Deadlock);
    is_fine(&exchange(2, Eager));
    finds(&exchange(2, Either), FindingKind::Deadlock);
}

#[test]
fn sendrecv_and_no_rank() {
    for buffering in [Zero, Eager, Either] {
        is_fine(&World::new(3).buffering(buffering).program("shift", async |mpi: Rank<usize>| {
            let right = if mpi.rank() < 2 { mpi.rank() + 1 } else { PROC_NULL };
            let left = if mpi.rank() > 0 { mpi.rank() - 1 } else { PROC_NULL };
            let message = mpi.sendrecv(right, 0, mpi.rank(), left, Tag::Any).await;
            assert_eq!(message.map(|message| message.value), mpi.rank().checked_sub(1));
            mpi.send(PROC_NULL, 0, 1).await;
            let requests = [mpi.irecv(PROC_NULL, 0).await, mpi.isend(PROC_NULL, 0, 1).await];
            assert!(mpi.testall(&requests.each_ref()).await.is_some());
        }));
    }
}

#[test]
fn persistent_requests() {
    is_fine(&World::new(2).program("persistent", async |mpi: Rank<usize>| {
        let other = 1 - mpi.rank();
        let (send, receive) = (Persistent::send(other, 0, mpi.rank()), Persistent::receive(other, 0));
        for _ in 0..2 {
            let requests = [send.start(&mpi).await, receive.start(&mpi).await];
            assert_eq!(mpi.waitall(&requests.each_ref()).await[1].as_ref().unwrap().value, other);
        }
    }));
}

// ---- polling -------------------------------------------------------------------------------------------------------

#[test]
fn polling_ends() {
    let net = World::new(2).program("poll", async |mpi: Rank<usize>| match mpi.rank() {
        0 => mpi.send(1, 0, 1).await,
        _ => {
            let request = mpi.irecv(0, 0).await;
            while mpi.test(&request).await.is_none() {
                whippet_net::step("does something else").await;
            }
        }
    });
    let verdict = verdict(&net);
    assert!(verdict.complete && verdict.findings.is_empty(), "{:?}", verdict.findings);
    assert!(verdict.may_miss && verdict.notes.iter().any(|note| note.contains("World::polls")), "{:?}", verdict.notes);
    assert_eq!(verdict.counters.executions, 4, "0 to 3 tests fail");
}

#[test]
fn programs_that_do_not_poll_miss_nothing() {
    let net = World::new(2).program("tries", async |mpi: Rank<usize>| match mpi.rank() {
        0 => mpi.send(1, 0, 1).await,
        _ => {
            let request = mpi.irecv(0, 0).await;
            for _ in 0..3 {
                mpi.test(&request).await;
            }
            mpi.wait(&request).await;
        }
    });
    assert!(!verdict(&net).may_miss);
}

#[test]
fn polling_of_several_requests_ends_with_any() {
    // The first request never completes. The second one ends the loop.
    let net = World::new(2).buffering(Eager).program("poll", async |mpi: Rank<usize>| match mpi.rank() {
        0 => mpi.send(1, 1, 1).await,
        _ => {
            let (never, request) = (mpi.irecv(0, 0).await, mpi.irecv(0, 1).await);
            while mpi.test(&never).await.is_none() && mpi.test(&request).await.is_none() {}
        }
    });
    is_fine(&net);
}

#[test]
fn polling_for_nothing_is_a_deadlock() {
    let net = World::new(2).program("poll", async |mpi: Rank<usize>| {
        if mpi.rank() == 1 {
            let request = mpi.irecv(0, 0).await;
            while mpi.test(&request).await.is_none() {}
        }
    });
    let message = finds(&net, FindingKind::Deadlock);
    assert!(message.contains("rank 1 polls forever for its receive from rank 0 with tag 0"), "{message}");
}

// ---- communicators -------------------------------------------------------------------------------------------------

#[test]
fn communicators_keep_messages_apart() {
    is_fine(&World::new(2).buffering(Eager).program("apart", async |mpi: Rank<usize>| {
        let copy = mpi.dup().await;
        if mpi.rank() == 0 {
            copy.send(1, 0, 1).await;
            mpi.send(1, 0, 2).await;
        } else {
            assert_eq!(mpi.recv(Source::Any, Tag::Any).await.value, 2);
            assert_eq!(copy.recv(Source::Any, Tag::Any).await.value, 1);
        }
    }));
}

#[test]
fn split_numbers_the_members_anew() {
    is_fine(&World::new(4).program("split", async |mpi: Rank<usize>| {
        // Odd ranks in reverse order; even ranks are left out.
        let odd = mpi.split((mpi.rank() % 2 == 1).then_some(7), -(mpi.rank() as i64)).await;
        assert_eq!(odd.is_some(), mpi.rank() % 2 == 1);
        if let Some(odd) = odd {
            assert_eq!(odd.rank(), usize::from(mpi.rank() == 1));
            assert_eq!(odd.allgather(mpi.rank()).await, [3, 1]);
            let message = odd.sendrecv(1 - odd.rank(), 0, odd.rank(), 1 - odd.rank(), 0).await.unwrap();
            assert_eq!((message.source, message.value), (1 - odd.rank(), 1 - odd.rank()));
        }
    }));
}

// ---- collectives ---------------------------------------------------------------------------------------------------

#[test]
fn results_of_collectives() {
    for buffering in [Zero, Eager] {
        is_fine(&World::new(3).buffering(buffering).program("results", async |mpi: Rank<usize>| {
            let me = mpi.rank();
            // Not commutative: the order of ranks matters.
            let first = |a: usize, b: usize| 10 * a + b;
            assert_eq!(mpi.reduce(1, me + 1, first).await, (me == 1).then_some(123));
            assert_eq!(mpi.allreduce(me + 1, first).await, 123);
            assert_eq!(mpi.scan(me + 1, first).await, [1, 12, 123][me]);
            assert_eq!(mpi.exscan(me + 1, first).await, [None, Some(1), Some(12)][me]);
            assert_eq!(mpi.gather(2, me).await, (me == 2).then(|| vec![0, 1, 2]));
            assert_eq!(mpi.allgather(me).await, [0, 1, 2]);
            assert_eq!(mpi.scatter(0, Some(vec![5, 6, 7])).await, 5 + me);
            assert_eq!(mpi.alltoall((0..3).map(|to| 10 * me + to).collect()).await, [me, 10 + me, 20 + me]);
            assert_eq!(mpi.reduce_scatter(vec![1, 2, 3], operators::sum).await, 3 * (me + 1));
            let mut buffer = vec![me; 2];
            mpi.bcast_into(2, &mut buffer).await;
            assert_eq!(buffer, [2, 2]);
        }));
    }
}

#[test]
fn collective_requests_and_messages_are_waited_for_together() {
    let orders = seen(World::new(2).buffering(Eager), |seen| {
        async move |mpi: Rank<usize>| {
            let barrier = mpi.ibarrier().await;
            if mpi.rank() == 0 {
                let receive = mpi.irecv(1, 0).await;
                let first = mpi.waitany(&[&barrier, &receive]).await.0;
                mpi.waitall(&[&barrier, &receive]).await;
                seen.add(first);
            } else {
                mpi.send(0, 0, 1).await;
                mpi.wait(&barrier).await;
            }
        }
    });
    assert_eq!(orders, ["0", "1"]);
}
