#if TCP
  package import NIOCore
  import TernCore
  import TernServer
  import TernTransport

  /// Hands bytes to the endpoints without a server behind them: for tools that try out what
  /// foreign clients may send.
  package enum ProtocolProbe {
    /// Returns a summary of the bytes on an open WebSocket: the messages and pings, and the status
    /// it would be closed with.
    ///
    /// - Parameters:
    ///   - pieces: The bytes, as they arrive.
    ///   - limitBytes: The most bytes of one message.
    package static func webSocket(_ pieces: [[UInt8]], limitBytes: Int) -> String {
      var reader = WebSocketReader(limitBytes: limitBytes)
      var joiner = MessageJoiner(limitBytes: limitBytes, limitParts: 100)
      var told = ""
      do throws(WebSocketFailure) {
        for piece in pieces {
          let outcome = Result { () throws(WebSocketFailure) in try reader.consume(piece.span) }
          for event in reader.takeEvents() {
            guard case .text(let text) = event else {
              told += "\(event) "
              continue
            }
            if let message = try joiner.take(text) { told += "message \(message) " }
          }
          try outcome.get()
        }
      } catch {
        told += "closed \(error.code)"
      }
      return told
    }

    /// Returns a summary of the bytes of a gRPC stream: the messages, and the failure at its end.
    ///
    /// - Parameters:
    ///   - pieces: The bytes, as they arrive.
    ///   - limitBytes: The most bytes of one message.
    package static func grpc(_ pieces: [[UInt8]], limitBytes: Int) -> String {
      var reader = GRPCMessageReader(limit: limitBytes)
      var found = ""
      do throws(GRPCMessageReader.Failure) {
        for piece in pieces {
          try reader.read(piece[...]) { found += "message \($0) " }
        }
      } catch {
        return found + "failed \(error)"
      }
      return found + "held \(reader.heldBytes)"
    }

    /// Sets up a channel as a connection of the endpoints is, with a server that has nothing and
    /// hears nothing.
    ///
    /// Sessions say nothing, requests read an empty node, and names of sessions are not random.
    package static func install(in channel: any Channel) throws {
      let setting = GatewayContext(
        options: GatewayOptions(), ask: { _, answer in answer(.node(.empty)) },
        export: { _, _, _, _, _, _ in nil }, open: { _ in Nobody() },
        installLink: { _, _ in },
        load: GatewayLoad(MemoryBudget(limitBytes: 1 << 30)),
        polls: NIOLoopBound(PollTable(), eventLoop: channel.eventLoop), randomBits: { 7 })
      try Gateway.install(setting, in: channel)
    }

    private final class Nobody: LinkHandler {
      func linkDidReceive(_ frames: [[UInt8]]) {}
      func linkDidClose(_ reason: LinkClosure) {}
    }
  }
#endif
