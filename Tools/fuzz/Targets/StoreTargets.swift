import TernCore
import TernLedger
import TernStorage
import TernStorageMemory
import TernSync
import TernTreeRows

extension FuzzTarget {
  /// The rows of a ledger with a tree in it, some of them damaged: to open, read and write.
  static let records = FuzzTarget("records", samples: [rows(of: ledgerStore)]) { input in
    guard let store = store(of: input) else { return nil }
    let rows = TreeRows(prefix: [0x20])
    do {
      let ledger = try EmbeddedLedger(store: store) { 0 }
      _ = try ledger.log(after: 0, limit: 100)
      try ledger.read { snapshot throws(StorageError) in
        let node = try rows.node(at: .root, in: snapshot)
        var text: [UInt8] = []
        try rows.writeJSON(of: .root, .export, pieceBytes: 100, in: snapshot) { piece in
          text += piece
          return true
        }
        // A priority of nothing is damage that a checksum would have shown.
        _ = node.jsonBytes(.export).count - text.count
        _ = try snapshot.stream(7)
      }
      _ = try ledger.commit([commit(3)])
    } catch {
      // To refuse is right.
    }
    return nil
  }

  /// The rows of a client's queue, some of them damaged: to open, and to set aside.
  static let queue = FuzzTarget("queue", samples: [rows(of: queueStore)]) { input in
    guard let store = store(of: input) else { return nil }
    do throws(QueueError) {
      var (queue, writes) = try WriteQueue.open(store, newClient: 1)
      _ = try queue.rejected()
      for write in writes { _ = queue.apply([.settle(id: write.id)]) }
    } catch {
      // To refuse is right.
    }
    return nil
  }

  // MARK: - Stores as bytes

  private static func commit(_ sequence: UInt64) -> Commit {
    let rows = TreeRows(prefix: [0x20])
    let json = #"{"a":{"x":1,"y":"two"},"b":[true,2.5]}"#
    let node = (try? TreeNode(json: json)) ?? .empty
    var mutations: [Mutation] = []
    rows.forEachRow(of: node, at: TreePath([TreeKey(unchecked: "p\(sequence)")])) {
      mutations.append(.put(key: $0, value: $1))
    }
    return Commit(
      claim: IdempotencyKey(
        id: CommitID(stream: 7, sequence: sequence), payloadHash: 9, acknowledged: 0),
      mutations: mutations, record: [1, 2, 3], outcome: [4])
  }

  private static var ledgerStore: MemoryStore {
    let store = MemoryStore()
    do {
      let ledger = try EmbeddedLedger(store: store) { 0 }
      for sequence in UInt64(1)...2 { _ = try ledger.commit([commit(sequence)]) }
    } catch { preconditionFailure("a ledger in memory takes two commits: \(error)") }
    return store
  }

  private static var queueStore: MemoryStore {
    let store = MemoryStore()
    do throws(QueueError) {
      var (queue, _) = try WriteQueue.open(store, newClient: 5)
      _ = queue.apply([.append([1, 2, 3]), .keep([4]), .append([5])])
    } catch { preconditionFailure("a queue in memory takes three writes: \(error)") }
    return store
  }

  /// All rows of a store: each key and value behind its length.
  private static func rows(of store: MemoryStore) -> [UInt8] {
    var bytes: [UInt8] = []
    do throws(StorageError) {
      try store.read { snapshot throws(StorageError) in
        var cursor = snapshot.cursor(over: KeyRange(from: []))
        while try cursor.next() {
          for part in [[UInt8](copying: cursor.key), [UInt8](copying: cursor.value)] {
            bytes += [UInt8(part.count >> 8 & 0xFF), UInt8(part.count & 0xFF)] + part
          }
        }
      }
    } catch { preconditionFailure("a store in memory is read: \(error)") }
    return bytes
  }

  /// A store with the rows that bytes describe, as far as they do.
  private static func store(of bytes: [UInt8]) -> MemoryStore? {
    let store = MemoryStore()
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        var rest = bytes[...]
        while let key = part(&rest), let value = part(&rest) {
          if !key.isEmpty { try transaction.put(value, for: key) }
        }
      }
    } catch { return nil }
    return store
  }

  private static func part(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
    guard rest.count >= 2 else { return nil }
    let count = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }
}
