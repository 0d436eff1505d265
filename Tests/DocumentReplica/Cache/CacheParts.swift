import TernCore
import TernQuery
import TernStorage
import TernStorageMemory

@testable import TernDocumentReplica

/// Small parts of which tests of the cache are made.
enum CacheParts {
  static let cities = CollectionPath(unchecked: "cities")
  static let all = DocumentQuery.collection(cities)
  static let state = DocumentFieldPath(unchecked: ["state"])
  static let rank = DocumentFieldPath(unchecked: ["rank"])

  static func cache(
    _ store: any OrderedStore = MemoryStore(),
    _ settings: DocumentCache.Settings = DocumentCache.Settings(), batches: [DocumentBatch] = []
  ) throws -> DocumentCache {
    try DocumentCache(store: store, prefix: [7], settings: settings, batches: batches)
  }

  static func version(_ number: Int64) -> DocumentVersion { DocumentVersion(microseconds: number) }

  static func city(_ number: Int) -> DocumentKey { DocumentKey(unchecked: "cities/c\(number)") }

  static func found(
    _ key: DocumentKey, _ fields: DocumentFields, _ number: Int64
  ) -> Document {
    Document(key, .found(fields), version: version(number), created: version(number))
  }

  /// A number of cities; one in fifty lies in one state.
  static func cities(_ count: Int, version number: Int64 = 10) -> [Document] {
    (0..<count).map { index in
      found(
        city(index),
        ["state": .string("S\(index % 50)"), "rank": .integer(Int64(index * 37 % 1_009))], number)
    }
  }

  static func set(_ key: DocumentKey, _ fields: DocumentFields) -> DocumentMutation {
    DocumentMutation(key, .set(fields))
  }

  static func batch(_ id: UInt64, _ mutations: [DocumentMutation]) -> DocumentBatch {
    DocumentBatch(
      id: id, localWriteTime: DocumentTimestamp(uncheckedMicroseconds: 1), mutations: mutations)
  }
}

extension DocumentCache {
  /// Listens to a query and takes in documents as all of its result.
  @discardableResult
  mutating func hear(
    _ query: DocumentQuery, _ documents: [Document], version: Int64 = 10, token: [UInt8] = [1]
  ) -> Int32 {
    let id = allocate(.query(query.target)).id
    let known = remoteKeys(of: id)
    let keys = Set(documents.map(\.key))
    var event = DocumentServerEvent(version: DocumentVersion(microseconds: version))
    event.targets[id] = DocumentServerEvent.TargetDelta(
      added: keys.subtracting(known), modified: keys.intersection(known),
      removed: known.subtracting(keys), resumeToken: token, isCurrent: true)
    event.documents = documents
    _ = applyServer(event)
    return id
  }
}
