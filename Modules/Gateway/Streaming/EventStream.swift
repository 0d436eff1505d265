import TernCore
import TernQuery
import TernSecurity
import TernServer
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
    /// The stream begins with what is at the path, which is too large to be said at once.
    case beginExport
    /// Bytes of events.
    case send([UInt8])
    /// The stream is over.
    case finish
    /// The stream is over in the middle of something.
    case abort
  }

  /// `asking` until the server has accepted the listen; `exporting` while large first data are
  /// sent piece by piece; `open` while events pass; `over` at the end, from which nothing leads
  /// back.
  private enum Stage { case asking, exporting, open, over }

  let path: TreePath
  let form: TreeNode.JSONForm
  /// The filter of the parameters; events come filtered by the server.
  private let query: TreeQuery
  private let credential: Credential?
  private var stage = Stage.asking
  /// The data at the beginning; what the server does not push is not there.
  private var first = TreeNode.empty
  /// Events that have to wait until the data at the beginning are said.
  private var held: [[UInt8]] = []
  /// The bytes of ``held``, each event counted with ``eventBytes`` on top.
  private(set) var heldBytes = 0
  /// The most bytes of them; one event more is held whatever its size.
  private let heldLimitBytes: Int
  /// True when large data can be read from the store here.
  private let readsHere: Bool
  /// The last commit that is seen in the data at the beginning.
  private var version: UInt64 = 0

  /// The overhead of an event until it is sent, beside its own bytes.
  static let eventBytes = 1_024

  /// The number of the request that shows the credential.
  private static let authentication: UInt64 = 1
  /// The number of the request that listens. Its success ends the asking.
  private static let listen: UInt64 = 2

  /// Understands a request for a stream of what is at a path.
  ///
  /// - Parameters:
  ///   - heldLimitBytes: The most bytes of events that wait until the data at the beginning are
  ///     said.
  ///   - readsHere: True when the data are in this server's store.
  init(
    _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller,
    heldLimitBytes: Int = GatewayLimits().streamBytes, readsHere: Bool = true
  ) throws(RESTError) {
    self.heldLimitBytes = heldLimitBytes
    self.readsHere = readsHere
    path = try RESTRequest.path(target)
    let parameters = try RESTParameters(target)
    guard !parameters.isShallow, parameters.print == .plain, parameters.callback == nil else {
      throw .invalid("A stream can be neither shallow nor printed otherwise.")
    }
    form = parameters.form
    query = try RESTQuery.query(target)
    credential = try Credential.shown(by: request, target, isLocal: caller.isLocal)
  }

  /// True for requests of a stream; a write is none, whatever its client accepts.
  static func isAsked(by request: HTTPRequest) -> Bool {
    guard request.method == "GET" else { return false }
    return request.headers.list("accept").contains { word in
      word.lowercased().split(separator: ";").first?.trimmed == "text/event-stream"
    }
  }

  /// The messages to the server, behind the introduction.
  var requests: [[UInt8]] {
    var requests: [TreeClientMessage] = []
    if let credential {
      let kind: TreeCredential.Kind = credential.kind == .user ? .user : .service
      let shown = TreeCredential(
        kind, token: credential.token, override: credential.override,
        isUnauthenticated: credential.override == .null)
      requests.append(.request(Self.authentication, .auth(shown)))
    }
    // A filtered listen needs a tag in the dialect; there is only one here.
    let tag: Int64? = query.loadsAllData ? nil : 1
    let listen = TreeListen(
      path: path, query: query.normalized, tag: tag, leavesLargeData: readsHere)
    requests.append(.request(Self.listen, .listen(listen)))
    return requests.map { $0.encode() }
  }

  /// Says that the stream is alive.
  static let keepAlive = Array("event: keep-alive\ndata: null\n\n".utf8)

  /// Takes what the server sent.
  mutating func take(_ frame: [UInt8]) -> [Output] {
    // Frames come from this process's own server; one that cannot be read is of a newer kind.
    guard stage != .over, let message = try? TreeServerMessage.decode(frame) else { return [] }
    switch message {
    case .response(let number, let response): return take(response, to: number)
    case .put(let push): return put(push)
    case .merge(let push): return merge(push)
    case .listenRevoked(_, _, _, let detail):
      let why = detail.isEmpty ? AccessRefusal.sentence : detail
      let data = String(decoding: JSONValue.string(why).bytes, as: UTF8.self)
      return end(saying: "event: cancel\ndata: \(data)\n\n")
    case .authRevoked:
      return end(saying: "event: auth_revoked\ndata: \"credential is no longer valid\"\n\n")
    case .redirect(let host): return sendAway(.moved(host: host))
    case .shutdown(let reason): return sendAway(.closed(reason: reason))
    case .fatal(let text): return close(because: text)
    case .handshake, .error, .pong, .rangeMerge, .appCheckRevoked, .trace, .unknown,
      .inquiry:
      return []
    }
  }

  /// The server ends the session.
  ///
  /// - Parameter reason: The sentence of the answer when no stream has begun; an open stream
  ///   ends without one.
  /// - Returns: What to do with the connection: an answer of 503, an abrupt end in the middle
  ///   of the first data, or the regular end of an open stream.
  mutating func close(because reason: String) -> [Output] {
    defer { stage = .over }
    switch stage {
    case .asking: return [.refuse(RESTError(503, reason))]
    case .exporting:
      held = []
      return [.abort]
    case .open: return [.finish]
    case .over: return []
    }
  }

  /// Redirects a client that waits for its stream. An open stream just ends; its client asks
  /// again and is redirected then.
  private mutating func sendAway(_ farewell: ServiceNotice) -> [Output] {
    guard stage == .asking else { return close(because: "") }
    stage = .over
    return [.refuse(.sentAway(farewell))]
  }

  /// Ends an open stream behind a last event. A stream without its first data cannot have one.
  private mutating func end(saying text: String) -> [Output] {
    guard stage == .open else { return close(because: "The credential does not count any more.") }
    stage = .over
    return [.send(Array(text.utf8)), .finish]
  }

  /// Takes the server's answer to one of the two requests.
  ///
  /// Success of the listen begins the stream: with the data that were pushed before, or with an
  /// export when the server says that they are too large. A failure of either request is the
  /// answer: 401 for a denial or a bad credential, 429 for too many requests, 400 otherwise.
  private mutating func take(_ response: TreeResponse, to number: UInt64) -> [Output] {
    if response.status == .ok {
      guard number == Self.listen, stage == .asking else { return [] }
      if response.warnings.contains(TreeResponse.largeData) {
        stage = .exporting
        return [.beginExport]
      }
      stage = .open
      let data = exchange(&first, with: .empty).jsonBytes(form)
      return [.begin, .send(Self.event("put", at: .root, data))]
    }
    guard stage == .asking else { return [] }
    stage = .over
    if response.status == .permissionDenied {
      return [.refuse(.denied(AccessRefusal(text: response.detail)))]
    }
    let status =
      switch response.status {
      // Nothing else of a request that never did anything is worth another try.
      case .unavailable: 429
      case _ where number == Self.authentication: 401
      default: 400
      }
    return [.refuse(RESTError(status, response.detail))]
  }

  /// Takes new data at a path at or below the listened one; others are not this stream's.
  private mutating func put(_ push: TreePush<TreeNode>) -> [Output] {
    guard let place = push.path.relative(to: path) else { return [] }
    if stage == .asking {
      first.setNode(push.content, at: place)
      return []
    }
    guard let event = Self.event(push, at: place, form) else { return [] }
    return tell(event, push.version)
  }

  /// Takes several changes that were made together; they become one event `patch`.
  private mutating func merge(_ push: TreePush<TreeMerge>) -> [Output] {
    guard let place = push.path.relative(to: path) else { return [] }
    if stage == .asking {
      for entry in push.content.entries {
        first.setNode(entry.node, at: place.appending(entry.path))
      }
      return []
    }
    guard let event = Self.event(push, at: place, form) else { return [] }
    return tell(event, push.version)
  }

  /// Says an event, or holds it back until the data at the beginning are said; not those that
  /// these show already.
  private mutating func tell(_ event: [UInt8], _ version: UInt64?) -> [Output] {
    guard stage == .exporting else { return [.send(event)] }
    guard version.map({ $0 > self.version }) ?? true else { return [] }
    guard heldBytes <= heldLimitBytes else { return close(because: "It is read too slowly.") }
    heldBytes += event.count + Self.eventBytes
    held.append(event)
    return []
  }

  /// Returns the event for new data; `nil` for a priority in the form without them.
  private static func event(
    _ push: TreePush<TreeNode>, at place: TreePath, _ form: TreeNode.JSONForm
  ) -> [UInt8]? {
    // Priorities are part of the export form alone.
    if form == .value, place.namesPriority { return nil }
    return event("put", at: place, push.content.jsonBytes(form))
  }

  /// Returns the event for changes that were made together; `nil` when all are left out.
  private static func event(
    _ push: TreePush<TreeMerge>, at place: TreePath, _ form: TreeNode.JSONForm
  ) -> [UInt8]? {
    let entries = push.content.entries.filter { form == .export || !$0.path.namesPriority }
    if entries.isEmpty { return nil }
    var writer = JSONWriter()
    writer.beginObject()
    for entry in entries {
      writer.key(entry.path.text)
      entry.node.write(to: &writer, form)
    }
    writer.endObject()
    return event("patch", at: place, writer.bytes)
  }

  /// Returns the bytes of an event: its name, then one line of JSON with path and data, then an
  /// empty line.
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

