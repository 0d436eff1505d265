import TernCore
import TernLedger
import TernSecurity
import TernStorage

/// The rules of projects and databases that were given rules of their own over the wire.
///
/// They are stored with the data, and are in force before the answer.
struct DocumentRulesTable {
  private struct Entry {
    let rules: DocumentRules
    let authorizer: any DocumentAuthorizer
  }

  private var entries: [ExactText: Entry] = [:]
  /// The stored rules that could not be taken up; in their place nothing is allowed.
  private(set) var unusable: [UnusableRules] = []

  /// The authorizer of a database: its own or its project's; `nil` when it has neither.
  func authorizer(of database: DocumentDatabase) -> (any DocumentAuthorizer)? {
    if entries.isEmpty { return nil }
    let entry =
      entries[ExactText(database.resourceName)]
      ?? entries[ExactText(Self.name(ofProject: database.projectID))]
    return entry?.authorizer
  }

  /// The rules that a project or a database has of its own, by its name.
  func rules(named name: String) -> DocumentRules? {
    if let entry = entries[ExactText(name)] { return entry.rules }
    guard let database = DocumentDatabase(resourceName: name) else { return nil }
    return entries[ExactText(Self.name(ofProject: database.projectID))]?.rules
  }

  /// The name under which the rules of a whole project are kept.
  static func name(ofProject id: String) -> String { "projects/" + id }

  /// Puts rules in force under the name of a project or a database.
  mutating func set(_ rules: DocumentRules, for name: String, under base: any DocumentAuthorizer) {
    entries[ExactText(name)] = Entry(rules: rules, authorizer: base.judging(by: rules))
  }

  /// Takes the rules of a project or a database out of force.
  ///
  /// - Returns: False when it had none of its own.
  mutating func remove(_ name: String) -> Bool {
    entries.removeValue(forKey: ExactText(name)) != nil
  }

  /// Lets denials be reported where another authorizer reports its own.
  mutating func adopt(_ base: any DocumentAuthorizer) {
    entries = entries.mapValues { Entry(rules: $0.rules, authorizer: base.judging(by: $0.rules)) }
  }

  /// Takes up the rules that were given in runs before.
  mutating func restore(
    from snapshot: borrowing LedgerSnapshot, under base: any DocumentAuthorizer
  ) throws(StorageError) {
    var cursor = snapshot.cursor(over: KeyRange(prefix: StoreLayout.documentRules))
    while try cursor.next() {
      let key = [UInt8](copying: cursor.key).dropFirst(StoreLayout.documentRules.count)
      let name = String(decoding: key, as: UTF8.self)
      var rules = Self.closed
      do throws(DocumentRulesError) {
        rules = try DocumentRules(source: [UInt8](copying: cursor.value))
      } catch {
        // They were valid when they were stored; a later version may have stricter limits.
        unusable.append(UnusableRules(database: name, problem: error.description))
      }
      set(rules, for: name, under: base)
    }
  }

  /// Rules that grant nothing.
  static let closedSource = "service \(DocumentRules.serviceName) { }"

  private static let closed: DocumentRules = {
    do throws(DocumentRulesError) { return try DocumentRules(source: closedSource) } catch {
      preconditionFailure("rules that grant nothing are rules: \(error)")
    }
  }()

  /// Stores rules for the next run.
  static func store(
    _ text: [UInt8], _ isTrial: Bool, for name: String, _ batch: inout ServerBatch
  ) -> DirectAnswer {
    do throws(DocumentRulesError) { _ = try DocumentRules(source: text) } catch {
      return .refused(.invalid(error.description))
    }
    if isTrial { return .done }
    let mutations: [Mutation] = [.put(key: StoreLayout.documentRules + name.utf8, value: text)]
    do throws(StorageError) { try mutations.checkLimits() } catch {
      return .refused(.invalid(RefusalText.excess(error)))
    }
    batch.commit(mutations)
    return .done
  }

  /// Removes stored rules.
  static func remove(_ name: String, _ batch: inout ServerBatch) {
    batch.commit([.remove(KeyRange(only: StoreLayout.documentRules + name.utf8))])
  }
}
