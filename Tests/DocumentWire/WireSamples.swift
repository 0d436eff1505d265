public import TernCore
import TernQuery
import TernTestKit

@testable import TernDocumentWire

extension DocumentKey: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension DocumentFieldPath: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    self.init(unchecked: text.split(separator: ".").map(String.init))
  }
}

// Values and names that are few, so that they meet each other.
extension SeededGenerator {
  mutating func pick<T>(_ choices: [T]) -> T {
    choices[Int.random(in: choices.indices, using: &self)]
  }

  mutating func value(depth: Int = 2) -> DocumentValue {
    switch Int.random(in: 0..<(depth > 0 ? 12 : 10), using: &self) {
    case 0: return .null
    case 1: return .boolean(.random(using: &self))
    case 2: return .integer(pick([0, 1, -1, 127, 300, 1 << 53 + 1, .max, .min]))
    case 3: return .double(pick([0, -0.0, 1.5, .nan, .infinity, -.infinity, 0x1p63]))
    case 4: return .timestamp(.init(uncheckedMicroseconds: .random(in: -3...3, using: &self)))
    case 5: return .string(pick(["", "a", "\0", "é", "\u{10000}", text(200)]))
    case 6: return .bytes(pick([[], [0], [255, 0, 1]]))
    case 7: return .reference(DocumentName(pick(["a/b", "a/__id7__", "é/b/c/d"]), in: database))
    case 8:
      return .geoPoint(DocumentGeoPoint(uncheckedLatitude: pick([0, -90, 1.5]), longitude: 1))
    case 9: return .vector(pick([[], [1, -0.0], [.nan]]))
    case 10: return .array((0..<3).map { _ in value(depth: depth - 1) })
    default: return .map(map(depth: depth - 1))
    }
  }

  mutating func map(depth: Int = 2) -> DocumentMap {
    let count = Int.random(in: 0...4, using: &self)
    return DocumentMap(
      (0..<count).map { _ in (pick(["a", "b", "é", "", "long name", "z"]), value(depth: depth)) })
  }

  func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  var database: DocumentDatabase { sampleDatabase }
}

let sampleDatabase: DocumentDatabase = {
  guard let database = try? DocumentDatabase(projectID: "p") else { fatalError("a fixed name") }
  return database
}()

let sampleNames = DocumentNames(sampleDatabase)

let fields: DocumentFields = [
  "name": "Lisbon", "people": 545_796, "at": .null, "tags": ["a", "b"], "half": 0.5,
  "in": ["country": "PT", "eu": true],
]

private let readPoints: [DocumentReadPoint] = [
  .now, .time(DocumentVersion(microseconds: 5_000_001)), .transaction([1, 2]),
  .begin(.readOnly(nil)), .begin(.readOnly(DocumentVersion(microseconds: 3))),
  .begin(.readWrite(retrying: [])), .begin(.readWrite(retrying: [9])),
]

let sampleWrites: [DocumentMutation] = [
  DocumentMutation("a/b", .set(fields)),
  DocumentMutation("a/b", .set(.empty), precondition: .exists(false)),
  DocumentMutation(
    "a/b", .patch(fields, mask: DocumentFieldMask(["name", "in.eu", "gone"])),
    precondition: .exists(true),
    transforms: [
      DocumentFieldTransform("t", .serverTimestamp),
      DocumentFieldTransform("n", .increment(.integer(2))),
      DocumentFieldTransform("m.x", .maximum(.double(2.5))),
      DocumentFieldTransform("m.y", .minimum(.integer(-1))),
      DocumentFieldTransform("u", .arrayUnion(["a", 1])),
      DocumentFieldTransform("r", .arrayRemove([])),
    ]),
  DocumentMutation("a/b", .patch(.empty, mask: .empty)),
  DocumentMutation("a/b", .delete),
  DocumentMutation("a/b/c/é", .delete, precondition: .version(DocumentVersion(microseconds: 7))),
  .verify("a/x", is: .none), .verify("a/x", is: DocumentVersion(microseconds: 12)),
]

