import TernCore
import TernQuery
import TernStorage
import TernTestKit
import Testing

@testable import TernDocumentReplica

/// A cache, and beside it lists and loops that say what it has to show.
struct CacheWorld {
  /// The server's version of a document, as far as the device was told.
  struct Base {
    var document: Document
    var readTime: DocumentVersion
  }

  struct Listened {
    let query: DocumentQuery
    var remoteKeys: Set<DocumentKey>
    var view: Set<DocumentKey> = []
  }

  let opened: CacheStore.Opened
  let settings: DocumentCache.Settings
  var dice: SeededGenerator
  var cache: DocumentCache
  var truth: [DocumentKey: Document] = [:]
  var bases: [DocumentKey: Base] = [:]
  var batches: [DocumentBatch] = []
  var listened: [Int32: Listened] = [:]
  var remembered: [String: Set<DocumentKey>] = [:]
  var user = ""
  var clock: Int64 = 1_000
  var lastBatch: UInt64 = 0
  var lastEvent: Int64 = 0
  let seed: UInt64

  init(_ kind: CacheStore, seed: UInt64, settings: DocumentCache.Settings) throws {
    opened = try kind.open()
    self.settings = settings
    self.seed = seed
    dice = SeededGenerator(seed: seed)
    cache = try DocumentCache(store: opened.store, prefix: [7], settings: settings)
  }

  // MARK: What has to be seen

  /// A document as the device has to show it.
  func shown(_ key: DocumentKey) -> Document {
    let base = bases[key]?.document ?? .invalid(key)
    var writes: [(mutation: DocumentMutation, time: DocumentTimestamp)] = []
    for batch in batches where batch.user == user {
      for mutation in batch.baseMutations + batch.mutations where mutation.key == key {
        writes.append((mutation, batch.localWriteTime))
      }
    }
    return DocumentMutation.replay(writes, over: base).document
  }

  var keys: Set<DocumentKey> {
    Set(bases.keys).union(batches.flatMap { $0.mutations.map(\.key) })
  }

  /// Returns the expected result of a query, some documents left out.
  func result(_ query: DocumentQuery, except hidden: Set<DocumentKey> = []) -> [Document] {
    query.run(over: keys.subtracting(hidden).map(shown))
  }

  // MARK: Checks

  mutating func check(_ query: DocumentQuery) throws {
    let found = cache.run(query, usingPrevious: false)
    let expected = result(query)
    try #require(
      found.documents == expected,
      "seed \(seed): \(query.id) by \(found.plan): \(found.documents) instead of \(expected)")
  }

  mutating func checkDocument(_ key: DocumentKey) throws {
    let found = cache.document(key)
    try #require(found == shown(key), "seed \(seed): \(key)")
  }

  /// Checks a listen; documents that the server judged and did not name may be left out when its
  /// judgement is used.
  mutating func checkListened(_ id: Int32) throws {
    guard let listened = listened[id] else { return }
    #expect(cache.remoteKeys(of: id) == listened.remoteKeys, "seed \(seed)")
    let found = cache.run(listened.query, usingPrevious: true)
    var hidden: Set<DocumentKey> = []
    if found.plan.strategy == .previousResults {
      let since = cache.target(id)?.limboFreeVersion ?? .none
      hidden = keys.filter { key in
        guard let base = bases[key] else { return false }
        return !listened.remoteKeys.contains(key) && base.readTime <= since
          && shown(key).localWrites != .pending
      }
    }
    let expected = result(listened.query, except: hidden)
    try #require(
      found.documents == expected,
      "seed \(seed): \(listened.query.id) by \(found.plan), \(found.documents) not \(expected)")
  }
}

// MARK: Random parts

extension CacheWorld {
  static let collections = ["cities", "a/x/cities", "towns"]

  mutating func key() -> DocumentKey {
    let collection = Self.collections[dice.roll(Self.collections.count)]
    let id = dice.roll(20) == 0 ? "__id\(dice.roll(5))__" : "d\(dice.roll(12))"
    return DocumentKey(unchecked: collection + "/" + id)
  }

  mutating func value() -> DocumentValue {
    switch dice.roll(9) {
    case 0: .null
    case 1: .double(Double(dice.roll(4)))
    case 2: .string(String(repeating: "s", count: dice.roll(3)))
    case 3: .boolean(dice.roll(2) == 0)
    case 4: .array([.integer(Int64(dice.roll(3))), .integer(Int64(dice.roll(3)))])
    case 5: .string(String(repeating: "long", count: 600) + "\(dice.roll(3))")
    default: .integer(Int64(dice.roll(4)))
    }
  }

  mutating func fields() -> DocumentFields {
    var map = DocumentMap()
    for name in ["p", "q", "r"] where dice.roll(4) > 0 { map[name] = value() }
    return DocumentFields(map)
  }

  mutating func mutation() -> DocumentMutation {
    let key = key()
    switch dice.roll(5) {
    case 0: return DocumentMutation(key, .delete)
    case 1: return DocumentMutation(key, .set(fields()))
    case 2:
      return DocumentMutation(
        key, .patch(fields(), mask: DocumentFieldMask(["p"])), precondition: .exists(true))
    case 3:
      return DocumentMutation(
        key, .patch(.empty, mask: .empty),
        transforms: [DocumentFieldTransform("q", .increment(.integer(Int64(dice.roll(3)))))])
    default:
      return DocumentMutation(
        key, .patch(fields(), mask: DocumentFieldMask(["q", "r"])),
        transforms: [DocumentFieldTransform("p", .serverTimestamp)])
    }
  }

  mutating func query() throws -> DocumentQuery {
    var query: DocumentQuery
    switch dice.roll(8) {
    case 0: query = .document(key())
    case 1, 2: query = try .group("cities")
    default:
      query = .collection(
        CollectionPath(unchecked: Self.collections[dice.roll(Self.collections.count)]))
    }
    if case .document = query.source { return query }
    let fields: [DocumentFieldPath] = ["p", "q", "r"]
    for _ in 0..<dice.roll(3) {
      let filter = filter(fields[dice.roll(3)])
      query = (try? query.filtered(filter)) ?? query
    }
    for _ in 0..<dice.roll(3) {
      query =
        (try? query.ordered(by: fields[dice.roll(3)], isDescending: dice.roll(2) == 0)) ?? query
    }
    if !query.orders.isEmpty, dice.roll(4) == 0 {
      query = (try? query.starting(at: [value()], isInclusive: dice.roll(2) == 0)) ?? query
    }
    if !query.orders.isEmpty, dice.roll(4) == 0 {
      query = (try? query.ending(at: [value()], isInclusive: dice.roll(2) == 0)) ?? query
    }
    if dice.roll(3) == 0 {
      let count = 1 + dice.roll(4)
      let isLast = !query.orders.isEmpty && dice.roll(2) == 0
      query = try isLast ? query.last(count) : query.first(count)
    }
    return query
  }

  private mutating func filter(_ path: DocumentFieldPath) -> DocumentFilter {
    switch dice.roll(9) {
    case 0: .where(path, .in, .array([value(), value()]))
    case 1: .where(path, .arrayContains, .integer(Int64(dice.roll(3))))
    case 2: .where(path, .arrayContainsAny, .array([.integer(0), .integer(2)]))
    case 3: .where(path, .greaterThanOrEqual, value())
    case 4: .where(path, .lessThan, .integer(Int64(dice.roll(4))))
    case 5: .where(path, .notEqual, value())
    case 6: .or([.where("p", .equal, value()), .where("q", .equal, value())])
    default: .where(path, .equal, value())
    }
  }
}
