//! Which handles operations need, and which tasks hold them.

use crate::program::{Leaf, Object, ObjectId, Op, Program, TaskId};

/// The side of a channel that an operation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Sender(ObjectId),
    WeakSender(ObjectId),
    Receiver(ObjectId),
}

/// A node of an operation's tree.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    Op(&'a Op),
    Leaf(&'a Leaf),
}

impl Leaf {
    /// Returns the channel handle it needs itself, without what it contains.
    pub fn side(&self) -> Option<Side> {
        match *self {
            Leaf::Recv(object)
            | Leaf::RecvMany(object, _)
            | Leaf::Answer(object)
            | Leaf::Heard(object)
            | Leaf::Changed(object) => Some(Side::Receiver(object)),
            Leaf::Send(object)
            | Leaf::ReserveSend(object)
            | Leaf::Reserve(object)
            | Leaf::SendTimeout(object, _)
            | Leaf::Closed(object) => Some(Side::Sender(object)),
            _ => None,
        }
    }

    /// Returns the object that it names itself.
    pub fn object(&self) -> Option<ObjectId> {
        match *self {
            Leaf::Notified(object)
            | Leaf::Armed(object)
            | Leaf::Acquire(object, _)
            | Leaf::Lock(object)
            | Leaf::Read(object)
            | Leaf::Write(object)
            | Leaf::GetOrInit(object)
            | Leaf::WaitSet(object)
            | Leaf::BarrierWait(object) => Some(object),
            _ => match self.side()? {
                Side::Sender(object) | Side::WeakSender(object) | Side::Receiver(object) => Some(object),
            },
        }
    }

    /// Visits it and everything below it in preorder.
    pub fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Node<'a>)) {
        visitor(Node::Leaf(self));
        match self {
            Leaf::Now(op) => op.visit(visitor),
            Leaf::Then(op, leaf) => {
                op.visit(visitor);
                leaf.visit(visitor);
            }
            Leaf::Within(_, leaf) => leaf.visit(visitor),
            _ => {}
        }
    }

    /// Tells if it can be applied to the object that it names.
    pub fn fits(&self, objects: &[Object]) -> bool {
        let Some(object) = self.object() else { return true };
        let Some(object) = objects.get(object) else { return false };
        match self {
            Leaf::Recv(_) | Leaf::RecvMany(..) => matches!(object, Object::Mpsc { .. }),
            Leaf::Send(_) | Leaf::ReserveSend(_) | Leaf::Reserve(_) | Leaf::SendTimeout(..) => is_bounded(object),
            Leaf::Closed(_) => matches!(object, Object::Mpsc { .. } | Object::Oneshot | Object::Watch),
            Leaf::Answer(_) => matches!(object, Object::Oneshot),
            Leaf::Heard(_) => matches!(object, Object::Broadcast { .. }),
            Leaf::Changed(_) => matches!(object, Object::Watch),
            Leaf::Notified(_) | Leaf::Armed(_) => matches!(object, Object::Notify),
            Leaf::Acquire(..) => matches!(object, Object::Semaphore { .. }),
            Leaf::Lock(_) => matches!(object, Object::Mutex),
            Leaf::Read(_) | Leaf::Write(_) => matches!(object, Object::RwLock),
            Leaf::GetOrInit(_) => matches!(object, Object::OnceCell),
            Leaf::WaitSet(_) => matches!(object, Object::SetOnce),
            Leaf::BarrierWait(_) => matches!(object, Object::Barrier { .. }),
            _ => true,
        }
    }
}

impl Op {
    /// Tells if it can wait, so that it cannot be part of a leaf.
    pub fn waits(&self) -> bool {
        matches!(self, Op::Await(_) | Op::Select { .. } | Op::JoinAll(_))
    }

    /// Returns the channel handle it needs itself.
    pub fn side(&self) -> Option<Side> {
        match *self {
            Op::SendNow(object)
            | Op::TrySend(object)
            | Op::SendPermit(object)
            | Op::DropSender(object)
            | Op::Capacity(object)
            | Op::IsClosed(object)
            | Op::Reply(object)
            | Op::Broadcast(object)
            | Op::Publish(object) => Some(Side::Sender(object)),
            Op::WeakSend(object) => Some(Side::WeakSender(object)),
            Op::TryRecv(object)
            | Op::Close(object)
            | Op::DropReceiver(object)
            | Op::Len(object)
            | Op::TryHear(object)
            | Op::HasChanged(object)
            | Op::Borrow(object) => Some(Side::Receiver(object)),
            _ => None,
        }
    }

    /// Returns the object that it names itself.
    pub fn object(&self) -> Option<ObjectId> {
        match *self {
            Op::NotifyOne(object)
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
            _ => match self.side()? {
                Side::Sender(object) | Side::WeakSender(object) | Side::Receiver(object) => Some(object),
            },
        }
    }

