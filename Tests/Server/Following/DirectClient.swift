import Synchronization
import TernCore
import TernLinkTesting
import TernSecurity
import TernTransport

@testable import TernServer

/// The other end of a link that carries requests without a session.
final class DirectClient: Sendable {
  private let receiver = FrameReceiver()
  private let number = Atomic<UInt64>(0)
  private let link = Mutex<(any Link)?>(nil)

  static func connect(_ transport: any Transport) async throws -> DirectClient {
    let client = DirectClient()
    let link = try await transport.connect { _ in client.receiver }
    client.link.withLock { $0 = link }
    return client
  }

  func send(_ frames: [UInt8]...) { send(contentsOf: frames) }

  /// Sends frames together.
  func send(contentsOf frames: [[UInt8]]) {
    link.withLock { link in
      for frame in frames { link?.send(frame) }
      link?.flush()
    }
  }

  func setReading(_ on: Bool) { link.withLock { $0?.setReading(on) } }

  func close() { link.withLock { $0?.close() } }

  /// Sends a request and returns its answer; `nil` when the link has ended.
  func ask(
    _ operation: DirectRequest.Operation, as token: String? = nil, isLocal: Bool = true
  ) async throws -> DirectAnswer? {
    let number = send(try Self.request(operation, as: token, isLocal: isLocal))
    guard let bytes = await next() else { return nil }
    let frame = try DirectFrame(bytes, .answer)
    return frame.number == number ? try frame.answer() : nil
  }

  /// A request to the default database.
  static func request(
    _ operation: DirectRequest.Operation, as token: String? = nil, isLocal: Bool = true
  ) throws -> DirectRequest {
    DirectRequest(
      namespace: "default", isLocal: isLocal,
      credential: token.map { Credential(.service, token: $0) }, operation)
  }

  private func send(_ request: DirectRequest) -> UInt64 {
    let number = number.add(1, ordering: .relaxed).newValue
    if let frame = try? DirectFrame(request, number).encoded() { send(frame) }
    return number
  }

  /// The next frame, `nil` when the link has ended.
  func next() async -> [UInt8]? { await receiver.next() }
}

/// Takes `chief` for an administrator, and any other token but `none` for a user that it names,
/// issued in second 1,000.
struct PassAuthenticator: Authenticator {
  func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    switch credential.token {
    case "none": throw .invalid(reason: "unknown")
    case "chief": return Authentication(.administrator)
    case let name:
      return Authentication(
        .user(id: name, claims: .object([])), expires: 1 << 40, issued: 1_000)
    }
  }
}

extension DirectAnswer {
  /// True for a denial by rules, and for what is left to administrators.
  var isForbidden: Bool {
    if case .refused(.permissionDenied) = self { true } else { false }
  }
}