func sampleQueries() throws -> [DocumentQuery] {
  let cities = DocumentQuery.collection(try CollectionPath("cities"))
  let below = DocumentQuery.collection(try CollectionPath("cities/x/parts"))
  let group = try DocumentQuery.group("parts")
  let reference = DocumentValue.reference(DocumentName("cities/x", in: sampleDatabase))
  return [
    cities, below, group,
    try cities.where("a", .equal, .null).where("b", .notEqual, .double(.nan)),
    try cities.where("a", .equal, .double(.nan)).where("b", .notEqual, .null),
    try cities.where("a", .in, [1, 2]).where("b", .arrayContains, "x").first(3),
    try below.where("a", .greaterThan, 1).ordered(by: "a", isDescending: true).skipping(4),
    try cities.filtered(.or([.where("a", .equal, 1), .and([.where("b", .lessThan, 2)])])),
    try cities.where("a", .notIn, [1]).selecting(["a", "b.c"]), cities.selecting([]),
    try cities.where(.key, .greaterThanOrEqual, reference).ordered(by: .key).starting(
      at: [reference]),
    try group.ordered(by: "a").starting(after: [1]).ending(at: [9]).first(1),
    try group.ordered(by: "a").ordered(by: "b").ending(before: [1, 2]),
    try cities.where("x", .arrayContainsAny, [1, "y"]).where("y.`z", .lessThanOrEqual, false),
  ]
}

func sampleRequests() throws -> [DocumentRequest] {
  var bodies: [DocumentRequest.Body] = [
    .get("a/b", mask: nil, .now), .get("a/b", mask: ["x.y"], readPoints[1]),
    .get("a/b", mask: [], readPoints[2]),
    .list(DocumentListing(parent: nil, collectionID: "a")),
    .list(
      DocumentListing(
        parent: "a/b", collectionID: "c", page: DocumentPageRequest(size: 3, token: "t"),
        orders: [DocumentOrder("x.y", isDescending: true), DocumentOrder(.key)], mask: ["x"],
        readPoint: readPoints[1])),
    .list(DocumentListing(parent: "a/b", collectionID: nil, showsMissing: true)),
    .create(try CollectionPath("a/b/c"), id: "d", fields, mask: ["x"]),
    .create(try CollectionPath("a"), id: nil, .empty, mask: nil),
    .update(sampleWrites[0], mask: ["name"]), .update(sampleWrites[1], mask: nil),
    .delete(sampleWrites[4]), .delete(sampleWrites[5]),
    .begin(.readWrite(retrying: [1])), .begin(.readOnly(DocumentVersion(microseconds: 1))),
    .commit(sampleWrites, transaction: [], nil),
    .commit([], transaction: [1], DocumentWriteHeader(stream: .max - 5, sequence: 3)),
    .rollback(transaction: [1, 2, 3]),
    .listCollections(below: nil, DocumentPageRequest(), .now),
    .listCollections(below: "a/b", DocumentPageRequest(size: 2, token: "x"), readPoints[1]),
    .batchWrite([sampleWrites[2], DocumentMutation("c/d", .delete)]),
    .write(DocumentWriteRequest(.handshake(stream: nil))),
    .write(DocumentWriteRequest(.handshake(stream: 1 << 127 + 5))),
    .write(DocumentWriteRequest(.writes(sampleWrites, nil), token: [4])),
    .write(
      DocumentWriteRequest(
        .writes([sampleWrites[0]], DocumentWriteHeader(sequence: 7, acknowledged: 5)), token: [4])),
    .write(DocumentWriteRequest(.writes([], nil), token: [4])),
    .write(DocumentWriteRequest(.outcomes(3...9), token: [4])),
    .listen(.remove(4)),
  ]
  for point in readPoints { bodies.append(.batchGet(["a/b", "a/c"], mask: ["x"], point)) }
  for (query, point) in zip(try sampleQueries(), readPoints + readPoints) {
    bodies.append(.query(try query.complete(), point))
    bodies.append(
      .aggregate(query, [.init("n", .count(upTo: nil)), .init("s", .sum("a.b"))], point))
    bodies.append(.listen(.add(WatchTarget(id: 2, subject: .query(query.target)))))
  }
  bodies.append(
    .aggregate(
      try sampleQueries()[0], [.init("c", .count(upTo: 7)), .init("v", .average("x"))], .now))
  bodies.append(
    .partition(
      DocumentPartitioning(
        query: try DocumentQuery.group("parts").ordered(by: .key), count: 4,
        page: DocumentPageRequest(size: 2, token: "x"), readPoint: readPoints[1])))
  bodies += try sampleTargets().map { .listen(.add($0)) }
  return bodies.map { DocumentRequest($0, in: sampleDatabase) }
}

private func sampleTargets() throws -> [WatchTarget] {
  let query = try sampleQueries()[0].target
  return [
    WatchTarget(id: 1, subject: .documents(["a/b", "c/d"]), isOnce: true),
    WatchTarget(
      id: 3, subject: .documents(["a/b"]), resume: .token([1, 2]), expectedCount: 0,
      purpose: .limboResolution),
    WatchTarget(
      id: .max, subject: .query(query), resume: .readTime(DocumentVersion(microseconds: 1)),
      expectedCount: 12, purpose: .existenceFilterMismatchBloom),
  ]
}

