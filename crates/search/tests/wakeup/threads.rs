//! Threads with shared variables, locks and flags: everything that footprints can express.

use std::fmt;
use std::ops::Range;
use whippet_generate::Random;
use whippet_model::{
    ActorNo, Branch, Branches, Choice, Clocks, Dependence, Executed, Explain, FindingKind, Fingerprint, Foresight,
    Machine, MachineConfig, MachineError, Name, Pending, Problem, Profile, Reversal, StateComparison, Step,
    StepDescription, Touch, capabilities,
};

/// One operation of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Adds one to a variable, then doubles it, so that the result depends on the order.
    Write(u32),
    /// Reads a variable.
    Read(u32),
    /// Reads a variable, and skips the next operation unless it is still 0.
    Unless(u32),
    /// Reads one variable; if that is 0, writes another one: the footprint depends on the order.
    Chain(u32, u32),
    /// Waits until a lock is free and acquires it.
    Lock(u32),
    /// Releases a lock, regardless of its owner.
    Unlock(u32),
    /// Raises a flag.
    Raise(u32),
    /// Waits for one of these flags: each raised flag is a branch.
    Wait(Vec<u32>),
    /// Like `Wait`, but continues if none is raised, and then skips the next operation.
    Test(Vec<u32>),
}

/// The threads of a program.
#[derive(Clone, Debug)]
pub(crate) struct Threads(pub(crate) Vec<Vec<Op>>);

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|thread| writeln!(f, "{thread:?}"))
    }
}

