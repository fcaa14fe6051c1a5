//! Tests a sample of generated programs, and minimized programs that once revealed a defect. The command `generated`
//! tests more of them.

use conformance::generated::{Act, Early, Judged, Leaf, Plan, commute, judge, shrink};

fn select(biased: bool, first: Leaf, second: Leaf) -> Act {
    Act::Select { biased, first, second }
}

/// Returns programs on which `optimal` and `exhaustive` once differed, or in which steps that touch no common object
/// once did not commute.
fn once_wrong() -> Vec<Plan> {
    use Act::{Abort, Join, NotifyAll, Release, Send, Spawn, Timeout, TryAnswer, TryLock, TryPush, Wait};
    use Leaf::*;
    [
        // Senders are dropped in any order, also in a `select!`.
        vec![vec![], vec![Send(1)]],
        vec![vec![Wait(Narrow)]],
        vec![
            vec![select(false, Yield, Leaf::Join)],
            vec![Spawn(Box::new(TryPush)), Wait(Reserve), select(false, Narrow, Reserve)],
        ],
        vec![vec![Timeout(Changed)]],
        // Timers begin and stop waiting.
        vec![vec![Spawn(Box::new(Wait(SleepLong))), select(true, Yield, Sleep)]],
        vec![vec![Wait(Push)], vec![Timeout(Push)], vec![select(true, Sleep, Yield)]],
        vec![vec![], vec![select(true, Sleep, Yield)], vec![Wait(SleepLong)]],
        vec![vec![Timeout(Yield)], vec![Wait(Sleep), select(false, Yield, Sleep)]],
        vec![vec![Join(AcquireTwo, Sleep)], vec![select(false, SleepLong, Yield)]],
        vec![vec![select(false, Sleep, Cell)], vec![], vec![select(true, Sleep, Yield)]],
        vec![vec![NotifyAll], vec![Wait(Notified), Wait(SleepLong)], vec![select(false, SleepLong, Notified)]],
        // A timer that waits because of the bound could have fired early.
        vec![vec![Act::Locked(Box::new(Join(SleepLong, Sleep))), Wait(SleepLong)], vec![Wait(Yield), Wait(SleepLong)]],
        // Branches complete at once.
        vec![vec![], vec![], vec![Abort, select(false, Leaf::Join, Leaf::Join)]],
        vec![vec![select(true, First, Many), select(false, First, First)], vec![Send(0)]],
        vec![vec![], vec![select(true, Answer, Unwanted)]],
        // A waiter that leaves the queue lets others pass.
        vec![vec![Wait(Acquire)], vec![], vec![select(false, AcquireTwo, Answer)]],
        vec![vec![select(true, Acquire, AcquireTwo)], vec![Wait(Acquire), Wait(Acquire)]],
        vec![vec![Release, Wait(Acquire)], vec![Spawn(Box::new(select(true, AcquireTwo, AcquireTwo))), Wait(Acquire)]],
        vec![vec![TryLock], vec![select(false, Lock, Lock)]],
        // One branch of a choice is independent of a step on which another branch depends.
        vec![vec![select(false, Unwanted, Answer), Wait(Notified)], vec![Timeout(Notified)]],
        vec![vec![select(false, Unwanted, Unwanted)], vec![TryAnswer]],
    ]
    .into_iter()
    .map(Plan)
    .collect()
}

fn plans() -> impl Iterator<Item = Plan> {
    (1..=60).map(Plan::new).chain(once_wrong())
}

#[test]
fn one_execution_per_trace_sees_what_every_order_sees() {
    let mut compared = 0;
    for (plan, early) in plans().flat_map(|plan| [(plan.clone(), Early::Always), (plan, Early::Seldom)]) {
        match judge(&plan, early) {
            Judged::Same { .. } => compared += 1,
            Judged::TooLarge => {}
            Judged::Different(_) => panic!("{early:?} {:?}", shrink(&plan, early)),
        }
    }
    assert!(compared > once_wrong().len(), "most programs are too large: {compared}");
}

#[test]
fn steps_that_touch_nothing_in_common_can_be_exchanged() {
    for plan in plans() {
        assert_eq!(commute(&plan), None, "{plan:?}");
    }
}
