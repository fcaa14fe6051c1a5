//! Minesweeper, in which cells that are opened at the same time wait for each other (the TransDPOR paper's
//! `minesweeper` in Scala, which deadlocks).
//!
//! Every cell of the board is an actor. When opened, a cell asks its neighbours, one call after the other, whether
//! they are mines; until it has finished, it does not answer such questions itself. The player opens all safe cells
//! at once, so two neighbours can wait for each other and deadlock.
//!
//! The source of the original is not public: only its name, its language and the fact that it deadlocks are known.

use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "minesweeper",
    about: "cells of a board that ask each other while they are opened, and can deadlock",
    parameters: &[
        Parameter::new("width", "2", Values::Number(1, 4), "number of columns"),
        Parameter::new("height", "2", Values::Number(1, 4), "number of rows; the last cell is the mine"),
    ],
    reconstructed: Some("from its name, its language and that it deadlocks"),
    body: |settings| {
        let board = Board { width: settings.number("width"), height: settings.number("height") };
        body(move |sys| play(sys, board))
    },
};

#[derive(Copy, Clone, Debug)]
struct Board {
    width: usize,
    height: usize,
}

impl Board {
    fn cells(self) -> usize {
        self.width * self.height
    }

    fn neighbours(self, cell: usize) -> impl Iterator<Item = usize> {
        let (x, y) = (cell % self.width, cell / self.width);
        (0..self.cells()).filter(move |&other| {
            other != cell && x.abs_diff(other % self.width) <= 1 && y.abs_diff(other / self.width) <= 1
        })
    }
}

#[derive(Clone, Debug)]
enum CellMsg {
    Neighbours(Vec<Recipient<CellMsg>>),
    Open,
    IsMine(Reply<bool>),
}

async fn cell(inbox: &mut Inbox<CellMsg>, mine: bool) {
    let neighbours = receive!(inbox, CellMsg::Neighbours(neighbours) => neighbours);
    let mut around = 0;
    loop {
        match inbox.receive().await {
            CellMsg::Open => {
                assert!(!mine, "the player stepped on a mine");
                for &neighbour in &neighbours {
                    around += u32::from(inbox.call(neighbour, CellMsg::IsMine).await);
                }
                assert!(around <= 1, "there is only one mine");
            }
            CellMsg::IsMine(reply) => inbox.reply(reply, mine),
            CellMsg::Neighbours(_) => unreachable!("cells are introduced once"),
        }
    }
}

fn play(sys: &mut System, board: Board) {
    let last = board.cells() - 1;
    let new = |k: usize| async move |inbox: &mut Inbox<CellMsg>| cell(inbox, k == last).await;
    let cells: Vec<_> = (0..=last).map(|k| sys.spawn_fn_named("cell", new(k))).collect();
    for (k, &cell) in cells.iter().enumerate() {
        sys.send(cell, CellMsg::Neighbours(board.neighbours(k).map(|other| cells[other]).collect()));
    }
    sys.finish_setup();
    for &cell in &cells[..last] {
        sys.send(cell, CellMsg::Open);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_touch_at_edges_and_corners() {
        let board = Board { width: 3, height: 2 };
        assert_eq!(board.neighbours(0).collect::<Vec<_>>(), [1, 3, 4]);
        assert_eq!(board.neighbours(4).collect::<Vec<_>>(), [0, 1, 2, 3, 5]);
    }
}
