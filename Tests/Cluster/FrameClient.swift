import Synchronization
import TernCore
import TernLinkTesting
import TernTransport
import TernTreeWire

/// A client that speaks the dialect by hand.
final class FrameClient: LinkHandler {
  private struct State {
    var link: (any Link)?
    var session: String?
  }

  private let state = Mutex(State())
  private let heard = ArrivalQueue<String>()

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

  /// The next so many messages, in short; fewer of them, and "closed", when the link has ended.
  func next(_ count: Int) async -> [String] {
    var told: [String] = []
    while told.count < count, let message = await heard.next() { told.append(message) }
    return told
  }

  func linkDidReceive(_ frames: [[UInt8]]) {
    for frame in frames {
      guard let message = try? TreeServerMessage.decode(frame) else { continue }
      if case .handshake(let handshake) = message {
        state.withLock { $0.session = handshake.session }
      }
      heard.add([Self.brief(message)])
    }
  }

  func linkDidClose(_ reason: LinkClosure) {
    heard.add(["closed"])
    heard.end()
  }

  private static func brief(_ message: TreeServerMessage) -> String {
    switch message {
    case .handshake: "handshake"
    case .put(let push):
      "put \(push.path.text) \(String(decoding: push.content.jsonBytes(.export), as: UTF8.self))"
    case .response(let number, let response):
      response.payload == [34, 34]
        ? "answer \(number)"
        : "answer \(number) \(String(decoding: response.payload, as: UTF8.self))"
    case .redirect(let host): host.isEmpty ? "redirect" : "redirect to \(host)"
    case .error: "error"
    default: "\(message)"
    }
  }
}
