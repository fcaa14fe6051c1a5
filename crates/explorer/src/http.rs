//! A small HTTP server: GET and POST, one thread per connection, on the loopback interface only.
//!
//! It uses nothing but the standard library. The explorer also runs inside of a user's test, where the package `tokio`
//! may be the shim, so no server that is built on tokio can run there; and it must not make the test slower to build.
//!
//! Other pages of the browser, and other users of the machine, can reach the port as well. A request is therefore
//! refused unless its path begins with the token, which only the printed address contains. The header `Host` must be
//! the server's own address, so that no other name can be made to point here, and so must `Origin`, if it is present.

use std::fmt::Write as _;
use std::hash::BuildHasher;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// A request that has been accepted.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path after the token, without a leading slash and without a query.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn new(kind: &'static str, body: impl Into<Vec<u8>>) -> Response {
        Response { status: 200, kind, body: body.into() }
    }

    pub(crate) fn error(status: u16, text: impl Into<String>) -> Response {
        Response { status, kind: "text/plain; charset=utf-8", body: text.into().into_bytes() }
    }
}

/// Answers requests, in several threads at a time.
pub(crate) type Handler = Arc<dyn Fn(&Request) -> Response + Send + Sync>;

/// The largest head of a request.
const MOST_HEAD: u64 = 32 << 10;

/// The largest body of a request. A schedule of 100,000 steps is smaller.
const MOST_BODY: usize = 16 << 20;

/// The time after which an idle connection is closed.
const IDLE: Duration = Duration::from_secs(60);

/// The most restrictive policy with which the page works: everything comes from this server.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' \
                      data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Opens a port on the loopback interface; 0 selects a free one.
pub(crate) fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

/// Returns 128 random bits as text. The keys of a `RandomState` come from the operating system.
pub(crate) fn token() -> String {
    let random = std::hash::RandomState::new();
    format!("{:016x}{:016x}", random.hash_one(1u8), random.hash_one(2u8))
}

/// Answers all requests to a port, in threads that end with the process.
pub(crate) fn serve(listener: TcpListener, token: String, handler: Handler) -> io::Result<()> {
    let port = listener.local_addr()?.port();
    let accept = move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            let (token, handler) = (token.clone(), handler.clone());
            // A broken connection does not affect the others.
            let work = move || drop(converse(&stream, port, &token, &handler));
            let _ = std::thread::Builder::new().name("whippet explorer".into()).spawn(work);
        }
    };
    std::thread::Builder::new().name("whippet explorer".into()).spawn(accept).map(drop)
}

/// Answers the requests of one connection.
fn converse(stream: &TcpStream, port: u16, token: &str, handler: &Handler) -> io::Result<()> {
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        let Some(head) = Head::read(&mut reader)? else { return Ok(()) };
        let length = head.header("content-length").map_or(Ok(0), str::parse::<usize>);
        let body = match length {
            Ok(length) if length <= MOST_BODY => {
                let mut body = vec![0; length];
                reader.read_exact(&mut body)?;
                body
            }
            _ => return respond(stream, &Response::error(413, "the request is too large"), false),
        };
        let response = match head.refusal(port, token) {
            Some(why) => Response::error(403, why),
            None => handler(&Request { method: head.method.clone(), path: head.path_after(token), body }),
        };
        let close = head.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        respond(stream, &response, !close)?;
        if close {
            return Ok(());
        }
    }
}

/// The first line and the headers of a request.
struct Head {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
}

