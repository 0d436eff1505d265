package import TernCore
package import TernQuery
package import TernSecurity

/// A request without a session: one question and one answer.
///
/// It is decided in the batch it arrived in, by the same rules and commits as all other writes.
package struct DirectRequest: Sendable {
  /// The database asked for.
  package var namespace: String
  /// True when it was made on this machine.
  package var isLocal: Bool
  /// The address of its origin, without a port.
  package var address: String
  /// The credential of the request; `nil` for anonymous ones.
  package var credential: Credential?
  /// The limit on a write's change; `nil` for the limit of its database.
  package var sizeLimit: WriteSizeLimit?
  /// The most bytes that are read for the answer; `nil` for the limit on such reads.
  var wholeBytes: Int?
  /// True when it came over a link for such requests: what the server itself would ask is a request
  /// then, too. Any client may open such a link.
  var isOverLink = false
  /// The requested operation.
  package var operation: Operation

  /// One thing to read or to write.
  package enum Operation: Sendable {
    /// Reads a query's result at a path.
    case read(TreePath, TreeQuery)
    /// Everything at a path, or word that it is too large to be read at once.
    case readOrExport(TreePath)
    /// Checks that everything at a path may still be read: requested by the server itself for
    /// present readers, and counted for no client unless a link brings it.
    case review(TreePath)
    /// Checks if a write at these paths is denied whatever its data: requested by the server itself
    /// before it parses them, and not counted as a request unless a link brings it.
    case mayWrite([TreePath])
    /// The same for a write below a path, under a new name.
    case mayPush(TreePath)
    /// The names of the children at a path, which lie behind `after`; or the leaf that is there.
    case names(TreePath, after: TreeKey?, limit: Int?)
    /// A write; with `expectedHash` only over data that have this hash, empty for no data.
    case write(TreeWrite, expectedHash: String?)
    /// A write below a path, under a new name that sorts behind all earlier ones.
    case push(TreePath, TreeNode)
    /// The text of the rules in force. For administrators, as are those that follow.
    case readRules
    /// Rules for this database, in the place of those of the server; or only a look at them.
    case setRules([UInt8], isTrial: Bool)
    /// Rules for the documents of the project or the database that the request names, `projects/P`
    /// or `projects/P/databases/D`, in the place of those of the server; or only a look at them.
    case setDocumentRules([UInt8], isTrial: Bool)
    /// Removes the rules that the database of documents named by the request was given for itself;
    /// those of its project or of the server are in force again.
    case removeDocumentRules
    /// Reads the results of the expressions of the rules of a project's default database, or of a
    /// database.
    case readRuleCoverage
    /// Reads a setting of this database.
    case readSetting(DatabaseSettings.Name)
    /// Sets something about this database.
    case set(DatabaseSettings.Name, JSONValue)
    /// The names of the databases that hold anything.
    case databases
    /// Nothing but the question if an administrator asks: for what is answered elsewhere, such as
    /// figures and backups.
    case administer
    /// Removes the data of the database, with the rules and the settings of its own.
    case removeDatabase
    /// Reads the revocations that were made over the wire.
    case readRevocations
    /// Changes to that.
    case revoke([RevocationChange])
    /// Asks about rules; answered with ``DirectAnswer/report(_:)`` or ``DirectAnswer/rules(_:)``.
    case rules(RulesRequest)
  }

  /// Asks for something.
  package init(
    namespace: String, isLocal: Bool, address: String = "", credential: Credential? = nil,
    sizeLimit: WriteSizeLimit? = nil, _ operation: Operation
  ) {
    self.sizeLimit = sizeLimit
    self.address = address
    self.namespace = namespace
    self.isLocal = isLocal
    self.credential = credential
    self.operation = operation
  }
}

/// One user whose tokens are to count no longer, or again.
package struct RevocationChange: Hashable, Sendable {
  /// Before when they were issued, in seconds since 1970.
  package enum Moment: Hashable, Sendable {
    case now
    case before(Int64)
    /// None are revoked.
    case never
  }

  package let user: String
  package let moment: Moment

  package init(_ user: String, _ moment: Moment) {
    self.user = user
    self.moment = moment
  }
}

/// The outcome of a direct request.
package enum DirectAnswer: Sendable, Equatable {
  /// The node that was read, or that fails the condition of a write.
  case node(TreeNode)
  /// The node may be read, and is large: it is to be read piece by piece.
  case large
  /// The names that were read.
  case names([TreeKey])
  /// The write is stored; this is what it came to, its server values resolved.
  case written(TreeWrite)
  /// This is stored under this name, its server values resolved.
  case pushed(TreeKey, TreeNode)
  /// The text of rules.
  case rules([UInt8])
  /// The results of expressions; `nil` when they are not counted.
  case coverage(DocumentRulesCoverage.Report?)
  /// The value of the setting.
  case setting(JSONValue)
  /// Names of databases, in the order of their bytes.
  case databases([String])
  /// The revoked tokens.
  case revocations(Revocations)
  /// The answer to a question, as JSON.
  case report(JSONValue)
  /// It was done.
  case done
  /// Nothing was written, for these data are there.
  case stale(TreeNode)
  /// Nothing was done.
  case refused(DirectRefusal)
}

/// The reason a direct request was rejected.
package enum DirectRefusal: Error, Sendable, Equatable {
  /// The credential is not one this server accepts.
  case unauthenticated(String)
  /// The rules forbid it.
  case permissionDenied(AccessRefusal = AccessRefusal())
  /// The request breaks a rule of the model; the text says which.
  case invalid(String)
  /// The answer would be longer than one answer may be.
  case tooBig(limitBytes: Int)
  /// The stored data is corrupt.
  case damaged
  /// The client exceeds its rate. Try again later.
  case tooMany(RateExcess)
  /// The server accepts no requests, and gives the reason.
  case sentAway(ServiceNotice)
  /// The server cannot do it now. Try again.
  case unavailable(String)
}
