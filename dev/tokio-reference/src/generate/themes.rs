//! Themes: an object, and what tasks do with it.

use super::random::Random;
use crate::program::{Leaf, Object, ObjectId, Op, TaskId};

/// A leaf or an operation that does not wait.
pub(super) enum Piece {
    Leaf(Leaf),
    Op(Op),
}

/// An object of a program, and the kind of operations that tasks have on it.
pub(super) enum Theme {
    Object(ObjectId, Object),
    Timers,
}

impl Theme {
    /// Picks a theme and adds its object.
    pub(super) fn any(random: &mut Random, objects: &mut Vec<Object>) -> Theme {
        let object = match random.weighted(&[16, 8, 8, 8, 8, 12, 14, 6, 8, 8, 5, 4, 6]) {
            0 => Object::Mpsc { capacity: Some(random.between(1, 2) as usize) },
            1 => Object::Mpsc { capacity: None },
            2 => Object::Oneshot,
            3 => Object::Broadcast { capacity: random.between(1, 2) as usize },
            4 => Object::Watch,
            5 => Object::Notify,
            6 => Object::Semaphore { permits: random.between(0, 2) as usize },
            7 => Object::Mutex,
            8 => Object::RwLock,
            9 => Object::OnceCell,
            10 => Object::SetOnce,
            11 => Object::Barrier { size: 2 },
            _ => return Theme::Timers,
        };
        Theme::add(objects, object)
    }

    /// Adds an object and returns its theme.
    pub(super) fn add(objects: &mut Vec<Object>, object: Object) -> Theme {
        objects.push(object.clone());
        Theme::Object(objects.len() - 1, object)
    }

    /// Writes something that the task with this role does.
    pub(super) fn piece(&self, random: &mut Random, role: usize) -> Piece {
        let (object, kind) = match self {
            Theme::Timers => return timer(random),
            Theme::Object(object, kind) => (*object, kind),
        };
        match kind {
            Object::Mpsc { .. } if role == 0 => mpsc_receiver(random, object),
            Object::Mpsc { capacity: Some(_) } => bounded_sender(random, object),
            Object::Mpsc { capacity: None } => unbounded_sender(random, object),
            Object::Oneshot => oneshot(random, object, role),
            Object::Broadcast { .. } => broadcast(random, object, role),
            Object::Watch => watch(random, object, role),
            Object::Notify => notify(random, object),
            Object::Semaphore { .. } => semaphore(random, object),
            Object::Mutex => mutex(random, object),
            Object::RwLock => rwlock(random, object),
            Object::OnceCell | Object::SetOnce => cell(random, object, kind),
            Object::Barrier { .. } => Piece::Leaf(Leaf::BarrierWait(object)),
        }
    }
}

fn mpsc_receiver(random: &mut Random, object: ObjectId) -> Piece {
    match random.weighted(&[10, 2, 4, 4, 4, 1]) {
        0 => Piece::Leaf(Leaf::Recv(object)),
        1 => Piece::Leaf(Leaf::RecvMany(object, random.between(1, 2) as usize)),
        2 => Piece::Op(Op::TryRecv(object)),
        3 => Piece::Op(Op::Close(object)),
        4 => Piece::Op(Op::DropReceiver(object)),
        _ => Piece::Op(Op::Len(object)),
    }
}

fn bounded_sender(random: &mut Random, object: ObjectId) -> Piece {
    match random.weighted(&[10, 4, 4, 3, 3, 2, 3, 2, 2, 2, 2, 1]) {
        0 => Piece::Leaf(Leaf::Send(object)),
        1 => Piece::Op(Op::TrySend(object)),
        2 => Piece::Leaf(Leaf::ReserveSend(object)),
        3 => Piece::Leaf(Leaf::Reserve(object)),
        4 => Piece::Op(Op::SendPermit(object)),
        5 => Piece::Leaf(Leaf::SendTimeout(object, random.between(1, 2))),
        6 => Piece::Leaf(Leaf::Closed(object)),
        7 => Piece::Op(Op::DropSender(object)),
        8 => Piece::Op(Op::Capacity(object)),
        9 => Piece::Op(Op::WeakSend(object)),
        10 => Piece::Op(Op::IsClosed(object)),
        _ => Piece::Op(Op::Release(object)),
    }
}

fn unbounded_sender(random: &mut Random, object: ObjectId) -> Piece {
    match random.weighted(&[10, 3, 2, 2, 4]) {
        0 => Piece::Op(Op::SendNow(object)),
        1 => Piece::Leaf(Leaf::Closed(object)),
        2 => Piece::Op(Op::DropSender(object)),
        3 => Piece::Op(Op::IsClosed(object)),
        _ => Piece::Op(Op::WeakSend(object)),
    }
}

fn oneshot(random: &mut Random, object: ObjectId, role: usize) -> Piece {
    if role.is_multiple_of(2) {
        return match random.weighted(&[6, 4, 4, 2]) {
            0 => Piece::Leaf(Leaf::Answer(object)),
            1 => Piece::Op(Op::TryRecv(object)),
            2 => Piece::Op(Op::Close(object)),
            _ => Piece::Op(Op::DropReceiver(object)),
        };
    }
    match random.weighted(&[5, 5, 2, 2]) {
        0 => Piece::Op(Op::Reply(object)),
        1 => Piece::Leaf(Leaf::Closed(object)),
        2 => Piece::Op(Op::IsClosed(object)),
        _ => Piece::Op(Op::DropSender(object)),
    }
}

