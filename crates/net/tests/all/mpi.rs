//! Tests of programs in the style of MPI.

use crate::common::{Dice, enumerate};
use crate::processes::{check, with};
use crate::relation::violates;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use whippet_generate::Sample;
use whippet_model::{FindingKind, Verdict};
use whippet_net::mpi::{Buffering, Rank, Request, Source, Tag, World, operators};
use whippet_net::{Net, create, interleavings};
use whippet_search::{Options, Reduction, explore};

/// Returns a ring of ranks, which deadlocks unless sends are buffered.
fn ring(buffering: Buffering) -> Net {
    World::new(3).buffering(buffering).program("ring", async |mpi| {
        let (next, before) = ((mpi.rank() + 1) % mpi.size(), (mpi.rank() + 2) % mpi.size());
        mpi.send(next, 0, mpi.rank()).await;
        assert_eq!(mpi.recv(before, 0).await.value, before);
    })
}

#[test]
fn ring_deadlocks_without_buffers() {
    assert!(check(&ring(Buffering::Eager), 1).findings.is_empty());
    let findings = check(&ring(Buffering::Zero), 1).findings;
    assert_eq!(findings[0].kind, FindingKind::Deadlock);
    assert_eq!(
        findings[0].message.lines().nth(1).unwrap(),
        "  rank 0 waits for its send to rank 1 with tag 0 (action 0); rank 1 did not reach a receive"
    );
}

#[test]
fn collectives_add_no_traces() {
    let net = World::new(3).program("collectives", async |mpi| {
        let base = mpi.bcast(0, 5 * (1 - mpi.rank().min(1))).await;
        assert_eq!(base, 5);
        mpi.barrier().await;
        let sum = mpi.reduce(1, mpi.rank(), |a, b| a + b).await;
        assert_eq!(sum, (mpi.rank() == 1).then_some(3));
        if mpi.rank() == 0 {
            let requests = [mpi.irecv(1, 1).await, mpi.irecv(2, 1).await];
            let all = mpi.waitall(&requests.each_ref()).await;
            assert_eq!(all.into_iter().flatten().map(|r| r.value).collect::<Vec<_>>(), [1, 2]);
        } else {
            let request = mpi.isend(0, 1, mpi.rank()).await;
            mpi.wait(&request).await;
        }
    });
    let verdict = with(&net, Reduction::Udpor).unwrap();
    assert_eq!((verdict.counters.executions, verdict.findings.len()), (1, 0));
}

#[test]
fn barrier_waits_for_all_ranks() {
    let net = World::new(2).program("barrier", async |mpi| {
        if mpi.rank() == 0 {
            let receive = mpi.irecv(1, 0).await;
            mpi.barrier().await;
            assert!(mpi.test(&receive).await.is_none(), "rank 1 sends after the barrier");
            mpi.barrier().await;
            mpi.wait(&receive).await;
        } else {
            mpi.barrier().await;
            mpi.barrier().await;
            mpi.send(0, 0, 1).await;
        }
    });
    assert!(check(&net, 1).findings.is_empty());
}

#[test]
fn testany_and_waitany() {
    let net = World::new(3).program("any", async |mpi| {
        if mpi.rank() > 0 {
            return mpi.send(0, 0, mpi.rank()).await;
        }
        let requests = [mpi.irecv(Source::Any, 0).await, mpi.irecv(Source::Any, 0).await];
        let first = match mpi.testany(&requests.each_ref()).await {
            Some((k, _)) => k,
            None => mpi.waitany(&requests.each_ref()).await.0,
        };
        let other = mpi.wait(&requests[1 - first]).await.unwrap();
        assert!(other.source == 1 || other.source == 2);
        assert!(mpi.test(&requests[first]).await.is_some());
    });
    let traces = with(&net, Reduction::Udpor).unwrap().counters.executions;
    assert!(check(&net, traces).findings.is_empty());
}

