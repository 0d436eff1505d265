package import TernCore
import TernSecurity
import TernTreeWire

extension DirectFrame {
  /// The operations that nodes pass on, by the names they have in a head.
  enum OperationName: String {
    case write, push, setRules, setDocumentRules, removeDocumentRules, set, removeDatabase, revoke
    // Of these, only databases of other shards are asked for.
    case read, pieces, names, mayWrite, mayPush, readRules, readSetting, databases, rules
  }

  /// A frame with a request that only the node that leads its shard may decide.
  ///
  /// The request's origin is not part of it: the node that leads knows it from the link. A request
  /// that was not made on this machine says so, because its link may seem to come from here.
  ///
  /// Members of the head: `ns`, the database; `cred`, the credential; `size`, a limit on the write;
  /// `remote`; `op`, the operation, followed by its own members. Data, rules and settings are the
  /// tail.
  ///
  /// - Parameter form: The form of data in pieces; with ``DirectRequest/Operation/review(_:)``.
  /// - Throws: ``DirectFrameError/notCarried`` for other operations.
  package init(
    _ request: DirectRequest, _ number: UInt64, in form: TreeNode.JSONForm? = nil
  ) throws(DirectFrameError) {
    let operation = try EncodedOperation(request.operation, number, form)
    var members: [JSONValue.Member] = [.init("ns", .string(request.namespace))]
    if let credential = request.credential { members.append(.init("cred", credential.head)) }
    if let limit = request.sizeLimit { members.append(.init("size", .string(limit.rawValue))) }
    if !request.isLocal { members.append(.init("remote", .bool(true))) }
    members.append(.init("op", .string(operation.name.rawValue)))
    self.init(.request, number, members + operation.members, tail: operation.tail)
  }

  /// The request in the frame.
  ///
  /// - Parameters:
  ///   - isLocal: True when the link comes from this machine.
  ///   - address: The address of the link's other end, without a port.
  /// - Throws: ``DirectFrameError/malformed(_:)``, ``DirectFrameError/invalid(_:_:)``.
  /// - Complexity: O(*n*) in the bytes of the frame.
  package func request(
    isLocal: Bool, address: String
  ) throws(DirectFrameError) -> DirectRequest {
    try request(try operation(), isLocal, address)
  }

  /// The question whether the rules deny the write in the frame whatever its data; `nil` for other
  /// operations, and for a write whose paths cannot be read.
  ///
  /// - Complexity: O(*n*) in the bytes of the frame; builds no data.
  package func question(
    isLocal: Bool, address: String
  ) throws(DirectFrameError) -> DirectRequest? {
    let name = try operationName()
    guard name == .write || name == .push, let outline = WriteOutline(tail) else { return nil }
    let question: DirectRequest.Operation =
      name == .write ? .mayWrite(outline.paths) : .mayPush(outline.paths.first ?? .root)
    return try request(question, isLocal, address)
  }

  /// The memory that reading the tail takes, in bytes, about.
  package var weight: Int {
    switch try? operationName() {
    case .setRules, .setDocumentRules: tail.count
    default: JSONWeight.bytes(tail)
    }
  }

  private func request(
    _ operation: DirectRequest.Operation, _ isLocal: Bool, _ address: String
  ) throws(DirectFrameError) -> DirectRequest {
    let isLocal = isLocal && head["remote"] != .bool(true)
    var limit: WriteSizeLimit?
    if let text = head["size"]?.text {
      limit = WriteSizeLimit(rawValue: text)
      if limit == nil { throw .malformed("a size limit \(text.debugDescription)") }
    }
    let credential = try head["cred"].map { value throws(DirectFrameError) in
      try Credential(head: value, isLocal: isLocal)
    }
    return DirectRequest(
      namespace: try text("ns"), isLocal: isLocal, address: address, credential: credential,
      sizeLimit: limit, operation)
  }

  private func operationName() throws(DirectFrameError) -> OperationName {
    let text = try text("op")
    guard let name = OperationName(rawValue: text) else {
      throw .malformed("an operation \(text.debugDescription)")
    }
    return name
  }

  /// Reads the operation of a request.
  ///
  /// The tail is parsed here, so a large frame is read beside the executor.
  private func operation() throws(DirectFrameError) -> DirectRequest.Operation {
    switch try operationName() {
    case .write: return .write(try tailWrite(), expectedHash: head["hash"]?.text)
    case .push:
      guard case .set(let path, let node) = try tailWrite() else {
        throw .malformed("an update under a new name")
      }
      return .push(path, node)
    case .setRules: return .setRules(tail, isTrial: head["trial"] == .bool(true))
    case .setDocumentRules: return .setDocumentRules(tail, isTrial: head["trial"] == .bool(true))
    case .removeDocumentRules: return .removeDocumentRules
    case .set:
      return .set(try settingName(), try tailValue())
    case .removeDatabase: return .removeDatabase
    case .revoke: return .revoke(try revocations())
    case .read, .pieces, .names, .mayWrite, .mayPush, .readRules, .readSetting, .databases,
      .rules:
      return try question(operationName())
    }
  }

  /// The setting that the head names.
  func settingName() throws(DirectFrameError) -> DatabaseSettings.Name {
    let text = try text("setting")
    guard let name = DatabaseSettings.Name(rawValue: text) else {
      throw .malformed("a setting \(text.debugDescription)")
    }
    return name
  }

