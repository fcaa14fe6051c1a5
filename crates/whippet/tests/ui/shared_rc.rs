//! Actors share nothing but messages: an `Rc` would be memory that Whippet does not see.

use std::cell::RefCell;
use std::rc::Rc;
use whippet::prelude::*;

#[derive(Clone, Debug)]
struct Bidder {
    highest: Rc<RefCell<u32>>,
}

impl Actor for Bidder {
    type Msg = u32;
    async fn handle(&mut self, bid: u32, _cx: &mut Cx<Self>) {
        *self.highest.borrow_mut() = bid;
    }
}

fn main() {}
