import TernCore
import TernQuery
import TernTreeWire

// Operations that change nothing. Nodes that follow answer them from their copies; those about
// databases of other shards are passed on.
extension DirectRequest.Operation {
  /// The operation in the form of a frame.
  ///
  /// - Returns: The name, the members for the head, and the tail.
  /// - Throws: ``DirectFrameError/notCarried`` for what changes something, and for what each node
  ///   answers itself.
  func question(
    _ number: UInt64
  ) throws(DirectFrameError) -> (DirectFrame.OperationName, [JSONValue.Member], [UInt8]) {
    switch self {
    case .read(let path, let query):
      return (.read, [], TreeClientMessage.request(number, .get(path, query)).encode())
    case .readOrExport(let path):
      // Whole, or word that it is to be asked for in pieces.
      let members = [JSONValue.Member("pieces", .bool(true))]
      return (.read, members, TreeClientMessage.request(number, .get(path, .all)).encode())
    case .names(let path, let after, let limit):
      var members = [JSONValue.Member("path", .string(path.text))]
      if let after { members.append(.init("after", .string(after.text))) }
      if let limit { members.append(.init("limit", .integer(Int64(clamping: limit)))) }
      return (.names, members, [])
    case .mayWrite(let paths):
      return (.mayWrite, [], JSONValue.array(paths.map { .string($0.text) }).bytes)
    case .mayPush(let path): return (.mayPush, [.init("path", .string(path.text))], [])
    case .readRules: return (.readRules, [], [])
    case .readSetting(let setting):
      return (.readSetting, [.init("setting", .string(setting.rawValue))], [])
    case .databases: return (.databases, [], [])
    case .rules(.readDocuments): return (.rules, [], [])
    case .rules(.explain(let question)): return (.rules, [], question.json.bytes)
    case .rules(.check), .review, .readRuleCoverage, .administer, .readRevocations, .write, .push,
      .setRules, .setDocumentRules, .removeDocumentRules, .set, .removeDatabase, .revoke:
      throw .notCarried
    }
  }
}

extension DirectFrame {
  /// The operation in the frame, one that changes nothing.
  ///
  /// - Throws: ``DirectFrameError/malformed(_:)`` for a frame that breaks the protocol;
  ///   ``DirectFrameError/invalid(_:_:)`` for paths, keys and queries that break a rule of the
  ///   model. The former ends the link, the latter only the request.
  func question(_ name: OperationName) throws(DirectFrameError) -> DirectRequest.Operation {
    switch name {
    case .read:
      let read = try tailRead()
      guard case .read(let path, let query) = read, query == .all, head["pieces"] == .bool(true)
      else { return read }
      return .readOrExport(path)
    case .pieces: return .review(try path(text("path")))
    case .names:
      let limit = try head["limit"].map { _ throws(DirectFrameError) in
        Int(clamping: try integer("limit"))
      }
      let after = try head["after"].map { _ throws(DirectFrameError) in try key("after") }
      return .names(try path(text("path")), after: after, limit: limit)
    case .mayWrite:
      guard case .array(let items) = try tailValue() else { throw .malformed("no paths") }
      return .mayWrite(
        try items.map { item throws(DirectFrameError) in
          guard let text = item.text else { throw .malformed("a path that is no text") }
          return try path(text)
        })
    case .mayPush: return .mayPush(try path(text("path")))
    case .readRules: return .readRules
    case .readSetting: return .readSetting(try settingName())
    case .databases: return .databases
    case .rules:
      if tail.isEmpty { return .rules(.readDocuments) }
      guard let question = RulesQuestion(try tailValue()) else { throw .malformed("no question") }
      return .rules(.explain(question))
    case .write, .push, .setRules, .setDocumentRules, .removeDocumentRules, .set, .removeDatabase,
      .revoke:
      throw .malformed("an operation that changes something")
    }
  }

  private func tailRead() throws(DirectFrameError) -> DirectRequest.Operation {
    let message: TreeClientMessage
    do throws(WireError) { message = try TreeClientMessage.decode(tail) } catch {
      if case .request(_, let reason) = error { throw .invalid(number, reason.text) }
      throw .malformed("no read")
    }
    guard case .request(_, .get(let path, let query)) = message else {
      throw .malformed("another message in the place of a read")
    }
    return .read(path, query)
  }

  private func path(_ text: String) throws(DirectFrameError) -> TreePath {
    do throws(TreeError) { return try TreePath(text) } catch { throw .invalid(number, error.text) }
  }

  private func key(_ name: String) throws(DirectFrameError) -> TreeKey {
    let text = try text(name)
    do throws(TreeError) { return try TreeKey(text) } catch {
      throw .invalid(number, error.text)
    }
  }
}

extension RulesQuestion {
  fileprivate var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init("language", .string(language.rawValue)), .init("operation", .string(operation)),
      .init("path", .string(path)), .init("auth", auth), .init("value", value),
    ]
    if let rules {
      members.append(.init("rules", .string(String(decoding: rules, as: UTF8.self))))
    }
    return .object(members)
  }

  fileprivate init?(_ json: JSONValue) {
    guard let language = json["language"]?.text.flatMap(RulesLanguage.init(rawValue:)),
      let operation = json["operation"]?.text, let path = json["path"]?.text
    else { return nil }
    self.init(
      language, rules: json["rules"]?.text.map { Array($0.utf8) }, operation: operation,
      path: path, auth: json["auth"] ?? .null, value: json["value"] ?? .null)
  }
}
