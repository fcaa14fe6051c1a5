//! Shortest paths from one node of a graph to all others (Chandy and Misra's algorithm).
//!
//! A node that receives a path shorter than the best one it knows stores its length and informs its neighbours, in
//! the order in which they were introduced.
//!
//! Set-up: the driver introduces the neighbours by calls. Scala: it does so by messages.

use super::driver::introduce;
use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "shortpath",
    about: "nodes of a graph find the shortest paths from one of them",
    parameters: &[
        Parameter::new(
            "graph",
            "A",
            Values::Checked(|text| Graph::parse(text).map(|_| ())),
            "A, B, triangle, complete, 1 to 8, or edges like `0>1:10 1-2`: directed or both ways, with weight 10 by default; starts at node 0",
        ),
        VARIANT,
    ],
    reconstructed: None,
    body: |settings| {
        let graph = Graph::parse(settings.text("graph")).expect("checked when it was set");
        if settings.is_scala() { body(move |sys| scala(sys, &graph)) } else { body(move |sys| foundry(sys, &graph)) }
    },
};

/// The graphs of the papers: name, number of nodes, start node, edges. The numbered ones are eight further graphs
/// that the dissertation says it tried.
const NAMED: &[(&str, usize, usize, &str)] = &[
    ("A", 5, 0, "0>1 0>2 0>3 1>3 2>3 3>1 3>2"),
    ("B", 5, 4, "0>1 0>2 0>4 1>0 1>3 1>4 2>0 3>1 4>0 4>1"),
    ("triangle", 3, 0, "0>1:3 0>2:10 1>0:3 1>2:6 2>0:10 2>1:6"),
    ("complete", 5, 0, "0>1 0>2 1>0 1>2 2>0 2>1"),
    ("1", 5, 0, "0>1 0>2 0>3 1>2 2>1 2>3 3>2"),
    ("2", 5, 0, "0>1 0>2 0>3 1>2 2>3"),
    ("3", 5, 0, "0>1 0>2 1>0 1>3 1>4 2>0 3>1 4>1"),
    ("4", 5, 0, "0>1 0>2 1>2 1>3 2>3 2>0 3>0 3>1"),
    ("5", 5, 0, "0>1 1>0 1>2 2>1 2>3 3>2"),
    ("6", 5, 0, "0>1 0>3 1>0 1>2 2>1 2>3 3>2 3>0"),
    ("7", 5, 0, "0>1 1>2 1>3 2>1 3>1"),
    ("8", 5, 0, "0>1 0>2 0>3 1>2 1>3 2>1 2>3 3>2 3>1"),
];

/// The default weight of an edge.
const WEIGHT: u32 = 10;
/// The maximal number of nodes of a graph.
const MOST_NODES: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Graph {
    nodes: usize,
    start: usize,
    /// The edges, as (from, to, weight).
    edges: Vec<(usize, usize, u32)>,
}

impl Graph {
    fn parse(text: &str) -> Result<Graph, String> {
        if let Some((_, nodes, start, edges)) = NAMED.iter().find(|(name, ..)| *name == text) {
            return Ok(Graph { nodes: *nodes, start: *start, ..Graph::of_edges(edges)? });
        }
        Graph::of_edges(text).map_err(|why| {
            let names = NAMED.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
            format!("{why}; known graphs are {names}, and edges are written like `0>1:10 1-2`")
        })
    }

    fn of_edges(text: &str) -> Result<Graph, String> {
        let mut graph = Graph { nodes: 0, start: 0, edges: Vec::new() };
        for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
            let (ends, weight) = word.split_once(':').unwrap_or((word, ""));
            let wrong = || format!("`{word}` is not an edge");
            let weight = if weight.is_empty() { WEIGHT } else { weight.parse().map_err(|_| wrong())? };
            let (from, to) = ends.split_once(['>', '-']).ok_or_else(wrong)?;
            let number = |end: &str| end.parse::<usize>().ok().filter(|&n| n < MOST_NODES).ok_or_else(wrong);
            let (from, to) = (number(from)?, number(to)?);
            graph.edges.push((from, to, weight));
            if ends.contains('-') {
                graph.edges.push((to, from, weight));
            }
            graph.nodes = graph.nodes.max(from + 1).max(to + 1);
        }
        if graph.edges.is_empty() { Err("the graph has no edges".into()) } else { Ok(graph) }
    }
}

/// Returns the length of the path if it is shorter than the known distance.
fn shorter(known: Option<u32>, way: Way) -> Option<u32> {
    let length = way.so_far + way.edge;
    known.is_none_or(|known| length < known).then_some(length)
}

/// A path to the receiver: its length without the last edge, and the weight of that edge.
#[derive(Copy, Clone, Debug, Hash)]
struct Way {
    so_far: u32,
    edge: u32,
}

const NO_WAY: Way = Way { so_far: 0, edge: 0 };

#[derive(Clone, Debug, Default, Hash)]
struct Node {
    distance: Option<u32>,
    neighbours: Vec<(Addr<Node>, u32)>,
}

#[derive(Clone, Debug, Hash)]
enum NodeMsg {
    Neighbour(Addr<Node>, u32, Option<Reply<()>>),
    Receive(Way),
}

impl Actor for Node {
    type Msg = NodeMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: NodeMsg, cx: &mut Cx<Self>) {
        match msg {
            NodeMsg::Neighbour(node, weight, reply) => {
                self.neighbours.push((node, weight));
                if let Some(reply) = reply {
                    cx.reply(reply, ());
                }
            }
            NodeMsg::Receive(way) => {
                if let Some(so_far) = shorter(self.distance, way) {
                    self.distance = Some(so_far);
                    for &(node, edge) in &self.neighbours {
                        cx.send(node, NodeMsg::Receive(Way { so_far, edge }));
                    }
                }
            }
        }
    }
}

fn foundry(sys: &mut System, graph: &Graph) {
    let nodes: Vec<_> = (0..graph.nodes).map(|_| sys.spawn(Node::default())).collect();
    let (start, edges) = (nodes[graph.start], graph.edges.clone());
    introduce(sys, graph.edges.iter().map(|edge| nodes[edge.0]).collect::<Vec<_>>(), move |k, reply| {
        let (_, to, weight) = edges[k];
        NodeMsg::Neighbour(nodes[to], weight, Some(reply))
    });
    sys.send(start, NodeMsg::Receive(NO_WAY));
}

fn scala(sys: &mut System, graph: &Graph) {
    let nodes: Vec<_> = (0..graph.nodes).map(|_| sys.spawn(Node::default())).collect();
    for &(from, to, weight) in &graph.edges {
        sys.send(nodes[from], NodeMsg::Neighbour(nodes[to], weight, None));
    }
    sys.finish_setup();
    sys.send(nodes[graph.start], NodeMsg::Receive(NO_WAY));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_are_named_or_written() {
        let graph = Graph::parse("0>1:3, 1-2").unwrap();
        assert_eq!(graph, Graph { nodes: 3, start: 0, edges: vec![(0, 1, 3), (1, 2, 10), (2, 1, 10)] });
        for (name, ..) in NAMED {
            Graph::parse(name).unwrap();
        }
    }

    #[test]
    fn a_wrong_graph_is_told_how_to_write_one() {
        for (text, why) in
            [("C", "`C` is not an edge"), ("0>99", "`0>99` is not an edge"), ("", "the graph has no edges")]
        {
            let error = Graph::parse(text).unwrap_err();
            assert!(error.starts_with(why) && error.contains("0>1:10 1-2"), "{error}");
        }
    }
}
