import TernPresence
import TernStorage
import TernStorageMemory
import Testing

struct DisconnectOperationsTests {
  let rows = PresenceRows(prefix: [0x18])
  let limits = PresenceLimits(grace: .seconds(30), deferredWrites: 2, deferredBytes: 10)

  func store(_ added: [Row], in store: MemoryStore) throws {
    try store.write { transaction throws(StorageError) in
      for row in added { try transaction.put(row.value, for: row.key) }
    }
  }

  @Test("what a session left survives a restart and is handed over once")
  func restart() throws {
    let disk = MemoryStore()
    var book = DisconnectOperations(rows: rows, limits: limits)
    try store(try book.append([1], of: 5, owner: [9]), in: disk)
    try store(try book.append([2], of: 5, owner: [9]), in: disk)
    try store(try book.append([3], of: 6, owner: [8]), in: disk)
    #expect(book.due(at: .max).isEmpty)

    var restored = DisconnectOperations(rows: rows, limits: limits)
    try disk.read { snapshot throws(StorageError) in
      try restored.restore(from: snapshot, now: 1_000)
    }
    #expect(restored.nextDue == 31_000)
    #expect(restored.due(at: 30_999).isEmpty)
    #expect(restored.due(at: 31_000) == [5, 6])
    let end = restored.end(5)
    #expect(end?.estate.writes == [[1], [2]])
    #expect(end?.estate.owner == [9])
    #expect(restored.end(5) == nil)
    try disk.write { transaction throws(StorageError) in
      if let end { try transaction.remove(in: end.rows) }
    }
    #expect(try disk.read { snapshot throws(StorageError) in try snapshot.scan().count } == 2)
  }

  @Test("a session leaves only so much")
  func refusals() throws {
    var book = DisconnectOperations(rows: rows, limits: limits)
    #expect(throws: DisconnectOperations.Refusal.tooManyBytes(limit: 10)) {
      try book.append(Array(repeating: 0, count: 11), of: 5, owner: [])
    }
    _ = try book.append([1], of: 5, owner: [])
    _ = try book.append([1], of: 5, owner: [])
    #expect(throws: DisconnectOperations.Refusal.tooManyWrites(limit: 2)) {
      try book.append([1], of: 5, owner: [])
    }
    let replaced = book.replace([[4]], of: 5)
    #expect(replaced?.rows.count == 1)
    #expect(book.estate(of: 5)?.writes == [[4]])
  }

  @Test("all sessions together leave only so many bytes, and can always take back")
  func bytesInAll() throws {
    let disk = MemoryStore()
    let limits = PresenceLimits(deferredBytes: 10, deferredBytesInAll: 12)
    var book = DisconnectOperations(rows: rows, limits: limits)
    try store(try book.append(Array(repeating: 0, count: 8), of: 5, owner: []), in: disk)
    var restored = DisconnectOperations(rows: rows, limits: limits)
    try disk.read { snapshot throws(StorageError) in
      try restored.restore(from: snapshot, now: 0)
    }
    #expect(throws: DisconnectOperations.Refusal.tooManyBytes(limit: 12)) {
      try restored.append([1, 2, 3, 4, 5], of: 6, owner: [])
    }
    _ = try restored.append([1, 2, 3, 4], of: 6, owner: [])
    #expect(throws: DisconnectOperations.Refusal.self) {
      try restored.append([1], of: 7, owner: [])
    }
    _ = try restored.append([1], of: 6, owner: [], isCancellation: true)
    _ = restored.replace([[1, 2]], of: 5)
    _ = try restored.append([1, 2, 3, 4, 5], of: 7, owner: [])
    #expect(throws: DisconnectOperations.Refusal.self) {
      try restored.append([1], of: 8, owner: [])
    }
    _ = restored.end(7)
    _ = try restored.append([1, 2, 3, 4, 5], of: 8, owner: [])
  }

  @Test("its bytes are counted as writes come, are summed up, and are read back")
  func bytes() throws {
    let disk = MemoryStore()
    let limits = PresenceLimits(grace: .seconds(30), deferredWrites: 100, deferredBytes: 10)
    func room(_ book: DisconnectOperations) -> Int? {
      (0...10).last { count in
        var book = book
        return (try? book.append(Array(repeating: 0, count: count), of: 5, owner: [])) != nil
      }
    }
    var book = DisconnectOperations(rows: rows, limits: limits)
    #expect(room(book) == 10)
    try store(try book.append([1, 2, 3], of: 5, owner: [9, 9, 9, 9]), in: disk)
    try store(try book.append([1, 2], of: 5, owner: []), in: disk)
    #expect(room(book) == 5)
    var restored = DisconnectOperations(rows: rows, limits: limits)
    try disk.read { snapshot throws(StorageError) in
      try restored.restore(from: snapshot, now: 0)
    }
    #expect(room(restored) == 5)
    _ = restored.replace([[1], []], of: 5)
    #expect(room(restored) == 9)
    _ = try restored.append([1, 2, 3, 4], of: 5, owner: [])
    #expect(room(restored) == 5)
    _ = restored.end(5)
    #expect(room(restored) == 10)
  }
}
