//! Smaller variations of a program.

use crate::handles::Node;
use crate::program::{Leaf, Object, ObjectId, Op, Program, TaskId};

/// Returns variations of a program that are one change smaller: without a task, without an operation, with an operation
/// replaced by a part of it, or with a smaller number. Objects that nothing uses are removed.
///
/// Every variation is smaller in a measure that has a least value, so shrinking ends.
pub fn smaller(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for task in 0..program.tasks.len() {
        all.extend(without_task(program, task));
    }
    for task in 0..program.tasks.len() {
        for index in 0..program.tasks[task].len() {
            let mut shorter = program.clone();
            shorter.tasks[task].remove(index);
            all.push(shorter);
        }
    }
    for task in 0..program.tasks.len() {
        for (index, op) in program.tasks[task].iter().enumerate() {
            for simpler in simpler_ops(op) {
                let mut changed = program.clone();
                changed.tasks[task][index] = simpler;
                all.push(changed);
            }
        }
    }
    for object in 0..program.objects.len() {
        if let Some(kind) = smaller_object(&program.objects[object]) {
            let mut changed = program.clone();
            changed.objects[object] = kind;
            all.push(changed);
        }
    }
    all.iter_mut().for_each(remove_unused_objects);
    all.retain(|smaller| smaller != program && fits(smaller));
    all
}

/// Tells if every operation fits the object that it names.
pub fn fits(program: &Program) -> bool {
    !program.any_node(|node| match node {
        Node::Op(op) => !op.fits(&program.objects),
        Node::Leaf(leaf) => !leaf.fits(&program.objects),
    })
}

/// Removes a task, together with the operations that name it.
fn without_task(program: &Program, task: TaskId) -> Option<Program> {
    if program.tasks.len() == 1 {
        return None;
    }
    let mut smaller = program.clone();
    smaller.tasks.remove(task);
    for ops in &mut smaller.tasks {
        ops.retain_mut(|op| rename_tasks(op, task));
    }
    Some(smaller)
}

/// Renumbers tasks above the one that was removed. Returns false if the operation names that one.
fn rename_tasks(op: &mut Op, removed: TaskId) -> bool {
    fn rename(task: &mut TaskId, removed: TaskId) -> bool {
        if *task > removed {
            *task -= 1;
            return true;
        }
        *task != removed
    }
    fn rename_in_leaf(leaf: &mut Leaf, removed: TaskId) -> bool {
        match leaf {
            Leaf::Join(task) => rename(task, removed),
            Leaf::Now(op) => rename_tasks(op, removed),
            Leaf::Then(op, leaf) => rename_tasks(op, removed) & rename_in_leaf(leaf, removed),
            Leaf::Within(_, leaf) => rename_in_leaf(leaf, removed),
            _ => true,
        }
    }
    match op {
        Op::Spawn(task) | Op::SpawnIn(task) | Op::Abort(task) | Op::IsFinished(task) => rename(task, removed),
        Op::Await(leaf) => rename_in_leaf(leaf, removed),
        Op::Select { branches, .. } | Op::JoinAll(branches) => {
            branches.retain_mut(|leaf| rename_in_leaf(leaf, removed));
            !branches.is_empty()
        }
        _ => true,
    }
}

