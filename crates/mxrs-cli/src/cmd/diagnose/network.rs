//! The network test: whether the sites from which packages and models are downloaded can be reached.

use super::Section;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const SITES: [&str; 3] = ["github.com", "crates.io", "pypi.org"];
const SITES_CN: [&str; 2] = ["mirrors.tuna.tsinghua.edu.cn", "mirrors.ustc.edu.cn"];

/// The section of the network test: the time for name lookup and connection of each site.
pub fn section(region: &str, timeout_s: u64) -> Section {
    let mut section = Section::new("----------Network Test----------", "network");
    let timeout = (timeout_s > 0).then(|| Duration::from_secs(timeout_s));
    section.add("Setting timeout", timeout_s);
    let regional: &[&str] = if region == "cn" { &SITES_CN } else { &[] };
    for site in SITES.iter().chain(regional) {
        section.add(site, reach(site, timeout));
    }
    section
}

/// Looks up a name and connects to it, on its own thread because the system's lookup has no timeout.
fn reach(site: &'static str, timeout: Option<Duration>) -> String {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // Sending fails if the receiver has timed out.
        let _ = sender.send(connect(site, timeout));
    });
    match timeout {
        None => receiver.recv().unwrap_or_else(|_| "no answer".into()),
        Some(timeout) => receiver.recv_timeout(timeout * 2).unwrap_or_else(|_| format!("no answer in {timeout:?}")),
    }
}

fn connect(site: &str, timeout: Option<Duration>) -> String {
    let start = Instant::now();
    let address = match (site, 443).to_socket_addrs().map(|mut addresses| addresses.next()) {
        Ok(Some(address)) => address,
        Ok(None) => return "no address".into(),
        Err(error) => return format!("name not found: {error}"),
    };
    let looked_up = start.elapsed();
    let connected = match timeout {
        Some(timeout) => TcpStream::connect_timeout(&address, timeout),
        None => TcpStream::connect(address),
    };
    match connected {
        Ok(_) => format!("DNS: {:.4} sec, LOAD: {:.4} sec", looked_up.as_secs_f64(), start.elapsed().as_secs_f64()),
        Err(error) => format!("DNS: {:.4} sec, not connected: {error}", looked_up.as_secs_f64()),
    }
}