  /// Reads the tail as a write: a put or a merge in the dialect of the tree.
  ///
  /// The number in the tail repeats that of the frame and is not checked. A write's own number and
  /// expected hash do not travel in the tail.
  func tailWrite() throws(DirectFrameError) -> TreeWrite {
    let message: TreeClientMessage
    do throws(WireError) { message = try TreeClientMessage.decode(tail) } catch {
      switch error {
      case .request(_, let reason): throw .invalid(number, reason.text)
      case .json(let error): throw .invalid(number, "Invalid data: \(error).")
      case .malformed(let what): throw .malformed("\(what) in the place of a write")
      }
    }
    switch message {
    case .request(_, .put(let path, let node, _, _)): return .set(path, node)
    case .request(_, .merge(let path, let merge, _)): return .merge(path, merge)
    default: throw .malformed("another message in the place of a write")
    }
  }

  /// Reads the tail as changes of revocations.
  ///
  /// Each item is a pair of a user and a moment. A user who is named twice is rejected, because the
  /// outcome would depend on the order.
  private func revocations() throws(DirectFrameError) -> [RevocationChange] {
    guard case .array(let items) = try tailValue(), items.count <= Revocations.most else {
      throw .malformed("no revocations")
    }
    var users: Set<ExactText> = []
    // The user of the revocation before, if that has a moment in seconds.
    var dated: String?
    return try items.map { item throws(DirectFrameError) in
      guard case .array(let parts) = item, parts.count == 2, let user = parts[0].text,
        (1...Revocations.userBytes).contains(user.utf8.count),
        users.insert(ExactText(user)).inserted || parts[1] == .bool(true) && dated == user
      else { throw .malformed("a revocation of no user") }
      dated = nil
      if case .integer = parts[1] { dated = user }
      switch parts[1] {
      case .bool(true): return RevocationChange(user, .now)
      case .integer(let seconds) where seconds >= 0:
        return RevocationChange(user, .before(seconds))
      case .null: return RevocationChange(user, .never)
      case .bool, .integer, .double, .string, .array, .object:
        throw .malformed("a revocation without a moment")
      }
    }
  }
}

extension TreeWrite {
  /// The write as a request in the dialect of the tree.
  func tail(_ number: UInt64) -> [UInt8] {
    switch self {
    case .set(let path, let node):
      TreeClientMessage.request(number, .put(path, node, expectedHash: nil, .none)).encode()
    case .merge(let path, let merge):
      TreeClientMessage.request(number, .merge(path, merge, .none)).encode()
    }
  }
}

/// An operation in the form of a frame.
///
/// - Throws: ``DirectFrameError/notCarried`` for a `review` without a form, and for all that
///   ``DirectRequest/Operation/question(_:)`` rejects.
private struct EncodedOperation {
  var name: DirectFrame.OperationName
  var members: [JSONValue.Member] = []
  var tail: [UInt8] = []

  init(
    _ operation: DirectRequest.Operation, _ number: UInt64, _ form: TreeNode.JSONForm?
  ) throws(DirectFrameError) {
    switch operation {
    case .review(let path):
      guard let form else { throw .notCarried }
      name = .pieces
      members = [
        .init("path", .string(path.text)),
        .init("form", .string(form == .export ? "export" : "value")),
      ]
    case .write(let write, let hash):
      name = .write
      if let hash { members = [.init("hash", .string(hash))] }
      tail = write.tail(number)
    case .push(let path, let node):
      name = .push
      tail = TreeWrite.set(path, node).tail(number)
    case .setRules(let text, let isTrial):
      name = .setRules
      (members, tail) = (Self.trial(isTrial), text)
    case .setDocumentRules(let text, let isTrial):
      name = .setDocumentRules
      (members, tail) = (Self.trial(isTrial), text)
    case .removeDocumentRules: name = .removeDocumentRules
    case .set(let setting, let value):
      name = .set
      members = [.init("setting", .string(setting.rawValue))]
      tail = value.bytes
    case .removeDatabase: name = .removeDatabase
    case .revoke(let changes):
      name = .revoke
      tail = JSONValue.array(changes.map(\.json)).bytes
    case .read, .readOrExport, .mayWrite, .mayPush, .names, .readRules,
      .readRuleCoverage, .readSetting, .databases, .administer, .readRevocations, .rules:
      (name, members, tail) = try operation.question(number)
    }
  }

  private static func trial(_ isTrial: Bool) -> [JSONValue.Member] {
    isTrial ? [.init("trial", .bool(true))] : []
  }
}

extension RevocationChange {
  /// The change as a pair: the user, and `true` for now, seconds since 1970, or null for never.
  fileprivate var json: JSONValue {
    let moment: JSONValue =
      switch self.moment {
      case .now: .bool(true)
      case .before(let seconds): .integer(seconds)
      case .never: .null
      }
    return .array([.string(user), moment])
  }
}

extension Credential {
  /// The credential without its origin.
  fileprivate var head: JSONValue {
    var members: [JSONValue.Member] = [
      .init("kind", .string(kind == .user ? "user" : "service")), .init("token", .string(token)),
    ]
    if let override { members.append(.init("override", override)) }
    return .object(members)
  }

  /// Reads a credential from the head of a request.
  ///
  /// The credential counts as local only if its link is, whatever the sender claims.
  fileprivate init(head: JSONValue, isLocal: Bool) throws(DirectFrameError) {
    let kind: Kind
    switch head["kind"]?.text {
    case "user": kind = .user
    case "service": kind = .service
    default: throw .malformed("a credential of no kind")
    }
    guard let token = head["token"]?.text else { throw .malformed("a credential without a token") }
    let override = head["override"]
    switch override {
    case .object, .null, nil: break
    default: throw .malformed("a credential for another user that is no object")
    }
    self.init(kind, token: token, override: override, isLocal: isLocal)
  }
}