impl Head {
    /// Reads a head, or returns `None` at the end of the connection.
    fn read(reader: &mut impl BufRead) -> io::Result<Option<Head>> {
        let mut reader = reader.take(MOST_HEAD);
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace();
        let (Some(method), Some(target), Some(_)) = (words.next(), words.next(), words.next()) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let (method, target, mut headers) = (method.to_owned(), target.to_owned(), Vec::new());
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some(line) = line.strip_suffix('\n') else { return Err(io::ErrorKind::InvalidData.into()) };
            let line = line.trim_end();
            if line.is_empty() {
                return Ok(Some(Head { method, target, headers }));
            }
            let Some((name, value)) = line.split_once(':') else { return Err(io::ErrorKind::InvalidData.into()) };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the reason why the request is refused, if it is.
    fn refusal(&self, port: u16, token: &str) -> Option<&'static str> {
        let own =
            |host: &str| [format!("127.0.0.1:{port}"), format!("localhost:{port}")].iter().any(|name| host == name);
        if !self.header("host").is_some_and(own) {
            return Some("refused: the request is for another host");
        }
        let origin_is_own = |origin: &str| origin.strip_prefix("http://").is_some_and(own);
        if self.header("origin").is_some_and(|origin| !origin_is_own(origin)) {
            return Some("refused: the request comes from another page");
        }
        let given = self.target.strip_prefix('/').and_then(|rest| rest.split('/').next()).unwrap_or_default();
        if !equal(given.as_bytes(), token.as_bytes()) {
            return Some("refused: use the address with the token, as it was printed");
        }
        None
    }

    fn path_after(&self, token: &str) -> String {
        let path = &self.target[1 + token.len()..];
        let path = path.split(['?', '#']).next().unwrap_or_default();
        path.strip_prefix('/').unwrap_or("/").to_owned()
    }
}

/// Compares two texts in a time that does not tell where they differ.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

fn respond(mut stream: &TcpStream, response: &Response, keep: bool) -> io::Result<()> {
    let reason = match response.status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        _ => "Internal Server Error",
    };
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", response.status);
    let connection = if keep { "keep-alive" } else { "close" };
    let headers = [
        ("Content-Type", response.kind),
        ("Content-Security-Policy", POLICY),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
        ("Cache-Control", "no-store"),
        ("Connection", connection),
    ];
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let _ = write!(head, "Content-Length: {}\r\n\r\n", response.body.len());
    let mut message = head.into_bytes();
    message.extend(&response.body);
    stream.write_all(&message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(target: &str, headers: &[(&str, &str)]) -> Option<&'static str> {
        let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Head { method: "GET".into(), target: target.into(), headers }.refusal(7000, "secret")
    }

    #[test]
    fn only_the_own_page_with_the_token_is_served() {
        let host = ("host", "127.0.0.1:7000");
        assert_eq!(refusal("/secret/at", &[host]), None);
        assert_eq!(refusal("/secret/at", &[("host", "localhost:7000"), ("origin", "http://localhost:7000")]), None);
        for (target, headers) in [
            ("/", &[host][..]),
            ("/secre/at", &[host]),
            ("/secrets/at", &[host]),
            ("/at/secret", &[host]),
            ("secret", &[host]),
            ("/secret/at", &[]),
            ("/secret/at", &[("host", "evil.example:7000")]),
            ("/secret/at", &[("host", "127.0.0.1:7001")]),
            ("/secret/at", &[host, ("origin", "http://evil.example")]),
            ("/secret/at", &[host, ("origin", "null")]),
            ("/secret/at", &[host, ("origin", "https://127.0.0.1:7000")]),
        ] {
            assert!(refusal(target, headers).is_some_and(|why| why.starts_with("refused")), "{target} {headers:?}");
        }
    }

    #[test]
    fn a_head_is_read_to_its_empty_line() {
        let text = "POST /secret/at?x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}";
        let mut reader = text.as_bytes();
        let head = Head::read(&mut reader).unwrap().unwrap();
        assert_eq!((&*head.method, head.header("content-length")), ("POST", Some("2")));
        assert_eq!(head.path_after("secret"), "at");
        assert_eq!(reader, b"{}");
        assert!(Head::read(&mut &b""[..]).unwrap().is_none());
        assert!(Head::read(&mut &b"nonsense\r\n\r\n"[..]).is_err());
        assert!(Head::read(&mut "GET / HTTP/1.1\r\nA: ".to_owned().as_bytes()).is_err(), "it is cut");
        let long = format!("GET / HTTP/1.1\r\nA: {}", "x".repeat(100_000));
        assert!(Head::read(&mut long.as_bytes()).is_err());
    }

    #[test]
    fn tokens_differ() {
        assert_eq!(token().len(), 32);
        assert_ne!(token(), token());
    }
}
