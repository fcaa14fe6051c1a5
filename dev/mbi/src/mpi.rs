//! The calls of MPI, as operations of a rank.

use crate::memory::{ANY, Datatype, Memory, NO_RANK, Value};
use crate::parser::Expr;
use std::fmt::Debug;
use whippet_net::mpi::{PROC_NULL, Persistent, Rank, Received, Request, Source, Tag};

/// A place in memory: a block and an offset.
type Place = (usize, usize);

type Done<T> = Result<T, String>;

/// A type of elements.
trait Number: Copy + Debug + 'static {
    fn from(value: i64) -> Self;
    fn into(self) -> i64;
}

impl Number for i32 {
    fn from(value: i64) -> i32 {
        value as i32
    }

    fn into(self) -> i64 {
        i64::from(self)
    }
}

impl Number for f32 {
    fn from(value: i64) -> f32 {
        value as f32
    }

    fn into(self) -> i64 {
        self as i64
    }
}

/// A request, with the place for the message of a receive.
#[derive(Clone, Debug)]
pub(crate) enum AnyRequest {
    Int(Request<Vec<i32>>, Option<Place>),
    Float(Request<Vec<f32>>, Option<Place>),
}

/// A persistent request.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    sends: bool,
    buffer: Buffer,
    peer: i64,
    tag: i64,
    rank: Rank<Vec<i32>>,
    /// The request that was started.
    pub(crate) started: Option<AnyRequest>,
}

/// A buffer of a message.
#[derive(Copy, Clone, Debug)]
struct Buffer {
    place: Place,
    count: usize,
    datatype: Datatype,
}

/// The operators, as functions with names.
fn sum<T>(a: T, _: T) -> T {
    a
}

fn max<T>(a: T, _: T) -> T {
    a
}

fn min<T>(a: T, _: T) -> T {
    a
}

macro_rules! with_operator {
    ($name:expr, $operator:ident => $call:expr) => {
        match $name {
            "sum" => {
                let $operator = sum;
                $call
            }
            "max" => {
                let $operator = max;
                $call
            }
            _ => {
                let $operator = min;
                $call
            }
        }
    };
}

/// Calls a generic function with the type of the elements, and returns the request.
macro_rules! by_type {
    ($datatype:expr, $rank:expr, $target:expr, |$typed:ident| $call:expr) => {
        match $datatype {
            Datatype::Int => {
                let $typed = $rank.typed::<Vec<i32>>();
                $call.map(|request| AnyRequest::Int(request, $target))
            }
            Datatype::Float => {
                let $typed = $rank.typed::<Vec<f32>>();
                $call.map(|request| AnyRequest::Float(request, $target))
            }
        }
    };
}

fn source(peer: i64) -> Source {
    match peer {
        ANY => Source::Any,
        NO_RANK => Source::Null,
        rank => Source::Rank(rank as usize),
    }
}

fn tag_of(tag: i64) -> Done<Tag> {
    if tag == ANY {
        return Ok(Tag::Any);
    }
    u32::try_from(tag).map(Tag::Is).map_err(|_| "not expressible: a negative tag".into())
}

fn destination(peer: i64) -> usize {
    if peer == NO_RANK { PROC_NULL } else { peer as usize }
}

/// The arguments of a call.
struct Call<'a> {
    name: &'a str,
    arguments: &'a [Expr],
    memory: &'a mut Memory,
}

