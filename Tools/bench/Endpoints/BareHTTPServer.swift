#if TCP
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOPosix

  /// The least that a server on swift-nio does for a request: it answers a constant.
  enum BareHTTPServer {
    static let command = "serve-constant"
    static let body = "\"quay\""

    /// Listens at a free port of this machine, which it prints, until its input ends.
    static func serve() async throws {
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      let channel = try await ServerBootstrap(group: group)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.configureHTTPServerPipeline()
            try channel.pipeline.syncOperations.addHandler(ConstantHandler())
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
      // Not print: a pipe would keep what was printed until it is full.
      FileHandle.standardOutput.write(Data("\(channel.localAddress?.port ?? 0)\n".utf8))
      while readLine() != nil {}
    }
  }

  private final class ConstantHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard case .end = unwrapInboundIn(data) else { return }
      let body = ByteBuffer(string: BareHTTPServer.body)
      let headers: HTTPHeaders = [
        "content-type": "application/json", "content-length": "\(body.readableBytes)",
      ]
      let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
#endif
