//! Creatures that meet in pairs (the chameneos-redux benchmark).
//!
//! A broker pairs the first two creatures that ask, until the given number of meetings is reached, and then stops
//! every creature that asks. When two creatures meet, they keep their colour if both have the same one; otherwise
//! both take the third colour. Then they ask again immediately.

use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "chameneos",
    about: "three creatures that meet through a broker and change colour",
    parameters: &[Parameter::new("meetings", "2", Values::Number(0, 8), "number of meetings")],
    reconstructed: None,
    body: |settings| {
        let meetings = settings.number("meetings");
        body(move |sys| {
            let broker = sys.spawn(Broker { meetings: 0, waiting: None });
            sys.send(broker, BrokerMsg::Boot(meetings));
        })
    },
};

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum Colour {
    Blue,
    Red,
    Yellow,
}

use Colour::{Blue, Red, Yellow};

impl Colour {
    fn meets(self, other: Colour) -> Colour {
        match (self, other) {
            _ if self == other => self,
            (Blue, Red) | (Red, Blue) => Yellow,
            (Blue, Yellow) | (Yellow, Blue) => Red,
            _ => Blue,
        }
    }
}

#[derive(Clone, Debug, Hash)]
struct Broker {
    meetings: usize,
    waiting: Option<(Addr<Chameneos>, Colour)>,
}

#[derive(Clone, Debug, Hash)]
enum BrokerMsg {
    Boot(usize),
    Hook(Addr<Chameneos>, Colour),
}

impl Actor for Broker {
    type Msg = BrokerMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: BrokerMsg, cx: &mut Cx<Self>) {
        match msg {
            BrokerMsg::Boot(meetings) => {
                self.meetings = meetings;
                for colour in [Blue, Red, Yellow] {
                    let chameneos = cx.spawn(Chameneos { broker: cx.this(), colour, home: false });
                    cx.send(chameneos, ChameneosMsg::Start);
                }
            }
            BrokerMsg::Hook(one, _) if self.meetings == 0 => cx.send(one, ChameneosMsg::Stop),
            BrokerMsg::Hook(one, colour) => match self.waiting.take() {
                None => self.waiting = Some((one, colour)),
                Some((other, its)) => {
                    self.meetings -= 1;
                    cx.send(other, ChameneosMsg::Hook(colour));
                    cx.send(one, ChameneosMsg::Hook(its));
                }
            },
        }
    }
}

#[derive(Clone, Debug, Hash)]
struct Chameneos {
    broker: Addr<Broker>,
    colour: Colour,
    home: bool,
}

#[derive(Clone, Debug, Hash)]
enum ChameneosMsg {
    Start,
    Hook(Colour),
    Stop,
}

impl Actor for Chameneos {
    type Msg = ChameneosMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: ChameneosMsg, cx: &mut Cx<Self>) {
        match msg {
            ChameneosMsg::Start => {}
            ChameneosMsg::Hook(other) => self.colour = self.colour.meets(other),
            ChameneosMsg::Stop => {
                self.home = true;
                return;
            }
        }
        cx.send(self.broker, BrokerMsg::Hook(cx.this(), self.colour));
    }
}