impl Call<'_> {
    fn value(&mut self, k: usize) -> Done<Value> {
        self.memory.value(&self.arguments[k])
    }

    fn number(&mut self, k: usize) -> Done<i64> {
        self.memory.number(&self.arguments[k])
    }

    fn place(&mut self, k: usize) -> Done<Place> {
        match self.value(k)? {
            Value::Pointer(block, offset) => Ok((block, offset)),
            _ => Err("not expressible: a null buffer".into()),
        }
    }

    fn buffer(&mut self, k: usize) -> Done<Buffer> {
        let count = usize::try_from(self.number(k + 1)?).map_err(|_| "not expressible: a negative count")?;
        let Value::Datatype(datatype) = self.value(k + 2)? else {
            return Err("not expressible: a null datatype".into());
        };
        Ok(Buffer { place: self.place(k)?, count, datatype })
    }

    fn rank(&mut self, k: usize) -> Done<Rank<Vec<i32>>> {
        match self.value(k)? {
            Value::Communicator(rank) => Ok(rank),
            _ => Err("not expressible: a null communicator".into()),
        }
    }

    fn operator(&mut self, k: usize) -> Done<&'static str> {
        match self.value(k)? {
            Value::Operator(name) => Ok(name),
            _ => Err("not expressible: a null operator".into()),
        }
    }

    fn values<V: Number>(&self, buffer: Buffer) -> Vec<V> {
        self.memory.elements(buffer.place, buffer.count).into_iter().map(V::from).collect()
    }

    /// Starts a send of the mode that the name of the call has.
    async fn start_send<V: Number>(
        &self,
        rank: &Rank<Vec<V>>,
        buffer: Buffer,
        peer: i64,
        tag: i64,
    ) -> Done<Request<Vec<V>>> {
        let (to, values) = (destination(peer), self.values(buffer));
        let Tag::Is(tag) = tag_of(tag)? else { return Err("not expressible: a send with any tag".into()) };
        Ok(match self.name {
            "MPI_Ssend" | "MPI_Issend" => rank.issend(to, tag, values).await,
            "MPI_Bsend" | "MPI_Ibsend" => rank.ibsend(to, tag, values).await,
            "MPI_Rsend" | "MPI_Irsend" => rank.irsend(to, tag, values).await,
            _ => rank.isend(to, tag, values).await,
        })
    }

    async fn send(&mut self) -> Done<AnyRequest> {
        let (buffer, peer, tag, rank) = (self.buffer(0)?, self.number(3)?, self.number(4)?, self.rank(5)?);
        by_type!(buffer.datatype, rank, None, |rank| self.start_send(&rank, buffer, peer, tag).await)
    }

    async fn receive(&mut self) -> Done<AnyRequest> {
        let (buffer, peer, tag, rank) = (self.buffer(0)?, self.number(3)?, self.number(4)?, self.rank(5)?);
        let tag = tag_of(tag)?;
        by_type!(buffer.datatype, rank, Some(buffer.place), |rank| Done::Ok(rank.irecv(source(peer), tag).await))
    }

    async fn sendrecv(&mut self) -> Done<()> {
        let (out, to, send_tag) = (self.buffer(0)?, self.number(3)?, self.number(4)?);
        let (into, from, tag) = (self.buffer(5)?, self.number(8)?, tag_of(self.number(9)?)?);
        let rank = self.rank(10)?;
        let receive = by_type!(into.datatype, rank, Some(into.place), |r| Done::Ok(r.irecv(source(from), tag).await))?;
        let send = by_type!(out.datatype, rank, None, |r| self.start_send(&r, out, to, send_tag).await)?;
        complete(self.memory, &rank, &send).await?;
        complete(self.memory, &rank, &receive).await
    }

    fn prepare(&mut self) -> Done<()> {
        let prepared = Prepared {
            sends: self.name == "MPI_Send_init",
            buffer: self.buffer(0)?,
            peer: self.number(3)?,
            tag: self.number(4)?,
            rank: self.rank(5)?,
            started: None,
        };
        let place = self.place(6)?;
        self.memory.write(place, Value::Prepared(Box::new(prepared)))
    }

    async fn start(&mut self) -> Done<()> {
        let place = self.place(0)?;
        let Value::Prepared(mut prepared) = self.memory.read(place)? else {
            return Err("not expressible: the start of a request that is not persistent".into());
        };
        let Prepared { sends, buffer, peer, tag, rank, .. } = &*prepared;
        let target = (!sends).then_some(buffer.place);
        let started = by_type!(buffer.datatype, rank, target, |rank| {
            self.start_persistent(&rank, *sends, *buffer, *peer, *tag).await
        })?;
        prepared.started = Some(started);
        self.memory.write(place, Value::Prepared(prepared))
    }

    async fn start_persistent<V: Number>(
        &self,
        rank: &Rank<Vec<V>>,
        sends: bool,
        buffer: Buffer,
        peer: i64,
        tag: i64,
    ) -> Done<Request<Vec<V>>> {
        let persistent = match (sends, tag_of(tag)?) {
            (true, Tag::Is(tag)) => Persistent::send(destination(peer), tag, self.values(buffer)),
            (true, Tag::Any) => return Err("not expressible: a send with any tag".into()),
            (false, tag) => Persistent::receive(source(peer), tag),
        };
        Ok(persistent.start(rank).await)
    }

    /// Performs a collective operation, and returns its request if it does not wait.
    async fn collective(&mut self) -> Done<Option<AnyRequest>> {
        let plain = self.name.trim_start_matches("MPI_");
        let waits = !plain.starts_with('I');
        let operation = plain.trim_start_matches('I').to_lowercase();
        if operation == "barrier" {
            let rank = self.rank(0)?;
            if waits {
                rank.barrier().await;
                return Ok(None);
            }
            return Ok(Some(AnyRequest::Int(rank.ibarrier().await, None)));
        }
        // The arguments: the buffer, the root, the operator, the communicator.
        let (send, root, operator, communicator) = match operation.as_str() {
            "bcast" => (self.buffer(0)?, Some(3), None, 4),
            "reduce" => (self.reduced()?, Some(5), Some(4), 6),
            "allreduce" | "scan" | "exscan" => (self.reduced()?, None, Some(4), 5),
            "gather" | "scatter" => (self.buffer(0)?, Some(6), None, 7),
            "allgather" | "alltoall" => (self.buffer(0)?, None, None, 6),
            "allgatherv" => (self.buffer(0)?, None, None, 7),
            "alltoallv" => (self.displaced()?, None, None, 8),
            other => return Err(format!("not supported: {other}")),
        };
        let root = root.map_or(Ok(0), |k| self.number(k))? as usize;
        let operator = operator.map_or(Ok(""), |k| self.operator(k))?;
        let rank = self.rank(communicator)?;
        let request = by_type!(send.datatype, rank, None, |rank| {
            Done::Ok(collective(&rank, &operation, waits, root, operator, self.values(send)).await)
        });
        // The blocking forms are other operations than the forms that do not wait, and have ended here.
        Ok(request.ok().filter(|_| !waits))
    }

    /// Returns the buffer of a reduction, whose arguments are: the buffers, the count, the datatype.
    fn reduced(&mut self) -> Done<Buffer> {
        let Value::Datatype(datatype) = self.value(3)? else { return Err("not expressible: a null datatype".into()) };
        Ok(Buffer { place: self.place(0)?, count: self.number(2)? as usize, datatype })
    }

    /// Returns the buffer of an exchange with varying counts.
    fn displaced(&mut self) -> Done<Buffer> {
        let Value::Datatype(datatype) = self.value(3)? else { return Err("not expressible: a null datatype".into()) };
        Ok(Buffer { place: self.place(0)?, count: 1, datatype })
    }

    async fn split(&mut self) -> Done<()> {
        let (rank, colour, key, place) = (self.rank(0)?, self.number(1)?, self.number(2)?, self.place(3)?);
        let colour = u32::try_from(colour).map_err(|_| "not expressible: a negative colour")?;
        let part = rank.split(Some(colour), key).await;
        self.memory.write(place, part.map_or(Value::Null, Value::Communicator))
    }

    async fn wait(&mut self) -> Done<()> {
        let place = self.place(0)?;
        match self.memory.read(place)? {
            Value::Request(request) => {
                wait_for(self.memory, &request).await?;
                self.memory.write(place, Value::Null)
            }
            Value::Prepared(mut prepared) => {
                let Some(started) = prepared.started.take() else {
                    return Err("not expressible: a wait for a persistent request that was not started".into());
                };
                wait_for(self.memory, &started).await?;
                self.memory.write(place, Value::Prepared(prepared))
            }
            _ => Ok(()),
        }
    }
}

