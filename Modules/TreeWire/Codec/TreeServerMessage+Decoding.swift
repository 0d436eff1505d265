import TernCore
import TernQuery

extension TreeServerMessage {
  /// Reads a frame. Names this side does not know are skipped.
  ///
  /// Stock servers are read as well: members of our own may be missing from every message.
  ///
  /// - Parameter frame: One whole frame.
  /// - Throws: ``WireError``; the connection cannot be trusted any more then.
  public static func decode(_ frame: [UInt8]) throws(WireError) -> TreeServerMessage {
    var envelope = try Envelope(frame)
    if envelope.type == "c" { return try control(&envelope) }
    guard envelope.type == "d" else { throw .malformed("a message of type \(envelope.type)") }
    if let error = envelope.error { return .fatal(error) }
    if let action = envelope.action {
      guard var body = envelope.body else { throw .malformed("a push without b") }
      return try push(action, &body)
    }
    guard let id = envelope.request, var body = envelope.body else { return .unknown }
    return .response(id, try response(&body))
  }

  /// Reads a control message. A missing reason or host is an empty text. An unknown letter is
  /// skipped, for newer servers.
  private static func control(_ envelope: inout Envelope) throws(WireError) -> TreeServerMessage {
    let data = try envelope.body?.wireValue() ?? .null
    switch envelope.control {
    case "h": return .handshake(try TreeHandshake(data))
    case "r": return .redirect(host: data.text ?? "")
    case "s": return .shutdown(reason: data.text ?? "")
    case "e": return .error(data.text ?? "")
    case "o": return .pong
    case "i": return .inquiry
    default: return .unknown
    }
  }

  /// Reads `{"s":status,"d":payload,"v":version}`. The payload stays text: only the request that it
  /// answers tells its form. Without a status the request has failed.
  private static func response(_ reader: inout JSONReader) throws(WireError) -> TreeResponse {
    var response = TreeResponse(.failed)
    try reader.members(orThrow: WireError.json) { name, reader throws(WireError) in
      switch name {
      case "s": response.status = TreeStatus(rawValue: try reader.wireText())
      case "d": response.payload = try reader.wireRaw()
      case "v": response.version = try reader.wireNumber()
      default: try reader.wireSkip()
      }
    }
    return response
  }

  /// Reads the body of a push by its action. Data of servers are read tolerantly: a key that breaks
  /// today's rules may have been stored under older ones.
  private static func push(
    _ action: String, _ reader: inout JSONReader
  ) throws(WireError) -> TreeServerMessage {
    switch action {
    case "d":
      return .put(
        try push(&reader) { reader throws(TreeError) in try TreeNode(reading: &reader, .tolerant) })
    case "m":
      return .merge(
        try push(&reader) { reader throws(TreeError) in try reader.merge(.tolerant) })
    case "rm":
      return .rangeMerge(
        try push(&reader) { reader throws(TreeError) in try reader.rangeMerges() })
    case "c", "ac", "apc", "sd":
      return try notice(action, try reader.wireValue())
    default: return .unknown
    }
  }

  /// Reads `{"p":path,"d":content,"t":tag,"v":version}`.
  ///
  /// - Parameter read: Reads the content of the push.
  /// - Throws: ``WireError/malformed(_:)`` without path or content.
  private static func push<Content>(
    _ reader: inout JSONReader, _ read: (inout JSONReader) throws(TreeError) -> Content
  ) throws(WireError) -> TreePush<Content> {
    var path: TreePath?
    var content: Content?
    var tag: Int64?
    var version: UInt64?
    try reader.members(orThrow: WireError.json) { name, reader throws(WireError) in
      switch name {
      case "p": path = try reader.wirePath()
      case "d":
        do throws(TreeError) {
          content = try read(&reader)
        } catch {
          throw .malformed("the data of a push: \(error)")
        }
      case "t": tag = Int64(clamping: try reader.wireNumber())
      case "v": version = try reader.wireNumber()
      default: try reader.wireSkip()
      }
    }
    guard let path, let content else { throw .malformed("a push without p or d") }
    return TreePush(path: path, content, tag: tag, version: version)
  }

