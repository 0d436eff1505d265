import TernCore
import TernQuery

extension TreeClientMessage {
  /// The frame: JSON text in UTF-8.
  ///
  /// Members have a fixed order: `t`, `d`, and in it `r`, `a`, `b`.
  /// ``TreeFrameHead/init(beforeDataOf:)`` relies on it to find the head of a large frame.
  public func encode() -> [UInt8] {
    var writer = JSONWriter(capacity: 256)
    switch self {
    case .keepAlive: return Array("0".utf8)
    case .ping: writer.control("p") { $0.emptyObject() }
    case .open(let opening): writer.control("o") { opening.write(to: &$0) }
    case .request(let id, let request):
      writer.data { writer in
        writer.key("r")
        writer.integer(id)
        writer.key("a")
        writer.string(request.action)
        writer.key("b")
        request.writeBody(to: &writer)
      }
    }
    return writer.bytes
  }
}

extension TreeOpening {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("v", version)
    writer.member("ns", namespace)
    if let stream { writer.member("c", StreamID.text(stream)) }
    if let origin { writer.member("o", StreamID.text(origin)) }
    if let lastSession { writer.member("ls", lastSession) }
    if let session { writer.member("si", session) }
    if let host { writer.member("h", host) }
    writer.endObject()
  }
}

extension TreeRequest {
  /// The name of the action on the wire.
  ///
  /// The older names of listens are read and never written.
  public var action: String {
    switch self {
    case .listen: "q"
    case .unlisten: "n"
    case .put: "p"
    case .merge: "m"
    case .get: "g"
    case .onDisconnectSet: "o"
    case .onDisconnectMerge: "om"
    case .onDisconnectCancel: "oc"
    case .outcomes: "wo"
    case .auth(let credential): credential.kind == .user ? "auth" : "gauth"
    case .unauth: "unauth"
    case .appCheck(let token): token == nil ? "unappeck" : "appcheck"
    case .stats: "s"
    case .unknown(let action): action
    }
  }

  /// Writes the object `b`. Where there is a path, it comes first.
  fileprivate func writeBody(to writer: inout JSONWriter) {
    writer.beginObject()
    switch self {
    case .listen(let listen): listen.write(to: &writer)
    case .unlisten(let path, let query, let tag):
      writer.path(path)
      writer.query(query, tag)
    case .put(let path, let node, let expectedHash, let mark):
      writer.path(path)
      writer.node(node)
      if let expectedHash { writer.member("h", expectedHash) }
      mark.write(to: &writer)
    case .merge(let path, let merge, let mark):
      writer.path(path)
      writer.merge(merge)
      mark.write(to: &writer)
    case .get(let path, let query):
      writer.path(path)
      writer.key("q")
      query.write(to: &writer)
    case .onDisconnectSet(let path, let node):
      writer.path(path)
      writer.node(node)
    case .onDisconnectMerge(let path, let merge):
      writer.path(path)
      writer.merge(merge)
    case .onDisconnectCancel(let path):
      writer.path(path)
      writer.node(.empty)
    case .outcomes(let stream, let first, let last):
      if let stream { writer.member("c", StreamID.text(stream)) }
      writer.member("f", first)
      writer.member("l", last)
    case .auth(let credential): credential.write(to: &writer)
    case .appCheck(.some(let token)): writer.member("token", token)
    case .stats(let counters):
      writer.key("c")
      writer.value(counters)
    case .unauth, .appCheck(.none), .unknown: break
    }
    writer.endObject()
  }
}

extension TreeListen {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.path(path)
    writer.query(query, tag)
    writer.member("h", hash)
    if leavesLargeData {
      writer.key("ll")
      writer.bool(true)
    }
    guard let compoundHash else { return }
    writer.key("ch")
    writer.beginObject()
    writer.key("hs")
    writer.beginArray()
    for hash in compoundHash.hashes { writer.string(hash) }
    writer.endArray()
    writer.key("ps")
    writer.beginArray()
    for post in compoundHash.posts { writer.string(post.text) }
    writer.endArray()
    writer.endObject()
  }
}

extension TreeCredential {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("cred", token)
    if let override {
      writer.key("authvar")
      writer.value(override)
    }
    if isUnauthenticated {
      writer.key("noauth")
      writer.bool(true)
    }
  }
}

extension WriteHeader {
  fileprivate func write(to writer: inout JSONWriter) {
    if let stamp {
      writer.key("w")
      if let stream = stamp.stream {
        writer.beginArray()
        writer.string(StreamID.text(stream))
        writer.integer(stamp.sequence)
        writer.endArray()
      } else {
        writer.integer(stamp.sequence)
      }
    }
    if let acknowledged { writer.member("wa", acknowledged) }
  }
}