    /// Returns the task that it names.
    pub fn task(&self) -> Option<TaskId> {
        match *self {
            Op::Spawn(task) | Op::SpawnIn(task) | Op::Abort(task) | Op::IsFinished(task) => Some(task),
            _ => None,
        }
    }

    /// Returns the leaves it awaits.
    pub fn leaves(&self) -> &[Leaf] {
        match self {
            Op::Await(leaf) => std::slice::from_ref(leaf),
            Op::Select { branches, .. } | Op::JoinAll(branches) => branches,
            _ => &[],
        }
    }

    /// Visits it and everything below it in preorder.
    pub fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Node<'a>)) {
        visitor(Node::Op(self));
        for leaf in self.leaves() {
            leaf.visit(visitor);
        }
    }

    /// Tells if it can be applied to the object that it names.
    pub fn fits(&self, objects: &[Object]) -> bool {
        use Object::{Mpsc, OnceCell, Oneshot, RwLock, Semaphore, SetOnce, Watch};
        let Some(object) = self.object() else { return true };
        let Some(object) = objects.get(object) else { return false };
        match self {
            Op::SendNow(_) => matches!(object, Mpsc { capacity: None }),
            Op::TrySend(_) | Op::SendPermit(_) | Op::Capacity(_) => is_bounded(object),
            Op::WeakSend(_) => matches!(object, Mpsc { .. }),
            Op::TryRecv(_) | Op::Close(_) => matches!(object, Mpsc { .. } | Oneshot),
            Op::DropReceiver(_) | Op::DropSender(_) => is_channel(object),
            Op::IsClosed(_) => matches!(object, Mpsc { .. } | Oneshot | Watch),
            Op::Len(_) => matches!(object, Mpsc { .. } | Object::Broadcast { .. }),
            Op::Reply(_) => matches!(object, Oneshot),
            Op::Broadcast(_) | Op::TryHear(_) => matches!(object, Object::Broadcast { .. }),
            Op::Publish(_) | Op::HasChanged(_) | Op::Borrow(_) => matches!(object, Watch),
            Op::NotifyOne(_) | Op::NotifyWaiters(_) | Op::Arm { .. } => matches!(object, Object::Notify),
            Op::TryLock(_) => matches!(object, Object::Mutex),
            Op::TryRead(_) | Op::TryWrite(_) => matches!(object, RwLock),
            Op::Release(_) => is_bounded(object) || matches!(object, Semaphore { .. } | Object::Mutex | RwLock),
            Op::Get(_) | Op::Set(_) => matches!(object, OnceCell | SetOnce),
            _ => matches!(object, Semaphore { .. }),
        }
    }
}

fn is_bounded(object: &Object) -> bool {
    matches!(object, Object::Mpsc { capacity: Some(_) })
}

fn is_channel(object: &Object) -> bool {
    matches!(object, Object::Mpsc { .. } | Object::Oneshot | Object::Broadcast { .. } | Object::Watch)
}

impl Program {
    /// Tells if the task holds this handle before the first task runs.
    pub fn holds(&self, task: TaskId, side: Side) -> bool {
        match side {
            Side::WeakSender(_) => self.needs(task, side),
            Side::Sender(object) if self.objects[object] != Object::Oneshot => self.needs(task, side),
            Side::Receiver(object) if matches!(self.objects[object], Object::Broadcast { .. } | Object::Watch) => {
                self.needs(task, side)
            }
            Side::Sender(_) | Side::Receiver(_) => {
                (0..self.tasks.len()).find(|&task| self.needs(task, side)) == Some(task)
            }
        }
    }

    /// Tells if an operation spawns the task.
    pub fn is_spawned_by_operation(&self, task: TaskId) -> bool {
        self.any_node(|node| matches!(node, Node::Op(Op::Spawn(other) | Op::SpawnIn(other)) if *other == task))
    }

    /// Tells if a node of any task satisfies the condition.
    pub fn any_node(&self, condition: impl Fn(Node<'_>) -> bool) -> bool {
        self.tasks.iter().any(|ops| any_node(ops, &condition))
    }

    fn needs(&self, task: TaskId, side: Side) -> bool {
        any_node(&self.tasks[task], &|node| match node {
            Node::Op(op) => op.side() == Some(side) && op.fits(&self.objects),
            Node::Leaf(leaf) => leaf.side() == Some(side) && leaf.fits(&self.objects),
        })
    }
}

fn any_node(ops: &[Op], condition: &impl Fn(Node<'_>) -> bool) -> bool {
    let mut found = false;
    for op in ops {
        op.visit(&mut |node| found |= condition(node));
    }
    found
}