/// Returns a random program: two threads of up to five operations, or three threads of up to three.
pub(crate) fn draw(seed: u64) -> Threads {
    let random = &mut Random::new(seed);
    let threads = 2 + random.below(2);
    let mut below = |n: usize| random.below(n) as u32;
    let mut op = || match below(9) {
        0 => Op::Write(below(2)),
        1 => Op::Read(below(2)),
        2 => Op::Unless(below(2)),
        3 => Op::Chain(below(2), below(2)),
        4 => Op::Lock(below(2)),
        5 => Op::Unlock(below(2)),
        6 => Op::Raise(below(3)),
        7 => Op::Wait(vec![0, 1, 2][..1 + below(3) as usize].to_vec()),
        _ => Op::Test(vec![0, 1, 2][..1 + below(3) as usize].to_vec()),
    };
    let most = if threads == 2 { 5 } else { 3 };
    Threads((0..threads).map(|k| (0..most - (seed as usize + k) % 2).map(|_| op()).collect()).collect())
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Memory {
    next: Vec<usize>,
    variables: [u64; 2],
    locks: [bool; 2],
    flags: [bool; 3],
}

#[derive(Clone, Debug)]
struct Taken {
    step: Step,
    touches: Vec<Touch>,
}

/// Machine of [`Threads`].
#[derive(Debug)]
pub(crate) struct Scheduled {
    profile: Profile,
    threads: Vec<Vec<Op>>,
    memories: Vec<Memory>,
    steps: Vec<Taken>,
}

impl whippet_model::Program for Threads {
    type Machine = Scheduled;

    fn machine(&self, _: &MachineConfig) -> Result<Scheduled, MachineError> {
        let profile = Profile::new(Dependence::Footprints, Branches::Listed);
        let next = vec![0; self.0.len()];
        let start = Memory { next, variables: [0; 2], locks: [false; 2], flags: [false; 3] };
        Ok(Scheduled { profile, threads: self.0.clone(), memories: vec![start], steps: Vec::new() })
    }

    fn name(&self) -> String {
        "threads".into()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn caveats(&self) -> Vec<String> {
        Vec::new()
    }

    fn refinements(&self) -> u64 {
        0
    }
}

fn object(kind: u64, number: u32) -> Name {
    Name::ROOT.mixed(kind).child(number)
}

impl Scheduled {
    fn now(&self) -> &Memory {
        self.memories.last().expect("there is a first one")
    }

    fn op(&self, thread: u32) -> Option<&Op> {
        self.threads[thread as usize].get(self.now().next[thread as usize])
    }

    fn ways(&self, thread: u32) -> Vec<u64> {
        let now = self.now();
        let raised = |flags: &[u32]| -> Vec<u64> {
            (1..).zip(flags).filter(|(_, f)| now.flags[**f as usize]).map(|(k, _)| k).collect()
        };
        match self.op(thread) {
            None => Vec::new(),
            Some(Op::Lock(lock)) => {
                if now.locks[*lock as usize] {
                    Vec::new()
                } else {
                    vec![0]
                }
            }
            Some(Op::Wait(flags)) => raised(flags),
            Some(Op::Test(flags)) => {
                let ways = raised(flags);
                if ways.is_empty() { vec![0] } else { ways }
            }
            Some(_) => vec![0],
        }
    }

    fn run(memory: &mut Memory, op: &Op, way: u64) -> (Vec<Touch>, usize) {
        let (variable, lock, flag) = (|k| object(1, k), |k| object(2, k), |k| object(3, k));
        match op {
            Op::Write(v) => {
                memory.variables[*v as usize] = (memory.variables[*v as usize] + 1) * 2;
                (vec![Touch::write(variable(*v))], 1)
            }
            Op::Read(v) => (vec![Touch::read(variable(*v))], 1),
            Op::Unless(v) => (vec![Touch::read(variable(*v))], if memory.variables[*v as usize] == 0 { 1 } else { 2 }),
            Op::Chain(a, b) => {
                let mut touches = vec![Touch::read(variable(*a))];
                if memory.variables[*a as usize] == 0 {
                    memory.variables[*b as usize] += 5;
                    touches.push(Touch::write(variable(*b)));
                }
                (touches, 1)
            }
            Op::Lock(k) | Op::Unlock(k) => {
                memory.locks[*k as usize] = matches!(op, Op::Lock(_));
                (vec![Touch::write(lock(*k))], 1)
            }
            Op::Raise(f) => {
                memory.flags[*f as usize] = true;
                (vec![Touch::write(flag(*f))], 1)
            }
            Op::Wait(flags) | Op::Test(flags) if way > 0 => (vec![Touch::read(flag(flags[way as usize - 1]))], 1),
            Op::Wait(flags) | Op::Test(flags) => (flags.iter().map(|f| Touch::read(flag(*f))).collect(), 2),
        }
    }
}

impl Machine for Scheduled {
    capabilities!(Foresight, Fingerprint);

    #[inline]
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn depth(&self) -> usize {
        self.steps.len()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        for thread in 0..self.threads.len() as u32 {
            let ways = self.ways(thread);
            out.extend(ways.iter().map(|&way| Choice { what: Pending(thread), branch: Branch(way) }));
        }
        Ok(())
    }

    fn execute(&mut self, choice: Choice) -> Result<Executed, MachineError> {
        let thread = choice.what.0;
        assert!(self.ways(thread).contains(&choice.branch.0), "a search chose what is not enabled");
        let op = self.op(thread).expect("it is enabled").clone();
        let mut memory = self.now().clone();
        let name = self.thread(choice.what);
        let event = name.child(memory.next[thread as usize] as u32).mixed(choice.branch.0);
        let (touches, on) = Scheduled::run(&mut memory, &op, choice.branch.0);
        memory.next[thread as usize] += on;
        self.memories.push(memory);
        self.steps.push(Taken { step: Step { choice, thread: name, event, actor: ActorNo(thread) }, touches });
        Ok(Executed::ONLY_BRANCH)
    }

    fn rewind(&mut self, depth: usize) {
        self.steps.truncate(depth);
        self.memories.truncate(depth + 1);
    }

    fn thread(&self, what: Pending) -> Name {
        object(4, what.0)
    }

    fn actor(&self, what: Pending) -> ActorNo {
        ActorNo(what.0)
    }

    fn find(&self, thread: Name) -> Option<Pending> {
        let known = (0..self.threads.len() as u32).find(|&k| object(4, k) == thread)?;
        self.op(known).map(|_| Pending(known))
    }

    fn pending(&self, out: &mut Vec<Pending>) {
        out.extend((0..self.threads.len() as u32).filter(|&k| self.op(k).is_some()).map(Pending));
    }

    fn step(&self, at: usize) -> Step {
        self.steps[at].step
    }

    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        let actor = self.steps[at].step.actor;
        out.extend((0..at).rev().find(|&k| self.steps[k].step.actor == actor));
    }

    fn sent(&self, _: usize) -> Range<u32> {
        0..0
    }

    fn touches(&self, at: usize) -> &[Touch] {
        &self.steps[at].touches
    }

    fn actors(&self) -> usize {
        self.threads.len()
    }
}

impl Explain for Scheduled {
    fn problems(&self) -> usize {
        0
    }

    fn problem(&self, _: usize) -> Option<Problem> {
        None
    }

    fn data_races(&self, _: &mut Vec<Problem>) {}

    fn final_problems(&mut self, out: &mut Vec<Problem>) -> Result<(), MachineError> {
        let mut stuck = Vec::new();
        self.pending(&mut stuck);
        for what in stuck {
            let message = format!("thread {} waits for ever", what.0);
            let steps = (0..self.depth()).collect();
            let key = self.thread(what);
            out.push(Problem::new(FindingKind::Deadlock, message, key).with_steps(steps));
        }
        Ok(())
    }

    fn describe(&mut self, at: usize) -> StepDescription {
        StepDescription::new(self.steps[at].step.actor.0.to_string(), "")
    }

    fn handler_runs(&self) -> u64 {
        0
    }
}

impl Foresight for Scheduled {
    fn without(&self, _: &Clocks, _: usize, _: usize) -> Reversal {
        Reversal::Unknown
    }

    fn early_alternatives(&self, _: usize, _: &mut Vec<usize>) {}

    fn late_alternatives(&self, at: usize, out: &mut Vec<(usize, Branch)>) {
        let thread = self.steps[at].step.actor.0 as usize;
        let before = &self.memories[at];
        let (Op::Wait(flags) | Op::Test(flags)) = &self.threads[thread][before.next[thread]] else { return };
        for later in at + 1..self.steps.len() {
            let other = self.steps[later].step.actor.0 as usize;
            let Op::Raise(raised) = self.threads[other][self.memories[later].next[other]] else { continue };
            let way = flags.iter().position(|&f| f == raised && !before.flags[f as usize]);
            out.extend(way.map(|k| (later, Branch(k as u64 + 1))));
        }
    }
}

impl Fingerprint for Scheduled {
    fn of_configuration(&mut self, _: StateComparison) -> Result<u128, MachineError> {
        use std::hash::BuildHasher;
        let hasher = std::hash::BuildHasherDefault::<rustc_hash::FxHasher>::default();
        Ok(u128::from(hasher.hash_one(self.now())))
    }
}