/// Returns the sequences of values that rank 0 can receive with these receives, given the sends of ranks 1 and 2.
fn received(filter: &[(Source, Tag)], sends: [&'static [(u32, u32)]; 2]) -> BTreeSet<String> {
    let (filter, seen) = (filter.to_vec(), Arc::new(Mutex::new(BTreeSet::new())));
    let told = seen.clone();
    let net = World::new(3).buffering(Buffering::Eager).program("received", async move |mpi| match mpi.rank() {
        0 => {
            let mut got = Vec::new();
            for &(source, tag) in &filter {
                got.push(mpi.recv(source, tag).await.value);
            }
            told.lock().unwrap().insert(format!("{got:?}"));
        }
        rank => {
            for &(tag, value) in sends[rank - 1] {
                mpi.send(0, tag, value).await;
            }
        }
    });
    let traces = with(&net, Reduction::Udpor).unwrap().counters.executions;
    let found = std::mem::take(&mut *seen.lock().unwrap());
    check(&net, traces);
    assert_eq!(found, *seen.lock().unwrap(), "the other searches see the same");
    found
}

#[test]
fn receive_by_source_and_tag() {
    let all = |filter: &[(Source, Tag)]| received(filter, [&[(0, 10), (1, 11)], &[(1, 21)]]);
    let set = |texts: &[&str]| texts.iter().map(|text| (*text).to_string()).collect::<BTreeSet<_>>();
    let (any, one) = (Source::Any, Source::Rank(1));
    assert_eq!(all(&[(any, Tag::Any)]), set(&["[10]", "[21]"]));
    assert_eq!(all(&[(any, Tag::Is(1))]), set(&["[11]", "[21]"]));
    assert_eq!(all(&[(one, Tag::Any), (one, Tag::Any)]), set(&["[10, 11]"]));
    assert_eq!(all(&[(one, Tag::Is(1)), (any, Tag::Any)]), set(&["[11, 10]", "[11, 21]"]));
    assert_eq!(all(&[(any, Tag::Is(1)), (one, Tag::Any)]), set(&["[11, 10]", "[21, 10]"]));
    assert_eq!(all(&[(any, Tag::Any), (any, Tag::Any), (any, Tag::Any)]).len(), 3);
}

#[test]
fn unreceived_messages_add_no_traces() {
    // Three ranks send and one message is received. Its source makes a difference; the order of the others does not.
    let net = World::new(4).buffering(Buffering::Eager).program("one of three", async |mpi| match mpi.rank() {
        0 => {
            mpi.recv(Source::Any, 0).await;
        }
        rank => mpi.send(0, 0, rank).await,
    });
    assert!(check(&net, 3).findings.is_empty());
}

#[test]
fn deadlock_message_lists_rejected_messages() {
    let net = World::new(2).buffering(Buffering::Eager).program("tags", async |mpi| match mpi.rank() {
        0 => {
            mpi.recv(1, 7).await;
        }
        _ => mpi.send(0, 8, ()).await,
    });
    assert_eq!(
        check(&net, 1).findings[0].message,
        "no process can continue\n  rank 0 waits for its receive from rank 1 with tag 7 (action 0); \
         rank 1 sent with tag 8, which it does not accept"
    );
}

#[test]
fn misuse_of_ranks_is_reported() {
    let net = World::new(2).program("three", async |mpi: Rank<u32>| mpi.send(3, 0, 1).await);
    let verdict = with(&net, Reduction::Udpor).unwrap();
    assert!(verdict.findings[0].message.contains("unknown rank 3: the world has 2 ranks"));
    let net = World::new(1).program("child", async |mpi: Rank<u32>| {
        create("child", async move || mpi.clone().send(0, 0, 1).await).await;
    });
    let error = with(&net, Reduction::Udpor).unwrap_err().to_string();
    assert!(error.contains("created by rank 0"), "{error}");
}

/// An action of a rank in a random program.
#[derive(Copy, Clone, Debug)]
enum Act {
    Send(usize, u32),
    Receive(Source, Tag),
    Isend(usize, u32),
    Irecv(Source, Tag),
    Waitany,
    Testany,
    Waitsome,
    Testall,
    /// Waits for the collective call if the flag is set.
    Collective(Collective, usize, bool),
    /// Sends on a copy of the communicator.
    SendOnCopy(usize, u32),
    /// Receives on a copy of the communicator.
    ReceiveOnCopy(Source, Tag),
    /// Looks for a message, and receives it if the flag is set.
    Probe(Source, Tag, bool),
    /// Looks for a message without waiting, and receives it if the flag is set.
    Iprobe(Source, Tag, bool),
}

/// A collective operation in a random program.
#[derive(Copy, Clone, Debug)]
enum Collective {
    Barrier,
    Bcast,
    Reduce,
    Scan,
    Allgather,
}

fn draw(dice: &mut Dice, ranks: usize) -> Act {
    let source = if dice.below(2) == 0 { Source::Any } else { Source::Rank(dice.below(ranks)) };
    let tag = if dice.below(3) == 0 { Tag::Any } else { Tag::Is(dice.below(2) as u32) };
    let (to, with) = (dice.below(ranks), dice.below(2) as u32);
    let collective = match dice.below(8) {
        0 => Collective::Barrier,
        1..=3 => Collective::Bcast,
        4 | 5 => Collective::Reduce,
        6 => Collective::Scan,
        _ => Collective::Allgather,
    };
    match dice.below(20) {
        0 | 1 => Act::Send(to, with),
        2 => Act::Receive(source, tag),
        3 | 4 => Act::Isend(to, with),
        5..=7 => Act::Irecv(source, tag),
        8 => Act::Waitany,
        9 => Act::Testany,
        10 => Act::Waitsome,
        11 => Act::Testall,
        12 => Act::SendOnCopy(to, with),
        13 => Act::ReceiveOnCopy(source, tag),
        18 => Act::Probe(source, tag, dice.below(3) > 0),
        19 => Act::Iprobe(source, tag, dice.below(2) > 0),
        k => Act::Collective(collective, dice.below(4) / 3, k < 16),
    }
}

async fn collective(mpi: &Rank<usize>, which: Collective, root: usize, value: usize) -> Request<usize> {
    match which {
        Collective::Barrier => mpi.ibarrier().await,
        Collective::Bcast => mpi.ibcast(root, value).await,
        Collective::Reduce => mpi.ireduce(root, value, operators::sum).await,
        Collective::Scan => mpi.iscan(value, operators::sum).await,
        Collective::Allgather => mpi.iallgather(value).await,
    }
}

async fn run(mpi: &Rank<usize>, copy: &Rank<usize>, acts: &[Act]) {
    let mut requests: Vec<Request<usize>> = Vec::new();
    for (k, &act) in acts.iter().enumerate() {
        let value = 10 * mpi.rank() + k;
        match act {
            Act::Send(to, tag) => mpi.send(to, tag, value).await,
            Act::Receive(source, tag) => {
                mpi.recv(source, tag).await;
            }
            Act::Isend(to, tag) => requests.push(mpi.isend(to, tag, value).await),
            Act::Irecv(source, tag) => requests.push(mpi.irecv(source, tag).await),
            Act::Waitany | Act::Testany if requests.is_empty() => {}
            Act::Waitany => {
                mpi.waitany(&requests.iter().collect::<Vec<_>>()).await;
            }
            Act::Waitsome => {
                mpi.waitsome(&requests.iter().collect::<Vec<_>>()).await;
            }
            Act::Testall => {
                mpi.testall(&requests.iter().collect::<Vec<_>>()).await;
            }
            Act::Collective(which, root, waits) => {
                let request = collective(mpi, which, root, value).await;
                if waits {
                    mpi.wait(&request).await;
                } else {
                    requests.push(request);
                }
            }
            Act::Probe(source, tag, receives) => {
                let found = mpi.probe(source, tag).await;
                if receives {
                    assert_eq!(mpi.recv(found.source, found.tag).await.source, found.source);
                }
            }
            Act::Iprobe(source, tag, receives) => {
                let found = mpi.iprobe(source, tag).await;
                if let Some(found) = found.filter(|_| receives) {
                    requests.push(mpi.irecv(found.source, found.tag).await);
                }
            }
            Act::SendOnCopy(to, tag) => copy.send(to, tag, value).await,
            Act::ReceiveOnCopy(source, tag) => {
                copy.recv(source, tag).await;
            }
            Act::Testany => {
                mpi.testany(&requests.iter().collect::<Vec<_>>()).await;
            }
        }
    }
}

/// Returns a random program and its text.
fn program(seed: u64, most: usize) -> (Net, String) {
    let mut dice = Dice::new(seed);
    let ranks = 2 + dice.below(2);
    let mut acts = vec![Vec::new(); ranks];
    for _ in 0..most {
        let rank = dice.below(ranks);
        let act = draw(&mut dice, ranks);
        acts[rank].push(act);
    }
    let buffering = [Buffering::Zero, Buffering::Eager, Buffering::Either][dice.below(3)];
    let text = format!("{buffering:?} {acts:#?}");
    let acts = Arc::new(acts);
    let net = World::new(ranks).buffering(buffering).program("random", async move |mpi| {
        let copied = acts.iter().flatten().any(|act| matches!(act, Act::SendOnCopy(..) | Act::ReceiveOnCopy(..)));
        let copy = if copied { mpi.dup().await } else { mpi.clone() };
        run(&mpi, &copy, &acts[mpi.rank()]).await;
    });
    (net, text)
}

fn judge(net: &Net, text: &str) {
    assert_eq!(violates(net), None, "{text}");
    let all = enumerate(net);
    let states: BTreeSet<u128> = all.ends.iter().map(|end| end.0).collect();
    let deadlocks: BTreeSet<_> = all.ends.iter().filter_map(|end| end.1).collect();
    for reduction in [Reduction::Udpor, Reduction::Optimal, Reduction::Source] {
        let (watched, log) = whippet_generate::watch(net.clone());
        let options = Options::new(reduction);
        let verdict: Verdict = explore(Arc::new(watched), &options, &()).unwrap();
        let log = log.so_far();
        assert_eq!(log.contradiction, None, "{text}");
        assert_eq!(
            log.traces.values().map(|seen| seen.key).collect::<BTreeSet<_>>(),
            all.traces,
            "{reduction} on {text}"
        );
        assert_eq!(verdict.counters.executions, all.traces.len() as u64, "{reduction} on {text}");
        assert_eq!(log.traces.values().filter_map(|seen| seen.state).collect::<BTreeSet<_>>(), states, "{text}");
        assert_eq!(verdict.findings.iter().map(|f| f.key).collect::<BTreeSet<_>>(), deadlocks, "{reduction} on {text}");
        assert!(reduction == Reduction::Source || verdict.counters.blocked == 0, "{reduction} on {text}");
    }
}

fn sample(sample: Sample) -> usize {
    let mut traces = 0;
    for seed in sample.seed..sample.seed.wrapping_add(sample.programs) {
        let sizes = (2..=4 + seed as usize % 6).rev().map(|most| program(seed, most));
        let Some((net, text)) = sizes.into_iter().find(|(net, _)| interleavings(net).unwrap() <= 3_000) else {
            continue; // With a copied communicator, no program of three ranks is small.
        };
        judge(&net, &format!("seed {seed}: {text}"));
        traces += with(&net, Reduction::Udpor).unwrap().counters.executions as usize;
    }
    traces
}

/// For the full sample, run `WHIPPET_PROGRAMS=3000 cargo test --release -p whippet-net random_ranks_fixed_seeds`.
#[test]
fn random_ranks_fixed_seeds() {
    let sample_of = Sample::from_environment(1, 150);
    println!("{} programs, {} traces", sample_of.programs, sample(sample_of));
}

#[test]
fn random_ranks_fresh_seed() {
    let sample_of = Sample::from_environment(Sample::fresh_seed(), 80);
    println!("seeds from {}", sample_of.seed);
    println!("{} programs, {} traces", sample_of.programs, sample(sample_of));
}
