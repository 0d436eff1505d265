import TernCore
import TernQuery

extension TreeClientMessage {
  /// Reads a frame.
  ///
  /// - Parameter frame: One whole frame. Its size was limited by the link.
  /// - Throws: ``WireError``; only ``WireError/request(_:_:)`` leaves the connection usable.
  /// - Complexity: O(*n*) in the bytes of the frame, which are read twice: once for the envelope,
  ///   and once for the body.
  public static func decode(_ frame: [UInt8]) throws(WireError) -> TreeClientMessage {
    if frame == [UInt8(ascii: "0")] { return .keepAlive }
    var envelope = try Envelope(frame)
    switch envelope.type {
    case "c": return try control(&envelope)
    case "d": return try request(&envelope)
    default: throw .malformed("a message of type \(envelope.type)")
    }
  }

  /// The number of the request in a frame, without reading its data; `nil` when there is none.
  ///
  /// A server rejects a frame by it whose data would take more memory than its client may hold.
  package static func requestNumber(of frame: [UInt8]) -> UInt64? {
    (try? Envelope(frame))?.request
  }

  /// - Throws: ``WireError/malformed(_:)`` for a letter that no client sends.
  private static func control(_ envelope: inout Envelope) throws(WireError) -> TreeClientMessage {
    switch envelope.control {
    case "p": return .ping
    case "o": return .open(try TreeOpening(try envelope.body?.wireValue() ?? .null))
    default: throw .malformed("a control message of type \(envelope.control)")
    }
  }

  /// Reads a request. Its number is known before its body is read, so a fault in the body is an
  /// answer to that request.
  ///
  /// - Throws: ``WireError/malformed(_:)`` without a number or an action.
  private static func request(_ envelope: inout Envelope) throws(WireError) -> TreeClientMessage {
    guard let id = envelope.request, let action = envelope.action else {
      throw .malformed("a request without r or a")
    }
    do throws(WireError.RequestError) {
      var body = RequestBody()
      if var reader = envelope.body { try body.read(&reader, action: action) }
      return .request(id, try body.request(action: action))
    } catch {
      throw .request(id, error)
    }
  }
}

extension TreeOpening {
  /// Reads an opening. A missing member keeps its default. An id that is no id ends the connection:
  /// taken for a missing one, its writes would lose their exactly-once guarantee.
  fileprivate init(_ value: JSONValue) throws(WireError) {
    self.init()
    if let version = value["v"]?.text { self.version = version }
    if let namespace = value["ns"]?.text { self.namespace = namespace }
    lastSession = value["ls"]?.text
    session = value["si"]?.text
    host = value["h"]?.text
    stream = try Self.id(value, "c")
    origin = try Self.id(value, "o")
  }
}

extension TreeOpening {
  /// - Throws: ``WireError/malformed(_:)`` with the name of the member, for a text that is no id.
  private static func id(_ value: JSONValue, _ name: String) throws(WireError) -> UInt128? {
    guard let text = value[name]?.text else { return nil }
    guard let id = StreamID.parse(text) else { throw .malformed(name) }
    return id
  }
}

/// The members of a request's body, before it is known which of them the action needs.
///
/// Members come in any order, and the action decides how `d` is read. The action stands outside of
/// the body, so it is known here.
private struct RequestBody {
  /// `p`: the location.
  private var path: TreePath?
  /// `q`: the query; everything by default.
  private var query: TreeQuery = .all
  /// `t`: the client's number for a filtered listen.
  private var tag: Int64?
  /// `d` of an action that sets a node.
  private var node: TreeNode?
  /// `d` of an action that sets several nodes.
  private var merge: TreeMerge?
  /// `h`: the hash of what the client has, or of what a conditional put expects.
  private var hash: String?
  /// `ch`: the hashes of ranges.
  private var compoundHash: TreeCompoundHash?
  /// `w` and `wa`: the idempotency data.
  private var mark = WriteHeader()
  /// Members that few actions need, as they came.
  private var others: [JSONValue.Member] = []

  /// - Parameter action: The action of the request, which decides how `d` is read.
  /// - Throws: ``WireError/RequestError``, about the first member that breaks a rule.
  mutating func read(_ reader: inout JSONReader, action: String) throws(WireError.RequestError) {
    var body = self
    try reader.members(orThrow: WireError.RequestError.json) {
      name, reader throws(WireError.RequestError) in
      do throws(TreeError) {
        if try body.readTree(name, &reader, action: action) { return }
      } catch {
        throw .tree(error)
      }
      let value: JSONValue
      do throws(JSONError) { value = try reader.value() } catch { throw .tree(.json(error)) }
      try body.readPlain(name, value)
    }
    self = body
  }

  /// Reads paths and data; `false` when the member is something else.
  ///
  /// They are read straight into their types, without generic JSON in between.
  private mutating func readTree(
    _ name: String, _ reader: inout JSONReader, action: String
  ) throws(TreeError) -> Bool {
    switch (name, action) {
    case ("p", _):
      let text: String
      let before = reader.loneSurrogates
      do throws(JSONError) { text = try reader.string() } catch { throw .json(error) }
      if reader.loneSurrogates > before { throw .invalidKey(text) }
      path = try TreePath(writable: text)
    case ("d", "p"), ("d", "o"):
      node = try TreeNode(reading: &reader)
    case ("d", "m"), ("d", "om"):
      merge = try reader.merge(.strict)
    default: return false
    }
    return true
  }

