#if TCP
  import TernCore
  import TernDocumentJSON
  import TernDocumentWire

  /// Removes documents by calls of an administrator, so that listeners see each deletion.
  ///
  /// Rounds of one query and as many commits as its names take, until a query finds nothing.
  /// Documents that are written meanwhile may be found by a later round. It keeps itself alive
  /// as the receiver of its calls.
  final class DocumentEraser: DocumentCallReceiver {
    private let session: DocumentGatewaySession
    private let database: String
    private let path: [String]
    private let authorization: String
    private let onEnd: (DocumentStatus?) -> Void
    /// Names that the query of this round found and no commit deletes yet.
    private var names: [String] = []
    private var step = Step.finding

    private enum Step { case finding, deleting }

    /// The documents that one query finds, and those that one commit deletes.
    private static let foundLimit: Int64 = 10_000
    private static let deletedLimit = 500

    /// - Parameters:
    ///   - path: The document or collection to remove with everything below; empty for all.
    ///   - authorization: The credential of the administrator, as a header holds it.
    ///   - onEnd: Receives the end; `nil` for a good one.
    init(
      _ database: String, path: [String], in session: DocumentGatewaySession,
      authorization: String = "Bearer owner",
      onEnd: @escaping (DocumentStatus?) -> Void
    ) {
      self.database = database
      self.path = path
      self.authorization = authorization
      self.session = session
      self.onEnd = onEnd
    }

    func start() { find() }

    private var root: String { "\(database)/documents" }

    /// The name that everything to remove has or begins with.
    private var prefix: String { ([root] + path).joined(separator: "/") }

    /// Returns true for the name to remove and those below it, compared by their bytes: texts
    /// that Unicode takes for equivalent name different documents.
    private func isToRemove(_ name: String) -> Bool {
      name.hasSameBytes(as: prefix) || name.utf8.starts(with: (prefix + "/").utf8)
    }

    /// Begins a round: names of at most ``foundLimit`` documents from the start of the range.
    private func find() {
      step = .finding
      let selector = JSONValue.object([.init("allDescendants", .bool(true))])
      let names = JSONValue.object([
        .init("fields", .array([.object([.init("fieldPath", .string("__name__"))])]))
      ])
      var query: [JSONValue.Member] = [
        .init("from", .array([selector])), .init("select", names),
        .init("limit", .integer(Self.foundLimit)),
      ]
      if !path.isEmpty { query += bounds }
      call(.runQuery, .object([.init("structuredQuery", .object(query))]), named: "parent", root)
    }

    /// The bounds of the names to remove, as cursors.
    private var bounds: [JSONValue.Member] {
      func cursor(_ name: String) -> JSONValue {
        .object([
          .init("values", .array([.object([.init("referenceValue", .string(name))])])),
          .init("before", .bool(true)),
        ])
      }
      let order = JSONValue.object([
        .init("field", .object([.init("fieldPath", .string("__name__"))])),
        .init("direction", .string("ASCENDING")),
      ])
      // A collection has no name that a cursor could hold: its least document stands for it.
      let first = path.count.isMultiple(of: 2) ? prefix : "\(prefix)/\(Self.leastID)"
      return [.init("orderBy", .array([order])), .init("startAt", cursor(first))]
    }

    /// The id that sorts before all others: ids of numbers do, by their numbers.
    private static let leastID = "__id\(Int64.min)__"

    /// Deletes the next names. Each commit is at the limit of writes that stock servers have.
    private func delete() {
      step = .deleting
      let batch = names.prefix(Self.deletedLimit)
      names.removeFirst(batch.count)
      let writes = batch.map { JSONValue.object([.init("delete", .string($0))]) }
      call(.commit, .object([.init("writes", .array(writes))]), named: "database", database)
    }

    /// Begins a call with one message.
    ///
    /// - Parameters:
    ///   - member: The member of the message that names the resource.
    private func call(
      _ method: DocumentMethod, _ body: JSONValue, named member: String, _ resource: String
    ) {
      let members = JSONValue.object([.init(member, .string(resource))]).bytes
      do throws(MessageJSONError) {
        let message = try DocumentJSON.request(method, members: members, body: body.bytes)
        _ = session.begin(
          method.rawValue, metadata: [.init("authorization", authorization)], message: message,
          to: self)
      } catch {
        onEnd(DocumentStatus(.internalError, error.message))
      }
    }

    func callDidReceive(_ message: [UInt8]) {
      guard case .finding = step,
        let json = try? DocumentJSON.json(.response(.runQuery), binary: message),
        let name = (try? JSONValue(parsing: json))?["document"]?["name"]?.text,
        path.isEmpty || isToRemove(name)
      else { return }
      // The query has no upper bound, so names behind the range are left out here.
      names.append(name)
    }

    func callDidEnd(_ status: DocumentStatus?) {
      if let status { return onEnd(status) }
      if !names.isEmpty { return delete() }
      switch step {
      case .finding: onEnd(nil)
      // There may be more than one round found.
      case .deleting: find()
      }
    }
  }
#endif
