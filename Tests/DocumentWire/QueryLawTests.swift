import TernCore
import TernQuery
import TernTestKit
import Testing

@testable import TernDocumentWire

@Suite("Queries that travel")
struct QueryLawTests {
  private static let values: [DocumentValue] = [
    .null, true, 1, 1.0, 2.5, -1, "a", "b", [1], [1, "a"], ["a": 1], .bytes([1]), .double(.nan),
  ]
  private static let operands: [DocumentValue] = [true, 1, 2.5, -1, "a", ["a": 1], [1]]

  private func documents(using random: inout SeededGenerator) -> [Document] {
    ["c", "x/y/c", "c0"].flatMap { collection in
      (0..<12).map { index in
        var map = DocumentMap()
        for name in ["a", "b c"] where random.roll(4) > 0 {
          map[name] = Self.values[random.roll(Self.values.count)]
        }
        return Document(
          DocumentKey(unchecked: "\(collection)/\(index)"), .found(DocumentFields(map)))
      }
    }.shuffled(using: &random)
  }

  private func filter(
    _ depth: Int, using random: inout SeededGenerator
  ) -> DocumentFilter {
    if depth > 0, random.roll(3) == 0 {
      let members = (0..<2 + random.roll(2)).map { _ in filter(depth - 1, using: &random) }
      return random.roll(2) == 0 ? .and(members) : .or(members)
    }
    let path: DocumentFieldPath = random.roll(2) == 0 ? "a" : DocumentFieldPath(unchecked: ["b c"])
    let operand = Self.operands[random.roll(Self.operands.count)]
    switch random.roll(10) {
    case 0: return .where(path, .equal, random.roll(2) == 0 ? .null : .double(.nan))
    case 1: return .where(path, .in, .array([operand, "b"]))
    case 2: return .where(path, .arrayContains, operand)
    case 3: return .where(path, .arrayContainsAny, .array([operand, "z"]))
    case 4: return .where(path, .lessThan, operand)
    case 5: return .where(path, .lessThanOrEqual, operand)
    case 6: return .where(path, .greaterThan, operand)
    case 7: return .where(path, .greaterThanOrEqual, operand)
    default: return .where(path, .equal, operand)
    }
  }

  private func query(using random: inout SeededGenerator) throws -> DocumentQuery? {
    var query: DocumentQuery =
      switch random.roll(3) {
      case 0: .collection(try CollectionPath("c"))
      case 1: .collection(try CollectionPath("x/y/c"))
      default: try .group("c")
      }
    do {
      if random.roll(2) == 0 { query = try query.filtered(filter(2, using: &random)) }
      if random.roll(2) == 0 {
        query = try query.ordered(by: "a", isDescending: random.roll(2) == 0)
      }
      if random.roll(3) == 0 { query = try query.ordered(by: DocumentFieldPath(["b c"])) }
      if !query.orders.isEmpty, random.roll(2) == 0 {
        query = try query.starting(at: [1], isInclusive: random.roll(2) == 0)
      }
      if !query.orders.isEmpty, random.roll(3) == 0 {
        query = try query.ending(at: ["b"], isInclusive: random.roll(2) == 0)
      }
      switch random.roll(3) {
      case 0: query = try query.first(1 + random.roll(6))
      case 1 where !query.orders.isEmpty: query = try query.last(1 + random.roll(6))
      default: break
      }
      return random.roll(3) == 0 ? try query.skipping(random.roll(3)) : query
    } catch is DocumentQueryError {
      return nil
    }
  }

  @Test("a query finds the same behind the wire", arguments: UInt64(1)...25)
  func agreement(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let documents = documents(using: &random)
    var count = 0
    for _ in 0..<30 {
      guard let query = try query(using: &random) else { continue }
      let request = DocumentRequest(.query(query, .now), in: sampleDatabase)
      // What combines too many filters is refused there as it is here, or not at all.
      guard let read = try? DocumentRequest.decode(.runQuery, request.encode()),
        case .query(let received, .now) = read.body
      else { continue }
      count += 1
      let own = query.run(over: documents).map(\.key)
      let found = received.run(over: documents).map(\.key)
      #expect(found == (query.limit?.side == .last ? own.reversed() : own), "\(query.id)")
      #expect(received.target.id.hasSameBytes(as: query.target.id), "\(query.id)")
    }
    #expect(count > 10)
  }

  @Test("a target comes back as it was", arguments: UInt64(1)...15)
  func targets(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for id in Int32(1)...20 {
      guard let query = try query(using: &random) else { continue }
      let resume: WatchTarget.Resume? =
        [nil, .token([1, 2]), .readTime(DocumentVersion(microseconds: 9))][random.roll(3)]
      let target = WatchTarget(
        id: id, subject: .query(query.target), resume: resume,
        expectedCount: resume == nil ? nil : random.roll(100),
        purpose: random.roll(2) == 0 ? .listen : .existenceFilterMismatchBloom,
        isOnce: random.roll(2) == 0)
      let request = DocumentRequest(.listen(.add(target)), in: sampleDatabase)
      guard let read = try? DocumentRequest.decode(.listen, request.encode()) else { continue }
      #expect(read == request, "\(query.id)")
      #expect(DocumentRequest.addedTarget(in: request.encode()) == id)
    }
  }

  static let parents = [
    "a", "_", "__", "____", "__id", "__idx", "__id7", "__id_", "__idea__x", "__id7__", "__id-1__",
    "__id9223372036854775807__", "__id9223372036854775806__", "__ie", "\u{0}", "\u{E9}", "~",
    "\u{10FFFF}",
  ]

  @Test("a group below a document keeps what lies below it, whatever its id", arguments: parents)
  func descendants(id: String) throws {
    let key = try DocumentKey("r/" + id)
    let request = DocumentRequest(.query(try .group("c"), .now), in: sampleDatabase)
    // The parent of a group is written by hand: our own queries of groups begin at the root.
    var bytes = request.encode()
    var reader = ProtoReader(bytes)
    #expect(try reader.next() == 1)
    try reader.skip()
    bytes.removeFirst(reader.offset)
    var writer = ProtoWriter()
    writer.parent(1, key, sampleNames)
    let read = try DocumentRequest.decode(.runQuery, writer.bytes + bytes)
    guard case .query(let query, .now) = read.body else {
      Issue.record("\(read)")
      return
    }
    let documents = (Self.parents + ["a0", "b", "__id8__", "__id-2__", "__idy"]).flatMap { other in
      ["r/\(other)/c/x", "r/\(other)/d/e/c/x", "r/\(other)/d/x", "r/\(other)"].map {
        Document(DocumentKey(unchecked: $0), .found(.empty))
      }
    }
    let found = query.run(over: documents).map(\.key.text).sorted()
    #expect(found == ["r/\(id)/c/x", "r/\(id)/d/e/c/x"].sorted())
  }
}
