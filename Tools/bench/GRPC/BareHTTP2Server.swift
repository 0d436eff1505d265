#if TCP
  import Foundation
  import NIOCore
  import NIOHPACK
  import NIOHTTP2
  import NIOPosix

  /// The least that a server on swift-nio-http2 does for a call of gRPC: it answers as many bytes
  /// as the real one.
  enum BareHTTP2Server {
    static let command = "serve-constant-http2"

    /// Listens at a free port of this machine, which it prints, until its input ends.
    static func serve(bytes: Int) async throws {
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      let channel = try await ServerBootstrap(group: group)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .childChannelInitializer { channel in
          channel.configureHTTP2Pipeline(mode: .server) { stream in
            stream.eventLoop.makeCompletedFuture {
              try stream.pipeline.syncOperations.addHandler(ConstantCallHandler(bytes: bytes))
            }
          }.map { _ in }
        }
        .bind(host: "127.0.0.1", port: 0).get()
      // Not print: a pipe would keep what was printed until it is full.
      FileHandle.standardOutput.write(Data("\(channel.localAddress?.port ?? 0)\n".utf8))
      while readLine() != nil {}
    }
  }

  private final class ConstantCallHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let count: Int

    init(bytes: Int) { count = bytes }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard case .data(let data) = unwrapInboundIn(data), data.endStream else { return }
      let head: HPACKHeaders = [":status": "200", "content-type": "application/grpc"]
      context.write(wrapOutboundOut(.headers(.init(headers: head))), promise: nil)
      let body = ByteBuffer(repeating: 0, count: count)
      context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(body)))), promise: nil)
      let trailers: HPACKHeaders = ["grpc-status": "0"]
      context.writeAndFlush(
        wrapOutboundOut(.headers(.init(headers: trailers, endStream: true))), promise: nil)
    }
  }
#endif
