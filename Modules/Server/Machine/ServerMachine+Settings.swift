import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTreeEngine

// What administrators choose about a database besides its rules.
extension ServerMachine {
  /// Takes up the settings that were made in runs before.
  mutating func restoreSettings(from snapshot: borrowing LedgerSnapshot) throws(StorageError) {
    var cursor = snapshot.cursor(over: KeyRange(prefix: StoreLayout.settings))
    while try cursor.next() {
      let name = cursor.key.extracting(StoreLayout.settings.count..<cursor.key.count)
      guard let json = try? JSONValue(parsing: [UInt8](copying: cursor.value)) else { continue }
      let database = ExactText(String(decoding: [UInt8](copying: name), as: UTF8.self))
      settings[database] = DatabaseSettings(json)
    }
  }

  /// Makes a setting, for good.
  mutating func set(
    _ name: DatabaseSettings.Name, to value: JSONValue, _ namespace: Namespace,
    _ batch: inout ServerBatch
  ) -> DirectAnswer {
    var changed = settings[namespace.key] ?? DatabaseSettings()
    guard changed.set(name, to: value) else {
      return .refused(.invalid("\(name.rawValue) has no such value."))
    }
    let key = StoreLayout.settings + namespace.name.utf8
    let mutations: [Mutation] = [.put(key: key, value: changed.json.bytes)]
    do throws(StorageError) { try mutations.checkLimits() } catch {
      return .refused(.invalid(Self.excessText(error)))
    }
    batch.changes.apply(mutations)
    batch.add(Commit(mutations: mutations, record: []))
    settings[namespace.key] = changed
    return .setting(changed[name])
  }

  /// Whether a write changes more than it may: what it brings, and what is there now.
  ///
  /// The size of data that the requester may not read does not count, because the answer would
  /// tell it.
  /// - Parameter limit: What the write says itself; `nil` for what its database says.
  func isTooLarge(
    _ write: TreeWrite, _ limit: WriteSizeLimit?, _ requester: Requester, _ namespace: Namespace,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Bool {
    let limit = limit ?? settings[namespace.key]?.writeSizeLimit
    guard var left = limit?.bytes else { return false }
    let reader = batch.reader
    for assignment in write.assignments {
      left -= assignment.node.jsonBytes(.export).count
      guard left >= 0 else { return true }
      let path = assignment.path
      let node = path.namesPriority ? path.parent ?? .root : path
      if try readRefusal(of: node, .all, by: requester, namespace, batch) != nil { continue }
      guard
        let present = try namespace.rows.size(
          at: path, limitBytes: left, in: Snapshot(reader))
      else { return true }
      left -= present
    }
    return false
  }
}
