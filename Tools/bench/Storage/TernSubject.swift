import TernStorage

/// A store of ours.
final class TernSubject: StorageSubject {
  private let store: any OrderedStore

  init(_ store: any OrderedStore) { self.store = store }

  func load(_ keys: [[UInt8]], _ value: [UInt8]) throws {
    try put(keys[...], value, batch: 10_000)
  }

  func get(_ keys: [[UInt8]]) throws {
    let sum = try store.read { snapshot throws(StorageError) in
      var sum = 0
      for key in keys {
        sum +=
          try snapshot.withValue(for: key.span) { value throws(StorageError) in
            value.count + Int(value[0])
          } ?? 0
      }
      return sum
    }
    guard sum == keys.count * 190 else { throw BenchFailure(reason: "a key is missing") }
  }

  func scan(from keys: [[UInt8]], count: Int) throws {
    let rows = try store.read { snapshot throws(StorageError) in
      var rows = 0
      var sum = 0
      for key in keys {
        var cursor = snapshot.cursor(over: KeyRange(from: key), limit: count)
        while try cursor.next() {
          rows += 1
          sum += Int(cursor.key[0]) + Int(cursor.value[0])
        }
      }
      use(sum)
      return rows
    }
    guard rows > 0 else { throw BenchFailure(reason: "no rows") }
  }

  func put(_ keys: ArraySlice<[UInt8]>, _ value: [UInt8], batch: Int) throws {
    var start = keys.startIndex
    while start < keys.endIndex {
      let end = min(start + batch, keys.endIndex)
      try store.write { transaction throws(StorageError) in
        for index in start..<end { try transaction.put(value, for: keys[index]) }
      }
      start = end
    }
  }
}
