use whippet::prelude::*;

#[whippet::test(order_of_delivery = Delivery::Fifo)]
fn a(_sys: &mut System) {}

#[whippet::test(delivery)]
fn b(_sys: &mut System) {}

#[whippet::test]
fn c() {}

#[whippet::test]
async fn d(_sys: &mut System) {}

fn main() {}
