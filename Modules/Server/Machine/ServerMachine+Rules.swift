import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTreeEngine
import TernTreeWire

// Rules that a database was given over the wire. They are stored with its data, and are in force
// before the answer to whoever gave them.
extension ServerMachine {
  /// Who decides about a database.
  func authorizer(of namespace: Namespace) -> any Authorizer {
    ownRules[namespace.key] ?? authorizer
  }

  /// Whether a query names an order that has an index, or needs none.
  func isIndexed(_ query: TreeQuery, at path: TreePath, in namespace: Namespace) -> Bool {
    authorizer(of: namespace).hasIndex(for: query.order, at: path)
  }

  /// What is missing for a query.
  static func indexText(_ query: TreeQuery, at path: TreePath) -> String {
    let index: String
    switch query.order {
    case .key: index = ".key"
    case .priority: index = ".priority"
    case .value: index = ".value"
    case .child(let child): index = child.text
    }
    return "Index not defined, add \".indexOn\": \"\(index)\", for path \"/\(path)\", to the rules"
  }

  /// Takes up the rules that were given in runs before.
  mutating func restoreRules(from snapshot: borrowing LedgerSnapshot) throws(StorageError) {
    var cursor = snapshot.cursor(over: KeyRange(prefix: StoreLayout.rules))
    while try cursor.next() {
      let name = cursor.key.extracting(StoreLayout.rules.count..<cursor.key.count)
      let text = [UInt8](copying: cursor.value)
      // They were compiled before they were stored; those that no longer can be allow nothing.
      let rules = (try? TreeRules(stored: text)) ?? Self.closed
      let database = ExactText(String(decoding: [UInt8](copying: name), as: UTF8.self))
      ownRules[database] = authorizer.judging(by: rules)
    }
  }

  /// Rules that grant nothing.
  private static let closed: TreeRules = {
    do throws(RulesFileError) { return try TreeRules(#"{"rules": {}}"#) } catch {
      preconditionFailure("rules that grant nothing are rules: \(error)")
    }
  }()

  /// What administrators ask about a database.
  mutating func manage(
    _ operation: DirectRequest.Operation, _ namespace: Namespace, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    switch operation {
    case .readRules: return .rules(try rulesText(of: namespace, batch))
    case .setRules(let text, let isTrial): return try setRules(text, isTrial, namespace, &batch)
    case .databases: return .databases(try databases(batch))
    case .readRevocations: return .revocations(revocations)
    case .revoke(let changes): return try revoke(changes, &batch)
    case .readSetting(let name):
      return .setting((settings[namespace.key] ?? DatabaseSettings())[name])
    case .set(let name, let value): return set(name, to: value, namespace, &batch)
    case .read, .readOrExport, .review, .mayWrite, .names, .write, .push:
      return .refused(.invalid("This is for nobody in particular."))
    }
  }

  private func rulesText(
    of namespace: Namespace, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> [UInt8] {
    let reader = batch.reader
    let key = StoreLayout.rules + namespace.name.utf8
    let stored = try Snapshot(reader).withValue(for: key.span) { [UInt8](copying: $0) }
    if let stored { return stored }
    if let rules = authorizer as? RulesAuthorizer { return rules.rules.text }
    return Array(#"{"rules": {".read": true, ".write": true}}"#.utf8)
  }

  private mutating func setRules(
    _ text: [UInt8], _ isTrial: Bool, _ namespace: Namespace, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    let rules: TreeRules
    do throws(RulesFileError) { rules = try TreeRules(text) } catch {
      return .refused(.invalid(error.description))
    }
    if isTrial { return .done }
    let mutations: [Mutation] = [.put(key: StoreLayout.rules + namespace.name.utf8, value: text)]
    do throws(StorageError) { try mutations.checkLimits() } catch {
      return .refused(.invalid(Self.excessText(error)))
    }
    batch.changes.apply(mutations)
    batch.add(Commit(mutations: mutations, record: []))
    ownRules[namespace.key] = authorizer.judging(by: rules)
    try judgeAgain({ $0.namespace?.key == namespace.key }, &batch)
    return .done
  }

  /// The most names that are told.
  private static let mostDatabases = 10_000

  private func firstKey(
    in range: KeyRange, _ view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [UInt8]? {
    var cursor = view.cursor(over: range, limit: 1)
    return try cursor.next() ? [UInt8](copying: cursor.key) : nil
  }

  private func databases(_ batch: borrowing ServerBatch) throws(StorageError) -> [String] {
    var names: [String] = []
    var range = KeyRange(prefix: StoreLayout.trees)
    let reader = batch.reader
    while names.count < Self.mostDatabases {
      guard let key = try firstKey(in: range, Snapshot(reader)) else { break }
      let name = key.dropFirst(StoreLayout.trees.count).prefix { $0 != 0 }
      names.append(String(decoding: name, as: UTF8.self))
      // On to the next name: behind everything that begins with this one and its end.
      guard let next = KeyRange.successor(ofPrefix: StoreLayout.trees + name + [0]) else { break }
      range.lower = next
    }
    return names
  }
}
