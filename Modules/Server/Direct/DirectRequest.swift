package import TernCore
package import TernQuery
package import TernSecurity

/// A request of somebody who keeps no session: one question and one answer.
///
/// It is decided in the batch it arrived in, by the same rules and commits as everybody's writes.
package struct DirectRequest: Sendable {
  /// The database asked for.
  package var namespace: String
  /// Whether it was made on this machine.
  package var isLocal: Bool
  /// Where it came from, without a port.
  package var address: String
  /// What shows who asks; `nil` for nobody.
  package var credential: Credential?
  /// How much a write may change; `nil` for what its database allows.
  package var sizeLimit: WriteSizeLimit?
  /// What is wanted.
  package var operation: Operation

  /// One thing to read or to write.
  package enum Operation: Sendable {
    /// What a query shows of a path.
    case read(TreePath, TreeQuery)
    /// Everything at a path, or word that it is too large to be read at once.
    case readOrExport(TreePath)
    /// Whether everything at a path may be read now: asked by the server itself, of those who read
    /// it already, and counted as nobody's request.
    case review(TreePath)
    /// Whether a write at a path is denied whatever its data: asked by the server itself before it
    /// parses them, and counted as nobody's request.
    case mayWrite(TreePath, isPush: Bool)
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
    /// What is set about this database.
    case readSetting(DatabaseSettings.Name)
    /// Sets something about this database.
    case set(DatabaseSettings.Name, JSONValue)
    /// The names of the databases that hold anything.
    case databases
    /// Whose tokens were revoked over the wire.
    case readRevocations
    /// Changes to that.
    case revoke([RevocationChange])
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

/// What became of a direct request.
package enum DirectAnswer: Sendable, Equatable {
  /// What was read, or what stands in the way of a conditional write.
  case node(TreeNode)
  /// What was asked for may be read, and is large: it is to be read piece by piece.
  case large
  /// The names that were read.
  case names([TreeKey])
  /// The write is stored; this is what it came to, its server values resolved.
  case written(TreeWrite)
  /// This is stored under this name, its server values resolved.
  case pushed(TreeKey, TreeNode)
  /// The text of rules.
  case rules([UInt8])
  /// What is set.
  case setting(JSONValue)
  /// Names of databases, in the order of their bytes.
  case databases([String])
  /// Whose tokens were revoked.
  case revocations(Revocations)
  /// It was done.
  case done
  /// Nothing was written, for these data are there.
  case stale(TreeNode)
  /// Nothing was done.
  case refused(DirectRefusal)
}

/// Why nothing was done.
package enum DirectRefusal: Error, Sendable, Equatable {
  /// The credential is not one this server accepts.
  case unauthenticated(String)
  /// The rules forbid it.
  case permissionDenied(AccessRefusal = AccessRefusal())
  /// The request breaks a rule of the model; the text says which.
  case invalid(String)
  /// The answer would be longer than one answer may be.
  case tooBig(limitBytes: Int)
  /// What is stored cannot be read.
  case damaged
  /// Whoever asks has asked too much of late. Try again later.
  case tooMany(RateExcess)
  /// The server serves nobody, and says why.
  case sentAway(ServerFarewell)
  /// The server cannot do it now. Try again.
  case unavailable(String)
}