  /// Reads a push without data: `c` a revoked listen, `ac` revoked credentials, `apc` a revoked app
  /// check, `sd` a message for the log.
  private static func notice(
    _ action: String, _ body: JSONValue
  ) throws(WireError) -> TreeServerMessage {
    let status = TreeStatus(rawValue: body["s"]?.text ?? "")
    let detail = body["d"]?.text ?? ""
    switch action {
    case "ac": return .authRevoked(status, detail: detail)
    case "apc": return .appCheckRevoked(status, detail: detail)
    case "sd": return .trace(body["msg"]?.text ?? "")
    default: break
    }
    let path: TreePath
    do throws(TreeError) {
      path = try TreePath(body["p"]?.text ?? "")
    } catch {
      throw .malformed("the path of a revoked listen: \(error)")
    }
    // Stock servers send no status with a revoked listen: the rules are the only reason they have.
    let why = body["s"] == nil ? TreeStatus.permissionDenied : status
    guard case .array(let queries) = body["q"], let first = queries.first else {
      return .listenRevoked(path, .all, why, detail: detail)
    }
    do throws(TreeQueryError) {
      return .listenRevoked(path, try TreeQuery(wire: first), why, detail: detail)
    } catch {
      throw .malformed("the query of a revoked listen: \(error)")
    }
  }
}

extension TreeHandshake {
  /// - Throws: ``WireError/malformed(_:)`` without a time, or with one of 2⁵³ milliseconds and
  ///   more.
  fileprivate init(_ value: JSONValue) throws(WireError) {
    // Clients reckon with it: a number that is no time must not get further.
    guard let time = value["ts"]?.integer, time.magnitude < 1 << 53 else {
      throw .malformed("a handshake without ts")
    }
    self.init(
      time: time, version: value["v"]?.text ?? "", host: value["h"]?.text ?? "",
      session: value["s"]?.text ?? "", lastSequence: value["w"]?.integer.map(UInt64.init(clamping:))
    )
  }
}

extension JSONReader {
  /// Reads a value of any kind as its own text.
  ///
  /// The bytes are copied out of the frame, which is freed after it is read.
  fileprivate mutating func wireRaw() throws(WireError) -> [UInt8] {
    do throws(JSONError) { return text(in: try skip()) } catch { throw .json(error) }
  }

  fileprivate mutating func wirePath() throws(WireError) -> TreePath {
    let text = try wireText()
    do throws(TreeError) {
      return try TreePath(writable: text)
    } catch {
      throw .malformed("the path of a push: \(error)")
    }
  }

  /// Reads a list of range merges.
  fileprivate mutating func rangeMerges() throws(TreeError) -> [TreeRangeMerge] {
    var merges: [TreeRangeMerge] = []
    do throws(JSONError) { try beginArray() } catch { throw .json(error) }
    while true {
      do throws(JSONError) {
        guard try nextElement() else { return merges }
      } catch {
        throw .json(error)
      }
      merges.append(try rangeMerge())
    }
  }

  /// Reads `{"s":start,"e":end,"m":node}`. Start is exclusive and end inclusive; a missing one is
  /// open.
  private mutating func rangeMerge() throws(TreeError) -> TreeRangeMerge {
    var start: TreePath?
    var end: TreePath?
    var node = TreeNode.empty
    try members(orThrow: TreeError.json) { name, reader throws(TreeError) in
      switch name {
      case "s": start = try TreePath(writable: try reader.treeText())
      case "e": end = try TreePath(writable: try reader.treeText())
      case "m": node = try TreeNode(reading: &reader, .tolerant)
      default: do throws(JSONError) { try reader.skip() } catch { throw .json(error) }
      }
    }
    return TreeRangeMerge(start: start, end: end, node: node)
  }

  /// Reads a string for a reader that throws errors of the tree.
  private mutating func treeText() throws(TreeError) -> String {
    do throws(JSONError) { return try string() } catch { throw .json(error) }
  }
}