fn simpler_ops(op: &Op) -> Vec<Op> {
    let mut simpler = Vec::new();
    match op {
        Op::Await(leaf) => {
            if let Leaf::Now(op) = leaf {
                simpler.push((**op).clone());
            }
            simpler.extend(simpler_leaves(leaf).into_iter().map(Op::Await));
        }
        Op::Select { branches, biased } => {
            simpler.extend(branches.iter().cloned().map(Op::Await));
            let with = |branches| Op::Select { biased: *biased, branches };
            simpler.extend(fewer_branches(branches).into_iter().map(with));
            if !biased {
                simpler.push(Op::Select { biased: true, branches: branches.clone() });
            }
            simpler.extend(simpler_branches(branches).into_iter().map(with));
        }
        Op::JoinAll(branches) => {
            simpler.extend(branches.iter().cloned().map(Op::Await));
            simpler.extend(fewer_branches(branches).into_iter().map(Op::JoinAll));
            simpler.extend(simpler_branches(branches).into_iter().map(Op::JoinAll));
        }
        Op::SpawnIn(task) => simpler.push(Op::Spawn(*task)),
        Op::TryAcquire(object, permits @ 2..) => simpler.push(Op::TryAcquire(*object, permits - 1)),
        Op::AddPermits(object, permits @ 2..) => simpler.push(Op::AddPermits(*object, permits - 1)),
        Op::ForgetPermits(object, permits @ 2..) => simpler.push(Op::ForgetPermits(*object, permits - 1)),
        Op::Arm { object, enable: true } => simpler.push(Op::Arm { object: *object, enable: false }),
        _ => {}
    }
    simpler
}

fn fewer_branches(branches: &[Leaf]) -> Vec<Vec<Leaf>> {
    if branches.len() <= 2 {
        return Vec::new();
    }
    let without = |index| {
        let mut fewer = branches.to_vec();
        fewer.remove(index);
        fewer
    };
    (0..branches.len()).map(without).collect()
}

fn simpler_branches(branches: &[Leaf]) -> Vec<Vec<Leaf>> {
    let mut all = Vec::new();
    for (index, leaf) in branches.iter().enumerate() {
        for simpler in simpler_leaves(leaf) {
            let mut changed = branches.to_vec();
            changed[index] = simpler;
            all.push(changed);
        }
    }
    all
}

fn simpler_leaves(leaf: &Leaf) -> Vec<Leaf> {
    let mut simpler = Vec::new();
    match leaf {
        Leaf::Then(op, leaf) => {
            simpler.push((**leaf).clone());
            simpler.push(Leaf::Now(op.clone()));
            simpler.extend(simpler_leaves(leaf).into_iter().map(|leaf| Leaf::Then(op.clone(), Box::new(leaf))));
            let wrap = |op| Leaf::Then(Box::new(op), leaf.clone());
            simpler.extend(simpler_ops(op).into_iter().map(wrap));
        }
        Leaf::Now(op) => simpler.extend(simpler_ops(op).into_iter().map(|op| Leaf::Now(Box::new(op)))),
        Leaf::Within(ticks, leaf) => {
            simpler.push((**leaf).clone());
            if *ticks > 1 {
                simpler.push(Leaf::Within(ticks - 1, leaf.clone()));
            }
            simpler.extend(simpler_leaves(leaf).into_iter().map(|leaf| Leaf::Within(*ticks, Box::new(leaf))));
        }
        Leaf::SendTimeout(object, ticks) => {
            simpler.push(Leaf::Send(*object));
            if *ticks > 1 {
                simpler.push(Leaf::SendTimeout(*object, ticks - 1));
            }
        }
        Leaf::RecvMany(object, limit) => {
            simpler.push(Leaf::Recv(*object));
            if *limit > 1 {
                simpler.push(Leaf::RecvMany(*object, limit - 1));
            }
        }
        Leaf::ReserveSend(object) => simpler.push(Leaf::Send(*object)),
        Leaf::Acquire(object, permits @ 2..) => simpler.push(Leaf::Acquire(*object, permits - 1)),
        Leaf::Sleep(ticks @ 2..) => simpler.push(Leaf::Sleep(ticks - 1)),
        Leaf::Tick(ticks) => {
            simpler.push(Leaf::Sleep(1));
            if *ticks > 1 {
                simpler.push(Leaf::Tick(ticks - 1));
            }
        }
        Leaf::Sleep(1) => simpler.push(Leaf::Yield),
        _ => {}
    }
    simpler
}

