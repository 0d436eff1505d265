import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import TernSync

/// One session of every kind of write to documents.
enum DocumentCutSession {
  enum Failure: Error { case missing(String) }

  /// Writes everything in a collection, and waits for the server's verdict on each.
  static func play(_ documents: Documents, in collection: String) async throws {
    @Sendable func place(_ id: String) -> DocumentLocation {
      documents.document(collection + "/" + id)
    }
    var writes = [try await place("a").set(["n": 1, "old": true])]
    writes.append(try await place("a").set(["m": ["x": 1]], merging: true))
    writes.append(try await place("a").update(["m.y": 2, "old": .delete]))
    for delta in 1...3 as ClosedRange<Int64> {
      writes.append(
        try await place("count").set(
          ["n": .transform(.increment(.integer(delta)))], merging: true))
    }
    for text in ["one", "two"] as [DocumentValue] {
      writes.append(
        try await place("list").set(["l": .transform(.arrayUnion([text]))], merging: true))
    }
    writes.append(try await place("gone").set(["n": 1]))
    var batch = documents.batch()
    batch.set(place("b"), to: ["x": 1])
    batch.update(place("count"), ["n": .transform(.increment(.integer(10)))])
    batch.update(place("list"), ["l": .transform(.arrayRemove(["one"]))])
    batch.update(place("count"), ["n": .transform(.increment(.integer(100)))])
    writes.append(try await batch.commit())
    writes.append(try await place("gone").remove())
    try await documents.transaction { transaction in
      let before = try await transaction.get(place("taps"))["n"]
      guard before == nil else { throw Failure.missing("a place of its own") }
      try transaction.set(place("taps"), to: ["n": 1])
    }
    for write in writes { try await write.acknowledged() }
  }

  /// Returns the final documents of a collection, as another client sees them.
  static func found(_ documents: Documents, in collection: String) async throws -> DocumentMap {
    let result = try await documents.collection(collection).queried.get(from: .server)
    return DocumentMap(result.documents.map { ($0.id, .map($0.data() ?? [:])) })
  }

  static let expected: DocumentMap = [
    "a": ["n": 1, "m": ["x": 1, "y": 2]],
    "b": ["x": 1],
    "count": ["n": 116],
    "list": ["l": ["two"]],
    "taps": ["n": 1],
  ]

  /// Does not wait with another attempt when a connection is lost.
  static func eager(_ documents: Documents) -> Task<Void, Never> {
    Task {
      for await state in documents.connection where state == .waiting {
        await documents.goOnline()
      }
    }
  }
}
