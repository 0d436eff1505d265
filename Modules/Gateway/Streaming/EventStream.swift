import TernCore
import TernQuery
import TernSecurity
import TernTreeWire

/// One request for server-sent events, without I/O: frames of the server go in, events come out.
///
/// Towards the server it is a client that shows its credential and listens once.
/// Source: realtime reference, section 11.5.
struct EventStream: Sendable {
  /// Something to be done about the connection, in order.
  enum Output: Equatable, Sendable {
    /// There will be no stream; this is the answer instead.
    case refuse(RESTError)
    /// The stream begins.
    case begin
    /// Bytes of events.
    case send([UInt8])
    /// The stream is over.
    case finish
  }

  private enum Stage { case asking, open, over }

  private let path: TreePath
  private let form: TreeNode.JSONForm
  private let query: TreeQuery
  private let credential: Credential?
  private var stage = Stage.asking
  /// The data at the beginning; what the server does not push is not there.
  private var first = TreeNode.empty

  private static let authentication: UInt64 = 1
  private static let listen: UInt64 = 2

  /// Understands a request for a stream of what is at a path.
  init(_ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller) throws(RESTError) {
    guard request.method == "GET" else {
      throw RESTError(405, "A stream is asked for with GET.")
    }
    path = try RESTRequest.path(target)
    let parameters = try RESTParameters(target)
    guard !parameters.isShallow, parameters.print == .plain, parameters.callback == nil else {
      throw .invalid("A stream can be neither shallow nor printed otherwise.")
    }
    form = parameters.form
    query = try RESTQuery.query(target)
    credential = try Credential.shown(by: request, target, isLocal: caller.isLocal)
  }

  /// Whether a request asks for a stream.
  static func isAsked(by request: HTTPRequest) -> Bool {
    request.headers.list("accept").contains { word in
      word.lowercased().split(separator: ";").first?.trimmed == "text/event-stream"
    }
  }

  /// What the server is told, behind the introduction.
  var requests: [[UInt8]] {
    var requests: [TreeClientMessage] = []
    if let credential {
      let kind: TreeCredential.Kind = credential.kind == .user ? .user : .service
      let shown = TreeCredential(
        kind, token: credential.token, override: credential.override,
        isUnauthenticated: credential.override == .null)
      requests.append(.request(Self.authentication, .auth(shown)))
    }
    let tag: Int64? = query.loadsAllData ? nil : 1
    let listen = TreeListen(path: path, query: query.normalized, tag: tag)
    requests.append(.request(Self.listen, .listen(listen)))
    return requests.map { $0.encode() }
  }

  /// Says that the stream is alive.
  static let keepAlive = Array("event: keep-alive\ndata: null\n\n".utf8)

  /// Takes what the server sent.
  mutating func take(_ frame: [UInt8]) -> [Output] {
    guard stage != .over, let message = try? TreeServerMessage.decode(frame) else { return [] }
    switch message {
    case .response(let number, let response): return take(response, to: number)
    case .put(let push): return put(push)
    case .merge(let push): return merge(push)
    case .listenRevoked: return end(saying: "event: cancel\ndata: \"Permission denied\"\n\n")
    case .authRevoked:
      return end(saying: "event: auth_revoked\ndata: credential is no longer valid\n\n")
    case .fatal(let text), .shutdown(let text): return close(because: text)
    case .handshake, .redirect, .error, .pong, .rangeMerge, .appCheckRevoked, .trace, .unknown,
      .inquiry:
      return []
    }
  }

  /// The server ends the session.
  mutating func close(because reason: String) -> [Output] {
    defer { stage = .over }
    switch stage {
    case .asking: return [.refuse(RESTError(503, reason))]
    case .open: return [.finish]
    case .over: return []
    }
  }

  private mutating func end(saying text: String) -> [Output] {
    guard stage == .open else { return close(because: "The credential does not count any more.") }
    stage = .over
    return [.send(Array(text.utf8)), .finish]
  }

  private mutating func take(_ response: TreeResponse, to number: UInt64) -> [Output] {
    if response.status == .ok {
      guard number == Self.listen, stage == .asking else { return [] }
      stage = .open
      let data = exchange(&first, with: .empty).jsonBytes(form)
      return [.begin, .send(Self.event("put", at: .root, data))]
    }
    guard stage == .asking else { return [] }
    stage = .over
    let isAboutIdentity =
      number == Self.authentication || response.status == .permissionDenied
    return [.refuse(RESTError(isAboutIdentity ? 401 : 400, response.detail))]
  }

  private mutating func put(_ push: TreePush<TreeNode>) -> [Output] {
    guard let place = push.path.relative(to: path) else { return [] }
    if stage == .asking {
      first.setNode(push.content, at: place)
      return []
    }
    if form == .value, place.namesPriority { return [] }
    return [.send(Self.event("put", at: place, push.content.jsonBytes(form)))]
  }

  private mutating func merge(_ push: TreePush<TreeMerge>) -> [Output] {
    guard let place = push.path.relative(to: path) else { return [] }
    if stage == .asking {
      for entry in push.content.entries {
        first.setNode(entry.node, at: place.appending(entry.path))
      }
      return []
    }
    let entries = push.content.entries.filter { form == .export || !$0.path.namesPriority }
    if entries.isEmpty { return [] }
    var writer = JSONWriter()
    writer.beginObject()
    for entry in entries {
      writer.key(entry.path.text)
      entry.node.write(to: &writer, form)
    }
    writer.endObject()
    return [.send(Self.event("patch", at: place, writer.bytes))]
  }

  private static func event(_ name: String, at path: TreePath, _ data: [UInt8]) -> [UInt8] {
    var writer = JSONWriter(capacity: data.count + 64)
    writer.beginObject()
    writer.key("path")
    writer.string("/" + path.text)
    writer.key("data")
    writer.raw(data)
    writer.endObject()
    return Array("event: \(name)\ndata: ".utf8) + writer.bytes + Array("\n\n".utf8)
  }
}
