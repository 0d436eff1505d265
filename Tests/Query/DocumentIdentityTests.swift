import TernCore
import TernTestKit
import Testing

@testable import TernQuery

/// Ids of targets and queries, which no two different ones may share.
@Suite("Identity of document queries") struct DocumentIdentityTests {
  private func target(
    _ source: DocumentQuery.Source = .collection("c"), filter: DocumentFilter? = nil,
    orders: [DocumentOrder] = [], start: DocumentCursor? = nil, end: DocumentCursor? = nil,
    limit: Int? = nil, offset: Int = 0
  ) -> DocumentTarget {
    DocumentQuery.assembled(
      source, filter: filter, orders: orders, start: start, end: end,
      limit: limit.map { (.first, $0) }, offset: offset
    ).target
  }

  private func order(_ names: String..., descending: Bool = false) -> DocumentOrder {
    DocumentOrder(DocumentFieldPath(unchecked: names), isDescending: descending)
  }

  @Test("targets that would read alike without quotes and separators have different ids")
  func adversaries() {
    let one = DocumentFilter.where("a", .equal, 1)
    let alike: [[DocumentTarget]] = [
      [target(.group("x")), target(.collection("|cg:x")), target(.collection("x"))],
      [
        target(.all(below: nil, isRecursive: false)), target(.collection("|allfalse:")),
        target(.all(below: nil, isRecursive: true)),
      ],
      [target(.document("c/a")), target(.collection("c/a")), target(.group("c/a"))],
      [target(.collection("c|f:")), target(.collection("c"))],
      [
        target(orders: [order("a"), order("b", descending: true)]),
        target(orders: [order("aascb", descending: true)]),
        target(orders: [order("a.b", descending: true)]),
        target(orders: [order("a", "b", descending: true)]),
      ],
      [
        target(filter: .or([])), target(filter: .or([.and([])])), target(filter: .and([])),
        target(),
      ],
      [
        target(filter: .and([one, .or([one, one])])),
        target(filter: .or([.and([one, one]), one])),
        target(filter: .and([.or([one]), one])), target(filter: .and([one, one])),
      ],
      [
        target(filter: .where("x", .arrayContains, .double(.infinity))),
        target(filter: .where("xarray_contains", .in, .array([]))),
      ],
      [
        target(limit: 1), target(offset: 1), target(limit: 1, offset: 1),
        target(start: DocumentCursor([], isInclusive: true)),
        target(end: DocumentCursor([], isInclusive: true)),
        target(end: DocumentCursor([], isInclusive: false)), target(),
      ],
      [target(orders: [order("|l:1")]), target(orders: [order("|l")], limit: 1)],
    ]
    for targets in alike {
      #expect(Set(targets.map(\.id)).count == targets.count, "\(targets.map(\.id))")
    }
  }

  @Test("equal ids imply equal targets", arguments: 1...10 as ClosedRange<UInt64>)
  func injective(seed: UInt64) {
    var parts = TargetParts(random: SeededGenerator(seed: seed))
    var known: [String: DocumentTarget] = [:]
    for _ in 0..<2_000 {
      let target = parts.query().target
      if let other = known.updateValue(target, forKey: target.id) {
        #expect(other == target, "seed \(seed): \(target.id)")
      }
    }
  }
}

/// Random queries of few parts, which look like the separators of an id.
private struct TargetParts {
  var random: SeededGenerator

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  private mutating func few<Value>(_ make: (inout TargetParts) -> Value) -> [Value] {
    (0..<Int.random(in: 0...2, using: &random)).map { _ in make(&self) }
  }

  private mutating func name() -> String {
    pick(["a", "b", "asc", "desc", "aascb", "|f:", "|ob:", "a.b", ",", "\"", "\\", "==", "or("])
  }

  private mutating func path() -> DocumentFieldPath {
    DocumentFieldPath(unchecked: [name()] + few { $0.name() })
  }

  private mutating func value() -> DocumentValue {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: .string(name())
    case 1: pick([1, 1.0, .null, true, .double(.infinity), -0.0, 0.0])
    case 2: .array(few { $0.value() })
    case 3: .map(DocumentMap(few { ($0.name(), $0.value()) }))
    case 4: .bytes([1])
    default: .vector([1])
    }
  }

  private mutating func filter(_ depth: Int) -> DocumentFilter {
    switch depth > 0 ? Int.random(in: 0..<3, using: &random) : 0 {
    case 0: .where(path(), pick(DocumentOperator.allCases), value())
    case 1: .and(few { $0.filter(depth - 1) })
    default: .or(few { $0.filter(depth - 1) })
    }
  }

  private mutating func cursor() -> DocumentCursor? {
    pick([0, 1, 2]) > 0
      ? nil : DocumentCursor(few { $0.value() }, isInclusive: pick([true, false]))
  }

  mutating func query() -> DocumentQuery {
    let source: DocumentQuery.Source = pick([
      .collection("c"), .collection("|cg:c"), .group("c"), .document("c/d"), .collection("c|f:"),
      .all(below: nil, isRecursive: true), .all(below: "c/d", isRecursive: true),
    ])
    let filter = pick([true, false]) ? filter(2) : nil
    let orders = few { DocumentOrder($0.path(), isDescending: $0.pick([true, false])) }
    let limit = pick([nil, 1, 2] as [Int?])
    return .assembled(
      source, filter: filter, orders: orders, start: cursor(), end: cursor(),
      limit: limit.map { (pick([.first, .last]), $0) }, offset: pick([0, 0, 1]))
  }
}