// MARK: - Frames that many streams are sent

extension EventStream {
  /// True while frames become events at once.
  var isOpen: Bool { stage == .open }

  /// Returns the events that every open stream of a path and form says for frames of the server;
  /// `nil` when one of them is more than new data, and each stream has to take them by itself.
  static func events(
    _ frames: [[UInt8]], at path: TreePath, _ form: TreeNode.JSONForm
  ) -> [UInt8]? {
    var events: [UInt8] = []
    for frame in frames {
      switch try? TreeServerMessage.decode(frame) {
      case .put(let push)?:
        guard let place = push.path.relative(to: path) else { continue }
        events += event(push, at: place, form) ?? []
      case .merge(let push)?:
        guard let place = push.path.relative(to: path) else { continue }
        events += event(push, at: place, form) ?? []
      default: return nil
      }
    }
    return events
  }
}

// MARK: - Data that are too large to be said at once

extension EventStream {
  /// The text before the JSON of the first data.
  static let exportHead = Array("event: put\ndata: {\"path\":\"/\",\"data\":".utf8)
  private static let exportTail = Array("}\n\n".utf8)

  /// True while the first data are being sent: nothing else may be sent in between.
  var isExporting: Bool { stage == .exporting }

  /// The data at the beginning show everything up to a commit.
  mutating func exports(at version: UInt64) { self.version = version }

  /// The data at the beginning were said.
  mutating func exportEnded() -> [Output] {
    guard stage == .exporting else { return [] }
    stage = .open
    heldBytes = 0
    return [.send(Self.exportTail)] + exchange(&held, with: []).map { .send($0) }
  }
}
