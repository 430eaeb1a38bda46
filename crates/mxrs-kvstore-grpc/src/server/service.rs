//! Takes requests from connections. The code is written by hand, in the form that tonic's generator would give it.

use super::{Inner, calls, transfer};
use crate::limits;
use crate::messages::{CALL, CallReply, CallRequest, Frame, ReplyFrame, TRANSFER};
use crate::wire::Accepted;
use mxrs_types::Result;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::watch;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tonic::body::Body;
use tonic::server::Grpc;
use tonic::transport::Server;
use tonic_prost::ProstCodec;

/// The HTTP/2 flow-control window of a connection: the most bytes that a worker may send before the server has read them. It
/// has room for several frames.
const CONNECTION_WINDOW: u32 = 16 << 20;

/// The answer to one request.
type Answer = Pin<Box<dyn Future<Output = std::result::Result<http::Response<Body>, Infallible>> + Send>>;

/// The service, which is cloned for each connection.
#[derive(Clone)]
struct Values(Arc<Inner>);

impl tower_service::Service<http::Request<Body>> for Values {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::result::Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Answer {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            Ok(match request.uri().path() {
                CALL => {
                    let grpc = Grpc::new(ProstCodec::<CallReply, CallRequest>::default());
                    grpc.max_decoding_message_size(limits::CALL_BYTES + 4096)
                        .max_encoding_message_size(usize::MAX)
                        .unary(calls::Handler(inner), request)
                        .await
                }
                TRANSFER => {
                    let grpc = Grpc::new(ProstCodec::<ReplyFrame, Frame>::default());
                    grpc.max_decoding_message_size(limits::MESSAGE_BYTES)
                        .streaming(transfer::Handler(inner), request)
                        .await
                }
                _ => inner.refused(None, Status::unimplemented("there are the methods Call and Transfer")).into_http(),
            })
        })
    }
}

/// Serves connections until the server ends.
pub async fn serve(
    inner: Arc<Inner>,
    connections: ReceiverStream<io::Result<Accepted>>,
    mut end: watch::Receiver<Option<Result<()>>>,
) {
    let silence = inner.options.silence;
    let server = Server::builder()
        .max_concurrent_streams(limits::REQUESTS)
        .http2_max_header_list_size(limits::HEADER_BYTES)
        .initial_stream_window_size(u32::try_from(2 * limits::FRAME_BYTES).unwrap_or(u32::MAX))
        .initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keepalive_interval(Some(silence))
        .http2_keepalive_timeout(Some(silence));
    let ended = async move {
        // An error means that the sender was dropped with the server. That is a reason to end, too.
        drop(end.wait_for(Option::is_some).await);
    };
    if let Err(error) = server.serve_with_incoming_shutdown(Values(inner), connections, ended).await {
        tracing::error!("the server takes no more connections: {error}");
    }
}

/// Answers `GET /metrics`.
#[derive(Clone)]
struct MetricsPage(Arc<Inner>);

impl tower_service::Service<http::Request<Body>> for MetricsPage {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::result::Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Answer {
        let is_known = request.method() == http::Method::GET && request.uri().path() == "/metrics";
        let (status, text) = match is_known {
            true => (http::StatusCode::OK, self.0.metrics_text()),
            false => (http::StatusCode::NOT_FOUND, "there is GET /metrics\n".to_owned()),
        };
        let mut response = http::Response::new(Body::new(http_body_util::Full::from(text)));
        *response.status_mut() = status;
        let kind = http::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
        Box::pin(std::future::ready(Ok(response)))
    }
}

/// Serves metrics by HTTP, until the runtime ends.
pub async fn serve_metrics(inner: Arc<Inner>, connections: ReceiverStream<io::Result<Accepted>>) {
    let server = Server::builder().accept_http1(true).http2_max_header_list_size(limits::HEADER_BYTES);
    if let Err(error) = server.serve_with_incoming(MetricsPage(inner), connections).await {
        tracing::error!("the metrics are not served any more: {error}");
    }
}
