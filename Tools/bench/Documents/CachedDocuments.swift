import Foundation
import TernCore
import TernDocumentReplica
import TernQuery
import TernStorage
import TernStorageLMDB
import TernStorageMemory
import TernStorageSQLite

/// Many documents in a cache, and the store they lie in.
final class CachedDocuments {
  private let kind: String
  private let folder: String
  private var store: any OrderedStore
  /// The bytes of the keys and packed fields.
  private(set) var encodedBytes = 0

  init(_ kind: String) throws {
    self.kind = kind
    folder = "/tmp/tern-bench-documents-\(UInt64.random(in: 0...UInt64.max))"
    store = try Self.store(kind, folder)
  }

  /// Lets go of the store and opens it again, as a new process would.
  func reopen() throws {
    if kind == "memory" { return }
    store.close()
    store = try Self.store(kind, folder)
  }

  func open(hotBytes: Int = 64 << 20) throws -> DocumentCache {
    var settings = DocumentCache.Settings(limitBytes: nil)
    settings.hotBytes = hotBytes
    return try DocumentCache(store: store, prefix: [1], settings: settings)
  }

  func remove() {
    store.close()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The size of the store's files; `nil` in memory.
  var diskBytes: Int? {
    if kind == "memory" { return nil }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0 != "ballast" }.reduce(0) { sum, name in
      let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
      return sum + (attributes?[.size] as? Int ?? 0)
    }
  }

  /// Takes in documents as a server would tell of them: the result of one target.
  func fill(_ cache: inout DocumentCache, _ count: Int) throws {
    let target = cache.allocate(.query(Self.whole.target)).id
    for start in stride(from: 0, to: count, by: 10_000) {
      let version = DocumentVersion(microseconds: 1_750_000_000_000_000 + Int64(start))
      var event = DocumentServerEvent(version: version)
      for number in start..<min(start + 10_000, count) {
        let document = Document(
          Self.key(number), .found(Self.fields(number, of: count)), version: version,
          created: version)
        encodedBytes += document.key.text.utf8.count + (document.fields?.bytes.count ?? 0)
        event.documents.append(document)
      }
      event.targets[target] = DocumentServerEvent.TargetDelta(
        added: Set(event.documents.map(\.key)), resumeToken: [1, 2, 3])
      _ = cache.applyServer(event)
      try cache.commit()
    }
    cache.release(target)
    try cache.commit()
  }

  private static func store(_ kind: String, _ folder: String) throws -> any OrderedStore {
    switch kind {
    case "sqlite": try SQLiteStore(path: folder, durability: .relaxed)
    case "lmdb": try LMDBStore(path: folder, durability: .relaxed)
    default: MemoryStore()
    }
  }
}

// MARK: Documents and queries

extension CachedDocuments {
  private static let cities = CollectionPath(unchecked: "cities")
  private static let state = DocumentFieldPath(unchecked: ["state"])
  private static let population = DocumentFieldPath(unchecked: ["population"])

  static let whole = DocumentQuery.collection(cities)

  /// Ids as clients make them: twenty letters and digits, in no order.
  static func key(_ number: Int) -> DocumentKey {
    var bits = UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    let id = (0..<20).map { _ in
      bits = bits &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return letters[Int(bits >> 33) % letters.count]
    }
    return DocumentKey(unchecked: "cities/" + String(decoding: id, as: UTF8.self))
  }

  /// Documents in one state, however many there are.
  static let statePopulation = 1_000

  /// Ten fields of the usual kinds; a thousand documents are in one state.
  static func fields(_ number: Int, of count: Int) -> DocumentFields {
    let states = max(1, count / statePopulation)
    let scattered = Int64(number &* 7_919 % 1_000_003)
    return [
      "name": .string("city number \(number)"), "state": .string("state \(number % states)"),
      "country": .string("country \(number % 7)"), "capital": .boolean(number % 50 == 0),
      "population": .integer(scattered), "area": .double(Double(scattered) * 1.5),
      "founded": .timestamp(DocumentTimestamp(uncheckedMicroseconds: scattered * 1_000_000)),
      "tags": .array([.string("a\(number % 3)"), .string("b\(number % 5)")]),
      "mayor": .string("mayor of number \(number)"), "rank": .integer(Int64(number)),
    ]
  }

  static func queries() throws -> [(name: String, query: DocumentQuery)] {
    let filtered = try whole.where(state, .equal, .string("state 7"))
    return [
      ("where matching 1,000", filtered),
      ("order by, limit 100", try whole.ordered(by: population, isDescending: true).first(100)),
      ("where, order by, limit 20", try filtered.ordered(by: population).first(20)),
    ]
  }

  static let indexes = [
    DocumentIndex(group: "cities", segments: [DocumentIndex.Segment(state, .ascending)]),
    DocumentIndex(group: "cities", segments: [DocumentIndex.Segment(population, .ascending)]),
    DocumentIndex(
      group: "cities",
      segments: [
        DocumentIndex.Segment(state, .ascending), DocumentIndex.Segment(population, .ascending),
      ]),
  ]
}
