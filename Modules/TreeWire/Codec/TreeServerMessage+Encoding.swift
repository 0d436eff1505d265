package import TernCore
import TernQuery

extension TreeServerMessage {
  /// The frame: JSON text in UTF-8.
  ///
  /// That of a push depends on nothing but the push, so that it can be sent to many.
  public func encode() -> [UInt8] { encode(capacity: 0) }

  /// The frame, with room for so many bytes of data reserved.
  ///
  /// - Parameter data: About the bytes of the content of a push; 0 when it is small or unknown. The
  ///   buffer then grows by copies.
  package func encode(capacity data: Int) -> [UInt8] {
    var capacity = Self.envelopeBytes + data
    if case .response(_, let response) = self { capacity += response.payload.count }
    var writer = JSONWriter(capacity: capacity)
    switch self {
    case .handshake(let handshake): writer.control("h") { handshake.write(to: &$0) }
    case .redirect(let host): writer.control("r") { $0.string(host) }
    case .shutdown(let reason): writer.control("s") { $0.string(reason) }
    case .error(let text): writer.control("e") { $0.string(text) }
    case .pong: writer.control("o") { $0.null() }
    case .inquiry: writer.control("i") { $0.null() }
    case .response(let id, let response):
      writer.data { writer in
        writer.member("r", id)
        writer.key("b")
        response.write(to: &writer)
      }
    case .put(let push): writer.push("d", push) { $0.node($1) }
    case .merge(let push): writer.push("m", push) { $0.merge($1) }
    case .rangeMerge(let push): writer.push("rm", push) { $0.rangeMerges($1) }
    case .listenRevoked(let path, let query, let status, let detail):
      writer.revoke(path, query, status, detail)
    case .authRevoked(let status, let detail): writer.revoke("ac", status, detail)
    case .appCheckRevoked(let status, let detail): writer.revoke("apc", status, detail)
    case .trace(let text):
      writer.push("sd") { $0.member("msg", text) }
    case .fatal(let text):
      writer.data { $0.member("error", text) }
    case .unknown: writer.data { _ in }
    }
    return writer.bytes
  }

  /// The room for a message without its data.
  ///
  /// A long path does not fit, and makes the buffer grow.
  private static let envelopeBytes = 256

  /// Returns the frame of a response with data, whose text is written once and not copied.
  ///
  /// It equals that of ``response(_:_:)`` with ``TreeResponse/data(_:)``.
  ///
  /// The caller knows the limit of an answer before the text exists. A text that turns out longer
  /// is dropped after it was written, so the limit bounds what is sent, not the memory of the
  /// moment.
  ///
  /// - Parameters:
  ///   - limitBytes: The most bytes of the data's text.
  ///   - capacity: The bytes of text that room is reserved for.
  /// - Returns: `nil` when the text is longer.
  package static func response(
    _ id: UInt64, with node: TreeNode, limitBytes: Int, capacity: Int = 0
  ) -> [UInt8]? {
    var writer = JSONWriter(capacity: envelopeBytes + capacity)
    var count = 0
    writer.data { writer in
      writer.member("r", id)
      writer.key("b")
      writer.beginObject()
      writer.member("s", TreeStatus.ok.rawValue)
      let before = writer.bytes.count
      writer.node(node)
      // The member's comma, name and colon are not part of the data.
      count = writer.bytes.count - before - #","d":"#.utf8.count
      writer.endObject()
    }
    return count > limitBytes ? nil : writer.bytes
  }
}

extension TreeHandshake {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("ts", time)
    writer.member("v", version)
    writer.member("h", host)
    writer.member("s", session)
    if let lastSequence { writer.member("w", lastSequence) }
    writer.endObject()
  }
}

extension TreeResponse {
  /// Writes the body of a response. A payload is JSON already and is copied as it is.
  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("s", status.rawValue)
    writer.key("d")
    writer.raw(payload)
    if let version { writer.member("v", version) }
    writer.endObject()
  }
}

extension JSONWriter {
  /// Writes a push around the members of its body.
  fileprivate mutating func push(_ action: String, _ body: (inout JSONWriter) -> Void) {
    data { writer in
      writer.member("a", action)
      writer.key("b")
      writer.beginObject()
      body(&writer)
      writer.endObject()
    }
  }

  /// Writes a push with a path, its content, and the tag and version that it has.
  fileprivate mutating func push<Content>(
    _ action: String, _ push: TreePush<Content>, _ content: (inout JSONWriter, Content) -> Void
  ) {
    self.push(action) { writer in
      writer.member("p", push.path.text)
      content(&writer, push.content)
      if let tag = push.tag { writer.member("t", tag) }
      if let version = push.version { writer.member("v", version) }
    }
  }

  /// Writes the member `d` with a list of range merges.
  fileprivate mutating func rangeMerges(_ merges: [TreeRangeMerge]) {
    key("d")
    beginArray()
    for merge in merges {
      beginObject()
      if let start = merge.start { member("s", start.text) }
      if let end = merge.end { member("e", end.text) }
      key("m")
      merge.node.write(to: &self, .export)
      endObject()
    }
    endArray()
  }

  /// Writes the end of a listen. The standard message has neither status nor detail. They are
  /// written only when they say more than that the rules deny the listen, so stock clients see what
  /// they know.
  fileprivate mutating func revoke(
    _ path: TreePath, _ query: TreeQuery, _ status: TreeStatus, _ detail: String
  ) {
    push("c") { writer in
      writer.member("p", path.text)
      if !query.loadsAllData {
        writer.key("q")
        writer.beginArray()
        query.write(to: &writer)
        writer.endArray()
      }
      if status != .permissionDenied { writer.member("s", status.rawValue) }
      if !detail.isEmpty { writer.member("d", detail) }
    }
  }

  /// Writes the end of a credential.
  fileprivate mutating func revoke(_ action: String, _ status: TreeStatus, _ detail: String) {
    push(action) { writer in
      writer.member("s", status.rawValue)
      writer.member("d", detail)
    }
  }
}