  /// Reads the members that are small. A `t`, `h` or `wa` of a wrong type is taken for a missing
  /// one; a `w` or `ch` of a wrong form is an error.
  private mutating func readPlain(
    _ name: String, _ value: JSONValue
  ) throws(WireError.RequestError) {
    switch name {
    case "q":
      do throws(TreeQueryError) { query = try TreeQuery(wire: value) } catch { throw .query(error) }
    case "t": tag = value.integer
    case "h": hash = value.text
    case "ch": compoundHash = try RequestBody.compoundHash(value)
    case "w": mark.stamp = try RequestBody.stamp(value)
    case "wa": mark.acknowledged = value.integer.map(UInt64.init(clamping:))
    default: others.append(JSONValue.Member(name, value))
    }
  }

  /// Reads `{"hs":[hash, …],"ps":[path, …]}`; the paths lie between the hashes, so there is one
  /// less.
  ///
  /// - Throws: ``WireError/RequestError/member(_:)`` for another form.
  private static func compoundHash(
    _ value: JSONValue
  ) throws(WireError.RequestError) -> TreeCompoundHash {
    guard case .array(let hashes) = value["hs"], case .array(let posts) = value["ps"],
      hashes.count == posts.count + 1
    else { throw .member("ch") }
    var paths: [TreePath] = []
    do throws(TreeError) {
      for post in posts { paths.append(try TreePath(writable: post.text ?? "")) }
    } catch {
      throw .tree(error)
    }
    return TreeCompoundHash(hashes: hashes.map { $0.text ?? "" }, posts: paths)
  }

  /// Reads a sequence, or `[writer id, sequence]`.
  ///
  /// - Throws: ``WireError/RequestError/member(_:)`` for another form. The write is then rejected,
  ///   because without its number it could be applied twice.
  private static func stamp(_ value: JSONValue) throws(WireError.RequestError)
    -> WriteIdempotencyKey
  {
    switch value {
    case .integer(let sequence) where sequence > 0:
      return WriteIdempotencyKey(sequence: UInt64(sequence))
    case .array(let parts) where parts.count == 2:
      guard let stream = parts[0].text.flatMap(StreamID.parse), let sequence = parts[1].integer,
        sequence > 0
      else { throw .member("w") }
      return WriteIdempotencyKey(stream: stream, sequence: UInt64(sequence))
    case .null, .bool, .integer, .double, .string, .array, .object: throw .member("w")
    }
  }
}

extension RequestBody {
  /// Makes the request out of the members that the action needs; others are ignored.
  ///
  /// - Throws: ``WireError/RequestError/member(_:)`` with the name of a missing member.
  func request(action: String) throws(WireError.RequestError) -> TreeRequest {
    switch action {
    case "q", "l":
      // `l` and `u` are the older names of `q` and `n`, from before listens had tags.
      return .listen(
        TreeListen(
          path: try requirePath(), query: query, tag: tag, hash: hash ?? "",
          compoundHash: compoundHash, leavesLargeData: member("ll") == .bool(true)))
    case "n", "u": return .unlisten(try requirePath(), query, tag: tag)
    case "p":
      return .put(try requirePath(), try require(node, "d"), expectedHash: hash, mark)
    case "m": return .merge(try requirePath(), try require(merge, "d"), mark)
    case "g": return .get(try requirePath(), query)
    case "o": return .onDisconnectSet(try requirePath(), try require(node, "d"))
    case "om": return .onDisconnectMerge(try requirePath(), try require(merge, "d"))
    case "oc": return .onDisconnectCancel(try requirePath())
    case "wo": return try outcomes()
    case "auth", "gauth": return .auth(try credential(action == "auth" ? .user : .service))
    case "unauth": return .unauth
    case "appcheck": return .appCheck(token: try require(member("token")?.text, "token"))
    case "unappeck": return .appCheck(token: nil)
    case "s": return .stats(member("c") ?? .object([]))
    default: return .unknown(action: action)
    }
  }

  /// Returns a member that was kept; of several, the last one.
  private func member(_ name: String) -> JSONValue? {
    others.last { $0.name == name }?.value
  }

  /// Returns the path, which the action needs.
  private func requirePath() throws(WireError.RequestError) -> TreePath {
    try require(path, "p")
  }

  /// - Throws: ``WireError/RequestError/member(_:)`` for a missing value.
  private func require<T>(_ value: T?, _ name: String) throws(WireError.RequestError) -> T {
    guard let value else { throw .member(name) }
    return value
  }

  /// Reads `{"c":writer id,"f":first,"l":last}`. A negative number counts as 0, which no write has.
  private func outcomes() throws(WireError.RequestError) -> TreeRequest {
    let first = try require(member("f")?.integer, "f")
    let last = try require(member("l")?.integer, "l")
    var stream: UInt128?
    if let text = member("c")?.text { stream = try require(StreamID.parse(text), "c") }
    return .outcomes(
      stream: stream, first: UInt64(clamping: first), last: UInt64(clamping: last))
  }

  /// Reads `{"cred":token,"authvar":claims,"noauth":true}`; the last two may be missing.
  private func credential(
    _ kind: TreeCredential.Kind
  ) throws(WireError.RequestError) -> TreeCredential {
    TreeCredential(
      kind, token: try require(member("cred")?.text, "cred"), override: member("authvar"),
      isUnauthenticated: member("noauth") == .bool(true))
  }
}