extension DocumentQuery {
  /// The same query with its order written out, as it comes back from the wire.
  func complete() throws -> DocumentQuery {
    var query = try bare()
    if let filter { query = try query.filtered(filter) }
    for order in normalizedOrders {
      query = try query.ordered(by: order.path, isDescending: order.isDescending)
    }
    if let start { query = try query.starting(at: start.values, isInclusive: start.isInclusive) }
    if let end { query = try query.ending(at: end.values, isInclusive: end.isInclusive) }
    if let limit { query = try query.first(limit.count) }
    query = try query.skipping(offset)
    return selection.map { query.selecting($0) } ?? query
  }

  private func bare() throws -> DocumentQuery {
    switch source {
    case .collection(let path): .collection(path)
    case .group(let id): try .group(id)
    case .document(let key): .document(key)
    case .all(let parent, let isRecursive):
      .assembled(.all(below: parent, isRecursive: isRecursive))
    }
  }
}

func sampleResponses() -> [(DocumentMethod, DocumentResponse)] {
  let version = DocumentVersion(microseconds: 1_700_000_000_123_456)
  let found = Document("a/b", .found(fields), version: version, created: version)
  let results = [
    DocumentWriteResult(version: version, transformResults: [.null, 3]),
    DocumentWriteResult(version: nil),
  ]
  let refusal = DocumentStatus(.permissionDenied, "no")
  let outcomes = [
    DocumentWriteOutcome(3, .committed(version, results)),
    DocumentWriteOutcome(4, .rejected(refusal)),
    DocumentWriteOutcome(5, .gap(expected: 2)),
  ]
  var responses: [(DocumentMethod, DocumentResponse)] = [
    (.getDocument, .document(found)), (.updateDocument, .document(found)),
    (
      .listDocuments,
      .documents([found, Document("a/c", .missing)], nextPageToken: "next")
    ),
    (.deleteDocument, .done), (.rollback, .done),
    (.batchGetDocuments, .batchGet(.init(found, readTime: version))),
    (
      .batchGetDocuments,
      .batchGet(.init(Document("a/x", .missing, version: version), readTime: version))
    ),
    (.batchGetDocuments, .batchGet(.init(nil, transaction: [1], readTime: .none))),
    (.beginTransaction, .transaction([1, 2])), (.commit, .commit(results, version)),
    (.runQuery, .query(.init(found, readTime: version))),
    (.runQuery, .query(.init(transaction: [3], readTime: version, skipped: 4, isDone: true))),
    (.runAggregationQuery, .aggregation(.init(fields, transaction: [1], readTime: version))),
    (.partitionQuery, .partitions([WireCursor([1, "x"], isBefore: true)], nextPageToken: "n")),
    (.listCollectionIDs, .collectionIDs(["a", "é"], nextPageToken: "")),
    (.batchWrite, .batchWrite(results, [nil, refusal])),
    (.write, .write(.init(.handshake(id: "s", lastSequence: nil), token: [1]))),
    (.write, .write(.init(.handshake(id: "s", lastSequence: 0), token: [1]))),
    (.write, .write(.init(.committed(version, results), token: [1]))),
    (.write, .write(.init(.outcomes(outcomes), token: [1]))),
  ]
  for outcome in outcomes {
    responses.append((.write, .write(.init(.outcome(outcome), token: [2]))))
  }
  for change in sampleChanges(found, version) { responses.append((.listen, .listen(change))) }
  return responses
}

private func sampleChanges(_ found: Document, _ version: DocumentVersion) -> [WatchChange] {
  [
    .target(.init(.none, resumeToken: [1], readTime: version)),
    .target(.init(.added, targets: [2])),
    .target(.init(.removed(nil), targets: [2, 300])),
    .target(.init(.removed(DocumentStatus(.notFound, "gone")), targets: [2])),
    .target(.init(.current, targets: [2, -4], resumeToken: [1])), .target(.init(.reset)),
    .changed(found, targets: [1, 2], removed: [3]), .changed(found, targets: [], removed: []),
    .deleted("a/b", readTime: version, removed: [1]),
    .removed("a/b", readTime: version, removed: [1, 2]),
    .removed("a/b", readTime: nil, removed: []),
    .filter(target: 2, count: 3, unchanged: BloomFilter(of: ["a", "b"], errorRate: 0.01)),
    .filter(target: 2, count: 0, unchanged: nil),
  ]
}