/// The world, through which requests are waited for: any communicator will do.
fn world_of(memory: &mut Memory) -> Done<Rank<Vec<i32>>> {
    match memory.value(&Expr::Name("MPI_COMM_WORLD".into()))? {
        Value::Communicator(rank) => Ok(rank),
        _ => Err("the world is missing".into()),
    }
}

async fn wait_for(memory: &mut Memory, request: &AnyRequest) -> Done<()> {
    let rank = world_of(memory)?;
    complete(memory, &rank, request).await
}

/// Waits for a request and stores the message of a receive.
async fn complete(memory: &mut Memory, rank: &Rank<Vec<i32>>, request: &AnyRequest) -> Done<()> {
    let (target, values) = match request {
        AnyRequest::Int(request, target) => (target, numbers(rank.wait(request).await)),
        AnyRequest::Float(request, target) => (target, numbers(rank.typed().wait(request).await)),
    };
    if let Some((block, offset)) = *target {
        for (k, value) in values.into_iter().enumerate() {
            memory.write((block, offset + k), Value::Int(value))?;
        }
    }
    Ok(())
}

fn numbers<V: Number>(received: Option<Received<Vec<V>>>) -> Vec<i64> {
    received.map_or(Vec::new(), |received| received.value.into_iter().map(V::into).collect())
}

