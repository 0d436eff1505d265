import TernCore
import TernLedger
import TernSecurity
import TernStorage

/// The rules in force for documents: those of the whole server, and those of projects and databases
/// that were given rules of their own.
struct DocumentAuthorizers {
  /// Decides where a database has no rules of its own.
  private var base: any DocumentAuthorizer
  /// The rules of projects and databases that have rules of their own.
  private var ownRules = DocumentRulesTable()

  init(_ base: any DocumentAuthorizer) { self.base = base }

  /// The stored rules that could not be taken up.
  var unusableRules: [UnusableRules] { ownRules.unusable }

  /// The authorizer of a database.
  func authorizer(of database: DocumentDatabase) -> any DocumentAuthorizer {
    ownRules.authorizer(of: database) ?? base
  }

  /// The rules in force for a project or a database; `nil` when something other than rules decides.
  func rules(named name: String) -> DocumentRules? {
    if let own = ownRules.rules(named: name) { return own }
    guard let common = (base as? DocumentRulesAuthorizer)?.rules else { return nil }
    let id = DocumentDatabase(resourceName: name)?.databaseID ?? DocumentDatabase.defaultID
    return common.byDatabase[id] ?? common.common
  }

  /// The results of the expressions of a database's rules; `nil` when they are not counted.
  ///
  /// - Parameter name: The resource name of the database, or of a project for its default one.
  func coverage(of name: String) -> DocumentRulesCoverage.Report? {
    let parts = name.split(separator: "/").map(String.init)
    guard parts.count > 1 else { return nil }
    let id = parts.count > 3 ? parts[3] : DocumentDatabase.defaultID
    let database = DocumentDatabase(unchecked: parts[1], databaseID: id)
    return (authorizer(of: database) as? DocumentRulesAuthorizer)?.coverage(of: id)
  }

  /// Lets another authorizer decide where a database has no rules of its own.
  mutating func adopt(_ authorizer: any DocumentAuthorizer) {
    base = authorizer
    ownRules.adopt(authorizer)
  }

  /// Puts rules that were stored in force, for the project or the database of that name.
  ///
  /// - Returns: False when the text is not valid, and other rules are not in force now.
  mutating func adopt(_ text: [UInt8], for name: String) -> Bool {
    guard let rules = try? DocumentRules(source: text) else { return false }
    ownRules.set(rules, for: name, under: base)
    return true
  }

  /// Takes the rules of a project or a database out of force.
  ///
  /// - Returns: False when it had none of its own.
  mutating func removeRules(of name: String) -> Bool { ownRules.remove(name) }

  /// Restores the rules of projects and databases, in the place of those that were known.
  mutating func restore(from snapshot: borrowing LedgerSnapshot) throws(StorageError) {
    ownRules = DocumentRulesTable()
    try ownRules.restore(from: snapshot, under: base)
  }
}
