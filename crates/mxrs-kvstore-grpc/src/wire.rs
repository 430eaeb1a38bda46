//! Connections: TCP with or without TLS, for servers and workers.

use crate::limits;
use hyper_util::rt::TokioIo;
use mxrs_sync::Mutex;
use mxrs_types::{Error, ErrorKind, Result};
use rustls::pki_types::{CertificateDer, ServerName};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_rustls::{TlsAcceptor, TlsConnector};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;

/// How long a TLS handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long the server takes to send the reason for a failed handshake.
const FAREWELL: Duration = Duration::from_secs(1);
/// The pause after the system has failed to accept a connection, such as for lack of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// A stream of bytes in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// Who is at the other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    pub address: SocketAddr,
    /// The certificate, which was verified; `None` without TLS.
    pub certificate: Option<CertificateDer<'static>>,
}

/// A connection that a server has accepted.
pub struct Accepted {
    stream: Box<dyn Duplex>,
    peer: Peer,
    /// Counts this connection against the limit of connections, until it ends.
    _place: OwnedSemaphorePermit,
}

impl Connected for Accepted {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Accepted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Accepted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Accepts connections until the receiver is dropped. Connections whose handshake fails are logged and closed. `refused`
/// counts them.
pub fn accept(
    listener: TcpListener,
    tls: Option<Arc<rustls::ServerConfig>>,
    refused: impl Fn() + Send + Sync + 'static,
) -> ReceiverStream<io::Result<Accepted>> {
    let (ready, connections) = mpsc::channel(16);
    let places = Arc::new(Semaphore::new(limits::CONNECTIONS));
    let acceptor = tls.map(TlsAcceptor::from);
    let refused = Arc::new(refused);
    tokio::spawn(async move {
        while let Ok(place) = Arc::clone(&places).acquire_owned().await {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = ready.closed() => return,
            };
            let (stream, address) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!("a connection could not be accepted: {error}");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let (acceptor, ready, refused) = (acceptor.clone(), ready.clone(), Arc::clone(&refused));
            tokio::spawn(async move {
                match tokio::time::timeout(HANDSHAKE, secure(stream, address, acceptor)).await {
                    Ok(Ok((stream, peer))) => drop(ready.send(Ok(Accepted { stream, peer, _place: place })).await),
                    Ok(Err(error)) => {
                        refused();
                        tracing::warn!("refused a connection from {address}: {error}");
                    }
                    Err(_) => {
                        refused();
                        tracing::warn!("refused a connection from {address}: no TLS handshake within {HANDSHAKE:?}");
                    }
                }
            });
        }
    });
    ReceiverStream::new(connections)
}

async fn secure(
    stream: TcpStream,
    address: SocketAddr,
    acceptor: Option<TlsAcceptor>,
) -> io::Result<(Box<dyn Duplex>, Peer)> {
    stream.set_nodelay(true)?;
    let Some(acceptor) = acceptor else {
        return Ok((Box::new(stream), Peer { address, certificate: None }));
    };
    let stream = match acceptor.accept(stream).into_fallible().await {
        Ok(stream) => stream,
        Err((error, mut stream)) => {
            // The other side is still sending. If the connection were closed now, the other side could miss the reason, so
            // its bytes are read and dropped for a while.
            drop(stream.shutdown().await);
            let mut sink = tokio::io::sink();
            drop(tokio::time::timeout(FAREWELL, tokio::io::copy(&mut stream, &mut sink)).await);
            return Err(error);
        }
    };
    let certificate = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first()).cloned();
    let certificate = certificate.map(CertificateDer::into_owned);
    Ok((Box::new(stream), Peer { address, certificate }))
}

/// Connects a worker to one server.
#[derive(Clone)]
pub struct Connector {
    address: Arc<str>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    timeout: Duration,
    /// The last TLS error on a connection that was open. A server checks the certificate of a worker after the worker's part
    /// of the handshake. If it refuses the certificate, later requests report only a closed connection, and the reason is
    /// found here.
    fault: Arc<Mutex<Option<String>>>,
}

impl Connector {
    /// A connector to `host:port`.
    ///
    /// # Errors
    /// Fails if the address has no host or port.
    pub fn new(address: &str, tls: Option<&Arc<rustls::ClientConfig>>, timeout: Duration) -> Result<Self> {
        let (host, _) = host_and_port(address)?;
        let tls = match tls {
            None => None,
            Some(config) => {
                let name = ServerName::try_from(host.to_owned());
                let name = name.map_err(|error| Error::invalid("host of a server", host, error.to_string()))?;
                Some((TlsConnector::from(Arc::clone(config)), name))
            }
        };
        Ok(Self { address: address.into(), tls, timeout, fault: Arc::default() })
    }

    /// The last error of TLS on an open connection, if there was one since the last call.
    pub fn take_fault(&self) -> Option<String> {
        self.fault.lock().take()
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// Fails if the server does not answer in time, or if one of both refuses the certificate of the other.
    pub async fn open(&self) -> io::Result<TokioIo<Box<dyn Duplex>>> {
        let open = async {
            let stream = TcpStream::connect(&*self.address).await?;
            stream.set_nodelay(true)?;
            let stream: Box<dyn Duplex> = match &self.tls {
                None => Box::new(stream),
                Some((connector, name)) => {
                    let stream = connector.connect(name.clone(), stream).await?;
                    Box::new(Watched { stream, fault: Arc::clone(&self.fault) })
                }
            };
            Ok(TokioIo::new(stream))
        };
        let late = || io::Error::new(io::ErrorKind::TimedOut, format!("no connection within {:?}", self.timeout));
        tokio::time::timeout(self.timeout, open).await.unwrap_or_else(|_| Err(late()))
    }
}

/// A stream that stores its TLS errors in `fault`.
struct Watched<S> {
    stream: S,
    fault: Arc<Mutex<Option<String>>>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_read(cx, buf);
        if let Poll::Ready(Err(error)) = &result
            && let Some(error) = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>())
        {
            *self.fault.lock() = Some(error.to_string());
        }
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl tower_service::Service<http::Uri> for Connector {
    type Response = TokioIo<Box<dyn Duplex>>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move { connector.open().await })
    }
}

/// The host and the port of `host:port`. A host with colons is in brackets, as in `[::1]:9000`.
///
/// # Errors
/// Fails if the text has another form.
pub fn host_and_port(address: &str) -> Result<(&str, u16)> {
    let parts = address.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    match parts {
        Some((host, port)) if !host.is_empty() && (!host.contains(':') || host.starts_with('[')) => {
            Ok((host.trim_start_matches('[').trim_end_matches(']'), port))
        }
        _ => Err(Error::invalid("address of a server", address, "host:port, such as 10.0.0.1:9000")),
    }
}

/// An error of the network.
pub fn network(kind: io::ErrorKind, message: String) -> Error {
    Error::new(ErrorKind::Io { path: None, message, kind })
}