/// Performs a collective operation. Returns a request that is complete if the operation waits.
async fn collective<V: Number>(
    rank: &Rank<Vec<V>>,
    operation: &str,
    waits: bool,
    root: usize,
    operator: &'static str,
    value: Vec<V>,
) -> Request<Vec<V>> {
    let all = || vec![value.clone(); rank.size()];
    let at_root = || (rank.rank() == root).then(all);
    let value = value.clone();
    if waits {
        match operation {
            "bcast" => drop(rank.bcast(root, value).await),
            "reduce" => with_operator!(operator, f => drop(rank.reduce(root, value, f).await)),
            "allreduce" => with_operator!(operator, f => drop(rank.allreduce(value, f).await)),
            "scan" => with_operator!(operator, f => drop(rank.scan(value, f).await)),
            "exscan" => with_operator!(operator, f => drop(rank.exscan(value, f).await)),
            "gather" => drop(rank.gather(root, value).await),
            "scatter" => drop(rank.scatter(root, at_root()).await),
            "alltoall" | "alltoallv" => drop(rank.alltoall(all()).await),
            _ => drop(rank.allgather(value).await),
        }
        return rank.irecv(PROC_NULL, Tag::Any).await;
    }
    match operation {
        "bcast" => rank.ibcast(root, value).await,
        "reduce" => with_operator!(operator, f => rank.ireduce(root, value, f).await),
        "allreduce" => with_operator!(operator, f => rank.iallreduce(value, f).await),
        "scan" => with_operator!(operator, f => rank.iscan(value, f).await),
        "exscan" => with_operator!(operator, f => rank.iexscan(value, f).await),
        "gather" => rank.igather(root, value).await,
        "scatter" => rank.iscatter(root, at_root()).await,
        "alltoall" | "alltoallv" => rank.ialltoall(all()).await,
        _ => rank.iallgather(value).await,
    }
}

/// Performs a call of MPI.
pub(crate) async fn call(memory: &mut Memory, name: &str, arguments: &[Expr]) -> Done<()> {
    let mut call = Call { name, arguments, memory };
    match name {
        "MPI_Init" | "MPI_Finalize" | "MPI_Comm_free" | "MPI_Request_free" | "MPI_Buffer_attach"
        | "MPI_Buffer_detach" => Ok(()),
        "MPI_Comm_size" | "MPI_Comm_rank" => {
            let (rank, place) = (call.rank(0)?, call.place(1)?);
            let value = if name == "MPI_Comm_size" { rank.size() } else { rank.rank() };
            call.memory.write(place, Value::Int(value as i64))
        }
        "MPI_Comm_split" => call.split().await,
        "MPI_Comm_dup" => {
            let (rank, place) = (call.rank(0)?, call.place(1)?);
            let copy = rank.dup().await;
            call.memory.write(place, Value::Communicator(copy))
        }
        "MPI_Send" | "MPI_Ssend" | "MPI_Bsend" | "MPI_Rsend" => {
            let request = call.send().await?;
            wait_for(call.memory, &request).await
        }
        "MPI_Recv" => {
            let request = call.receive().await?;
            wait_for(call.memory, &request).await
        }
        "MPI_Isend" | "MPI_Issend" | "MPI_Ibsend" | "MPI_Irsend" => {
            let (request, place) = (call.send().await?, call.place(6)?);
            call.memory.write(place, Value::Request(request))
        }
        "MPI_Irecv" => {
            let (request, place) = (call.receive().await?, call.place(6)?);
            call.memory.write(place, Value::Request(request))
        }
        "MPI_Sendrecv" => call.sendrecv().await,
        "MPI_Send_init" | "MPI_Recv_init" => call.prepare(),
        "MPI_Start" => call.start().await,
        "MPI_Wait" => call.wait().await,
        "MPI_Probe" => {
            let (peer, tag, rank) = (call.number(0)?, tag_of(call.number(1)?)?, call.rank(2)?);
            rank.probe(source(peer), tag).await;
            Ok(())
        }
        _ if name.starts_with("MPI_Win") || name == "MPI_Get" || name == "MPI_Put" => {
            Err("not modelled: one-sided communication".into())
        }
        _ if name.starts_with("MPI_Type") => Err("not expressible: derived datatypes".into()),
        _ if name.starts_with("MPI_Group") || name == "MPI_Comm_group" || name == "MPI_Op_create" => {
            Err("not expressible: groups and operators that are freed".into())
        }
        _ if name.starts_with("MPI_Cart") => Err("not modelled: topologies".into()),
        _ => {
            let request = call.collective().await?;
            if let Some(request) = request {
                let place = call.place(arguments.len() - 1)?;
                call.memory.write(place, Value::Request(request))?;
            }
            Ok(())
        }
    }
}