fn broadcast(random: &mut Random, object: ObjectId, role: usize) -> Piece {
    if role == 0 {
        return Piece::Op(if random.chance(85) { Op::Broadcast(object) } else { Op::DropSender(object) });
    }
    match random.weighted(&[6, 3, 1, 2]) {
        0 => Piece::Leaf(Leaf::Heard(object)),
        1 => Piece::Op(Op::TryHear(object)),
        2 => Piece::Op(Op::Len(object)),
        _ => Piece::Op(Op::DropReceiver(object)),
    }
}

fn watch(random: &mut Random, object: ObjectId, role: usize) -> Piece {
    if role == 0 {
        return match random.weighted(&[6, 3, 1, 2]) {
            0 => Piece::Op(Op::Publish(object)),
            1 => Piece::Leaf(Leaf::Closed(object)),
            2 => Piece::Op(Op::IsClosed(object)),
            _ => Piece::Op(Op::DropSender(object)),
        };
    }
    match random.weighted(&[6, 2, 2, 2]) {
        0 => Piece::Leaf(Leaf::Changed(object)),
        1 => Piece::Op(Op::HasChanged(object)),
        2 => Piece::Op(Op::Borrow(object)),
        _ => Piece::Op(Op::DropReceiver(object)),
    }
}

fn notify(random: &mut Random, object: ObjectId) -> Piece {
    match random.weighted(&[6, 5, 3, 3, 3]) {
        0 => Piece::Leaf(Leaf::Notified(object)),
        1 => Piece::Op(Op::NotifyOne(object)),
        2 => Piece::Op(Op::NotifyWaiters(object)),
        3 => Piece::Op(Op::Arm { object, enable: random.chance(60) }),
        _ => Piece::Leaf(Leaf::Armed(object)),
    }
}

fn semaphore(random: &mut Random, object: ObjectId) -> Piece {
    match random.weighted(&[10, 3, 5, 3, 4, 1, 2, 1]) {
        0 => Piece::Leaf(Leaf::Acquire(object, random.between(1, 3) as u32)),
        1 => Piece::Op(Op::TryAcquire(object, random.between(1, 2) as u32)),
        2 => Piece::Op(Op::AddPermits(object, random.between(1, 2) as usize)),
        3 => Piece::Op(Op::CloseSemaphore(object)),
        4 => Piece::Op(Op::Release(object)),
        5 => Piece::Op(Op::ForgetPermits(object, random.between(1, 2) as usize)),
        6 => Piece::Op(Op::Available(object)),
        _ => Piece::Op(Op::ForgetGuard(object)),
    }
}

fn mutex(random: &mut Random, object: ObjectId) -> Piece {
    match random.weighted(&[6, 2, 4]) {
        0 => Piece::Leaf(Leaf::Lock(object)),
        1 => Piece::Op(Op::TryLock(object)),
        _ => Piece::Op(Op::Release(object)),
    }
}

fn rwlock(random: &mut Random, object: ObjectId) -> Piece {
    match random.weighted(&[5, 5, 2, 2, 5]) {
        0 => Piece::Leaf(Leaf::Read(object)),
        1 => Piece::Leaf(Leaf::Write(object)),
        2 => Piece::Op(Op::TryRead(object)),
        3 => Piece::Op(Op::TryWrite(object)),
        _ => Piece::Op(Op::Release(object)),
    }
}

fn cell(random: &mut Random, object: ObjectId, kind: &Object) -> Piece {
    match random.weighted(&[6, 2, 2]) {
        0 if *kind == Object::OnceCell => Piece::Leaf(Leaf::GetOrInit(object)),
        0 => Piece::Leaf(Leaf::WaitSet(object)),
        1 => Piece::Op(Op::Get(object)),
        _ => Piece::Op(Op::Set(object)),
    }
}

fn timer(random: &mut Random) -> Piece {
    match random.weighted(&[5, 3, 3, 2]) {
        0 => Piece::Leaf(Leaf::Sleep(random.between(1, 3))),
        1 => Piece::Leaf(Leaf::Tick(random.between(1, 2))),
        2 => Piece::Op(Op::Now),
        _ => Piece::Leaf(Leaf::Yield),
    }
}

/// Writes an operation of the task that spawned `child`.
pub(super) fn supervision(random: &mut Random, child: TaskId, in_set: bool) -> Op {
    if in_set {
        return match random.weighted(&[5, 2, 4, 3]) {
            0 => Op::Await(Leaf::JoinNext),
            1 => Op::TryJoinNext,
            2 => Op::AbortAll,
            _ => Op::DropSet,
        };
    }
    match random.weighted(&[5, 5, 2, 1]) {
        0 => Op::Await(Leaf::Join(child)),
        1 => Op::Abort(child),
        2 => Op::IsFinished(child),
        _ => Op::Select { biased: random.chance(50), branches: vec![Leaf::Join(child), Leaf::Sleep(1)] },
    }
}