fn smaller_object(object: &Object) -> Option<Object> {
    match *object {
        Object::Mpsc { capacity: Some(capacity @ 2..) } => Some(Object::Mpsc { capacity: Some(capacity - 1) }),
        Object::Broadcast { capacity: capacity @ 2.. } => Some(Object::Broadcast { capacity: capacity - 1 }),
        Object::Semaphore { permits: permits @ 1.. } => Some(Object::Semaphore { permits: permits - 1 }),
        Object::Barrier { size: size @ 2.. } => Some(Object::Barrier { size: size - 1 }),
        _ => None,
    }
}

/// Removes objects that no operation names, and renumbers the others.
fn remove_unused_objects(program: &mut Program) {
    for object in (0..program.objects.len()).rev() {
        let is_used = program.any_node(|node| match node {
            Node::Op(op) => op.object() == Some(object),
            Node::Leaf(leaf) => leaf.object() == Some(object),
        });
        if !is_used {
            program.objects.remove(object);
            program.tasks.iter_mut().flatten().for_each(|op| rename_objects(op, object));
        }
    }
}

fn rename_objects(op: &mut Op, removed: ObjectId) {
    if let Some(object) = object_of_op(op)
        && *object > removed
    {
        *object -= 1;
    }
    match op {
        Op::Await(leaf) => rename_objects_in_leaf(leaf, removed),
        Op::Select { branches, .. } | Op::JoinAll(branches) => {
            branches.iter_mut().for_each(|leaf| rename_objects_in_leaf(leaf, removed));
        }
        _ => {}
    }
}

fn rename_objects_in_leaf(leaf: &mut Leaf, removed: ObjectId) {
    if let Some(object) = object_of_leaf(leaf)
        && *object > removed
    {
        *object -= 1;
    }
    match leaf {
        Leaf::Now(op) => rename_objects(op, removed),
        Leaf::Then(op, leaf) => {
            rename_objects(op, removed);
            rename_objects_in_leaf(leaf, removed);
        }
        Leaf::Within(_, leaf) => rename_objects_in_leaf(leaf, removed),
        _ => {}
    }
}

fn object_of_leaf(leaf: &mut Leaf) -> Option<&mut ObjectId> {
    match leaf {
        Leaf::Recv(object)
        | Leaf::RecvMany(object, _)
        | Leaf::Send(object)
        | Leaf::ReserveSend(object)
        | Leaf::Reserve(object)
        | Leaf::SendTimeout(object, _)
        | Leaf::Closed(object)
        | Leaf::Answer(object)
        | Leaf::Heard(object)
        | Leaf::Changed(object)
        | Leaf::Notified(object)
        | Leaf::Armed(object)
        | Leaf::Acquire(object, _)
        | Leaf::Lock(object)
        | Leaf::Read(object)
        | Leaf::Write(object)
        | Leaf::GetOrInit(object)
        | Leaf::WaitSet(object)
        | Leaf::BarrierWait(object) => Some(object),
        _ => None,
    }
}

fn object_of_op(op: &mut Op) -> Option<&mut ObjectId> {
    match op {
        Op::SendNow(object)
        | Op::TrySend(object)
        | Op::WeakSend(object)
        | Op::SendPermit(object)
        | Op::TryRecv(object)
        | Op::Close(object)
        | Op::DropReceiver(object)
        | Op::DropSender(object)
        | Op::Capacity(object)
        | Op::IsClosed(object)
        | Op::Len(object)
        | Op::Reply(object)
        | Op::Broadcast(object)
        | Op::TryHear(object)
        | Op::Publish(object)
        | Op::HasChanged(object)
        | Op::Borrow(object)
        | Op::NotifyOne(object)
        | Op::NotifyWaiters(object)
        | Op::Arm { object, .. }
        | Op::TryAcquire(object, _)
        | Op::AddPermits(object, _)
        | Op::ForgetPermits(object, _)
        | Op::Available(object)
        | Op::CloseSemaphore(object)
        | Op::TryLock(object)
        | Op::TryRead(object)
        | Op::TryWrite(object)
        | Op::Release(object)
        | Op::ForgetGuard(object)
        | Op::Get(object)
        | Op::Set(object) => Some(object),
        _ => None,
    }
}
