import TernDocumentWire

/// A request over WebChannel, its address taken apart.
///
/// Source: firestore-server reference, section 4.1.
struct WebChannelRequest: Equatable, Sendable {
  /// The purpose of a request.
  enum Kind: Equatable, Sendable {
    /// Opens a session.
    case handshake
    /// Carries messages of the client.
    case forward
    /// Carries messages of the server, in its response.
    case back(WebChannelBack)
    /// Ends a session.
    case terminate
  }

  /// The version of the protocol.
  static let version = "8"
  /// The path of the service; both channels lie below it.
  private static let service = "/google.firestore.v1.Firestore/"

  let method: DocumentMethod
  let kind: Kind
  /// The session's id; empty for a handshake.
  let session: String
  /// The highest id of the arrays that the client has received.
  let acknowledged: Int?

  /// Returns true for the target of a request to a channel, as it stands in the first line.
  static func serves(_ target: String) -> Bool { target.hasPrefix(service) }

  /// Returns the method whose channel has a path; `nil` for other paths.
  static func method(at path: String) -> DocumentMethod? {
    switch path {
    case service + "Listen/channel": .listen
    case service + "Write/channel": .write
    default: nil
    }
  }

  /// - Parameter method: The method whose channel is at the target's path.
  /// - Throws: 400 for another version, a number that is none, or a request of no kind; 405 for
  ///   a method other than GET and POST.
  init(
    _ method: DocumentMethod, _ request: HTTPRequest, _ target: RequestTarget
  ) throws(WebChannelError) {
    self.method = method
    guard target["VER"] == Self.version else {
      throw .invalid("Only version \(Self.version) of WebChannel is supported.")
    }
    session = target["SID"] ?? ""
    acknowledged = try target["AID"].map { text throws(WebChannelError) in
      try Self.number(text, "AID")
    }
    kind = try Self.kind(request, target)
  }

  /// Tells the purpose of a request by its method and parameters. A termination may come by
  /// either method.
  private static func kind(
    _ request: HTTPRequest, _ target: RequestTarget
  ) throws(WebChannelError) -> Kind {
    if target["MODE"] == "init" { throw .invalid("The test of version 7 is not supported.") }
    if target["TYPE"] == "terminate" { return .terminate }
    switch request.method {
    case "POST" where target["SID"] == nil: return .handshake
    case "POST": return .forward
    case "GET" where target["SID"] != nil && target["RID"] == "rpc":
      return .back(try WebChannelBack(target))
    case "GET": throw .invalid("A GET opens the back channel of a session.")
    default: throw WebChannelError(405, "WebChannel uses GET and POST.")
    }
  }

  /// Reads a number that a client counts with.
  ///
  /// - Throws: 400 for anything but digits, and for numbers beyond 2^53, which clients in
  ///   JavaScript cannot count exactly.
  static func number(_ text: some StringProtocol, _ name: String) throws(WebChannelError) -> Int {
    let isPlain = !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
    guard isPlain, let number = Int(text), number <= WebChannelLimits.lastNumber else {
      throw .invalid("\(name) is not a number.")
    }
    return number
  }
}

/// The mode of a back channel.
struct WebChannelBack: Equatable, Sendable {
  /// True when the response ends behind its first chunk, for proxies that keep responses back.
  let isLongPoll: Bool
  /// The time that the client lets a long poll wait.
  let holdMilliseconds: Int?

  init(isLongPoll: Bool, holdMilliseconds: Int? = nil) {
    self.isLongPoll = isLongPoll
    self.holdMilliseconds = holdMilliseconds
  }

  /// Reads `CI` (1 for a long poll) and `TO` (milliseconds).
  init(_ target: RequestTarget) throws(WebChannelError) {
    isLongPoll = target["CI"] == "1"
    holdMilliseconds = try target["TO"].map { text throws(WebChannelError) in
      try WebChannelRequest.number(text, "TO")
    }
  }
}
