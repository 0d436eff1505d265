import TernTestKit

@testable import TernCore
@testable import TernQuery

/// Documents, queries and writes that a seed decides.
struct RandomDocuments {
  var random: SeededGenerator

  init(_ seed: UInt64) { random = SeededGenerator(seed: seed) }

  let paths: [DocumentFieldPath] = ["a", "b", "m.x", "l", "s"]
  let collections = ["c", "d", "c/a/c", "c/b/c", "d/x/e"]
  private let ids = ["a", "b", "c", "d", "e", "f", "g", "__id7__", "__id10__", "a\0", "é", "aa"]

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }

  mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  mutating func key() -> DocumentKey {
    DocumentKey(unchecked: pick(collections) + "/" + pick(ids))
  }

  /// A value out of few, so that values are shared, of all types.
  mutating func value() -> DocumentValue {
    switch Int.random(in: 0..<14, using: &random) {
    case 0: .null
    case 1: .boolean(chance(50))
    case 2, 3, 4: .integer(Int64.random(in: 0...4, using: &random))
    case 5: .double(pick([1, 2.5, .nan, -0.0, 0x1p60]))
    case 6: .string(pick(["", "x", "y", "xy"]))
    case 7: .string(String(repeating: "l", count: 1_600) + pick(["", "1", "2"]))
    case 8: .bytes([UInt8.random(in: 0...2, using: &random)])
    case 9: .timestamp(.init(uncheckedMicroseconds: .random(in: -1...1, using: &random)))
    case 10: .array([element(), element()])
    case 11: .map(["x": element()])
    case 12: .integer((1 << 60) + Int64.random(in: 0...1, using: &random))
    default: .vector([1, Double.random(in: 0...1, using: &random).rounded()])
    }
  }

  mutating func element() -> DocumentValue {
    .integer(Int64.random(in: 0...3, using: &random))
  }

  mutating func fields() -> DocumentFields {
    var map = DocumentMap()
    for path in paths where chance(75) {
      map[path] = path == "l" ? .array([element(), element()]) : value()
    }
    return DocumentFields(map)
  }

  mutating func mutation() -> DocumentMutation {
    let key = key()
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: return .delete(key)
    case 2, 3, 4:
      let path = pick(paths)
      var map = DocumentMap()
      if chance(80) { map[path] = value() }
      return DocumentMutation(
        key, .patch(DocumentFields(map), mask: DocumentFieldMask([path])))
    default: return DocumentMutation(key, .set(fields()))
    }
  }

  /// A legal query of any shape, most of them with a result.
  mutating func query(over keys: [DocumentKey], in database: DocumentDatabase) -> DocumentQuery {
    while true {
      if let query = try? attempt(keys, database) { return query }
    }
  }

  private mutating func attempt(
    _ keys: [DocumentKey], _ database: DocumentDatabase
  ) throws -> DocumentQuery {
    var query: DocumentQuery
    switch Int.random(in: 0..<10, using: &random) {
    case 0: query = .document(key())
    case 1, 2, 3: query = try .group(pick(["c", "d", "e"]))
    default: query = .collection(CollectionPath(unchecked: pick(collections)))
    }
    if case .document = query.source { return query }
    if chance(70) { query = try query.filtered(filter(2, database)) }
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      let path = chance(15) ? DocumentFieldPath.key : pick(paths)
      query = try query.ordered(by: path, isDescending: chance(40))
    }
    query = try bounded(query, keys, database)
    if chance(35) {
      let count = Int.random(in: 1...5, using: &random)
      query = chance(25) && !query.orders.isEmpty ? try query.last(count) : try query.first(count)
    }
    if chance(15) { query = try query.skipping(Int.random(in: 1...3, using: &random)) }
    return query
  }

  private mutating func bounded(
    _ query: DocumentQuery, _ keys: [DocumentKey], _ database: DocumentDatabase
  ) throws -> DocumentQuery {
    var query = query
    for isStart in [true, false] where chance(20) {
      let isInclusive = chance(50)
      let values = query.normalizedOrders.prefix(chance(50) ? 1 : 3).map { order in
        order.path.isKey
          ? DocumentValue.reference(DocumentName(pick(keys), in: database)) : value()
      }
      if chance(50) {
        let count = min(values.count, query.orders.count)
        if count == 0 { continue }
        query =
          isStart
          ? try query.starting(at: Array(values.prefix(count)), isInclusive: isInclusive)
          : try query.ending(at: Array(values.prefix(count)), isInclusive: isInclusive)
      } else {
        let document = Document(pick(keys), .found(fields()))
        query =
          isStart
          ? try query.starting(at: document, in: database, isInclusive: isInclusive)
          : try query.ending(at: document, in: database, isInclusive: isInclusive)
      }
    }
    return query
  }

  private mutating func filter(_ depth: Int, _ database: DocumentDatabase) -> DocumentFilter {
    if depth > 0, chance(45) {
      let members = (0..<2).map { _ in filter(depth - 1, database) }
      return chance(65) ? .and(members) : .or(members)
    }
    if chance(10) {
      let operation = pick([DocumentOperator.equal, .lessThan, .greaterThanOrEqual, .notEqual])
      return .where(.key, operation, .reference(DocumentName(key(), in: database)))
    }
    let operation = pick([
      DocumentOperator.equal, .equal, .equal, .lessThan, .lessThanOrEqual, .greaterThan,
      .greaterThanOrEqual, .notEqual, .in, .notIn, .arrayContains, .arrayContainsAny,
    ])
    switch operation {
    case .arrayContains: return .where("l", operation, element())
    case .arrayContainsAny: return .where("l", operation, .array([element(), element()]))
    case .in, .notIn: return .where(pick(paths), operation, .array([value(), value()]))
    case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      return .where(pick(paths), operation, value())
    }
  }
}
