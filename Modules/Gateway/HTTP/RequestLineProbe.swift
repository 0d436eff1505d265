#if TCP
  import NIOCore
  import NIOHTTP1

  /// Keeps the first bytes of what arrives behind an answer, so that a request with an unknown
  /// method, which the parser does not hand over, is told from bytes that are no request.
  final class RequestLineProbe: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData

    /// The most bytes of a method and the space behind it.
    private static let keptBytes = 32

    /// The first bytes behind the last answer.
    private var start: [UInt8] = []
    /// True from an answer until the next bytes.
    private var isAtStart = true

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if isAtStart {
        start = Array(unwrapInboundIn(data).readableBytesView.prefix(Self.keptBytes))
        isAtStart = false
      }
      context.fireChannelRead(data)
    }

    func write(
      context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
      isAtStart = true
      context.write(data, promise: promise)
    }

    /// The method that the bytes begin with; `nil` for bytes that are no request.
    var method: String? {
      guard let end = start.firstIndex(of: UInt8(ascii: " ")), end > 0, end + 1 < start.count,
        start[end + 1] == UInt8(ascii: "/") || start[end + 1] == UInt8(ascii: "*"),
        start[..<end].allSatisfy(Self.isName)
      else { return nil }
      return String(decoding: start[..<end], as: UTF8.self)
    }

    /// Returns true for the bytes of names of methods, as far as they are in use.
    ///
    /// Digits and other marks are left out, although a token of HTTP may hold them.
    private static func isName(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }

  extension HTTPHeadRules {
    /// Returns the answer to bytes that the parser does not take for a request.
    static func objection(
      to error: any Error, _ context: ChannelHandlerContext
    ) -> RESTError {
      switch error as? HTTPParserError {
      case .headerOverflow: return RESTError(431, "The head is too long.")
      case .invalidMethod:
        let probe = try? context.pipeline.syncOperations.handler(type: RequestLineProbe.self)
        if let method = probe?.method { return unknownMethod(method) }
      default: break
      }
      return RESTError(400, "This is no HTTP.")
    }
  }
#endif
