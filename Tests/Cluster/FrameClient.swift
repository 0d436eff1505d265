import Synchronization
import TernCore
import TernTransport
import TernTreeWire

/// A client that speaks the dialect by hand.
final class FrameClient: LinkHandler {
  private struct State {
    var heard: [String] = []
    var waiting: (count: Int, go: CheckedContinuation<[String], Never>)?
    var link: (any Link)?
    var session: String?
  }

  private let state = Mutex(State())

  static func connect(to address: String) async throws -> FrameClient {
    let client = FrameClient()
    let link = try await NodeLoopbacks().connect(to: address, for: "") { _ in client }
    client.state.withLock { $0.link = link }
    return client
  }

  func send(_ message: TreeClientMessage) {
    let link = state.withLock { $0.link }
    link?.send(message.encode())
    link?.flush()
  }

  var session: String? { state.withLock { $0.session } }

  func close() { state.withLock { $0.link }?.close() }

  /// The next so many messages, in short.
  func next(_ count: Int) async -> [String] {
    await withCheckedContinuation { continuation in
      wake { $0.waiting = (count, continuation) }
    }
  }

  func linkDidReceive(_ frames: [[UInt8]]) {
    wake { state in
      for frame in frames {
        guard let message = try? TreeServerMessage.decode(frame) else { continue }
        if case .handshake(let handshake) = message { state.session = handshake.session }
        state.heard.append(Self.brief(message))
      }
    }
  }

  func linkDidClose(_ reason: LinkClosure) { wake { $0.heard.append("closed") } }

  private func wake(_ change: (inout State) -> Void) {
    let ready = state.withLock { state -> (CheckedContinuation<[String], Never>, [String])? in
      change(&state)
      guard let waiting = state.waiting else { return nil }
      let isOver = state.heard.last == "closed"
      guard state.heard.count >= waiting.count || isOver else { return nil }
      let heard = Array(state.heard.prefix(waiting.count))
      state.heard.removeFirst(heard.count)
      state.waiting = nil
      return (waiting.go, heard)
    }
    ready?.0.resume(returning: ready?.1 ?? [])
  }

  private static func brief(_ message: TreeServerMessage) -> String {
    switch message {
    case .handshake: "handshake"
    case .redirect: "redirect"
    case .error: "error"
    case .put(let push):
      "put \(push.path.text) \(String(decoding: push.content.jsonBytes(.export), as: UTF8.self))"
    case .response(let number, let response):
      response.payload == [34, 34]
        ? "answer \(number)"
        : "answer \(number) \(String(decoding: response.payload, as: UTF8.self))"
    default: "\(message)"
    }
  }
}
