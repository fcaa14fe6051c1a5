use std::cell::RefCell;
use std::rc::Rc;
use whippet::prelude::*;

#[derive(Clone, Debug)]
struct Logger {
    log: Rc<RefCell<Vec<u8>>>,
}

impl Actor for Logger {
    type Msg = u8;

    async fn handle(&mut self, n: u8, _cx: &mut Cx<Self>) {
        self.log.borrow_mut().push(n);
    }
}

fn body(sys: &mut System) {
    let log = Rc::new(RefCell::new(Vec::new()));
    sys.spawn_fn(async move |_inbox: &mut Inbox<u8>| log.borrow_mut().push(1));
}

fn main() {}
