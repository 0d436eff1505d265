import TernCore
import TernDocumentWire

/// Small requests that would be expensive if they were believed.
struct DocumentBombs {
  private let database = Array(benchDatabase.resourceName.utf8)
  private var documents: [UInt8] { database + Array("/documents".utf8) }
  private var name: [UInt8] { documents + Array("/c/a".utf8) }

  var messages: [(DocumentMethod, [UInt8])] {
    let (filter, array, map) = nested(5_000)
    let many = field(1, database) + (0..<200_000).flatMap { _ in [0x12, 0] as [UInt8] }
    return [
      (.runQuery, query(field(3, filter))), (.runQuery, query(field(3, product))),
      (.runQuery, query(orders)), (.commit, write(array)), (.commit, write(map)),
      (.batchWrite, write(map)), (.listen, targets),
      (.runAggregationQuery, query(field(3, filter))),
      (.commit, [UInt8](repeating: 0x0A, count: 1 << 20)), (.commit, many),
      (.batchGetDocuments, field(1, database) + [UInt8](repeating: 0x12, count: 1 << 20)),
    ]
  }

  /// A length-delimited field.
  private func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    var length = content.count
    var bytes = [number << 3 | 2]
    while length >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: length) | 0x80)
      length >>= 7
    }
    return bytes + [UInt8(length)] + content
  }

  /// Filters in filters, arrays in arrays, maps in maps.
  private func nested(_ count: Int) -> (filter: [UInt8], array: [UInt8], map: [UInt8]) {
    var filter = equal(1)
    var array = field(9, [])
    var map = field(6, [])
    for _ in 0..<count {
      filter = field(1, [0x08, 1] + field(2, filter))
      array = field(9, field(1, array))
      map = field(6, field(1, field(1, [0x61]) + field(2, map)))
    }
    return (filter, array, map)
  }

  private func equal(_ value: UInt8) -> [UInt8] {
    field(2, field(1, field(2, Array("n".utf8))) + [0x10, 5] + field(3, [0x10, value]))
  }

  private func query(_ rest: [UInt8]) -> [UInt8] {
    field(1, documents) + field(2, field(2, field(2, Array("c".utf8))) + rest)
  }

  /// Alternatives times alternatives, more than any server can work out.
  private var product: [UInt8] {
    let wide = field(1, [0x08, 2] + (0..<29).flatMap { field(2, equal(UInt8($0))) })
    return field(1, [0x08, 1] + (0..<40).flatMap { _ in field(2, wide) })
  }

  private var orders: [UInt8] {
    (0..<100_000).flatMap { _ in field(4, field(1, field(2, Array("n".utf8)))) }
  }

  private var targets: [UInt8] {
    let names = (0..<50_000).flatMap { _ in field(2, name) }
    return field(1, database) + field(2, [0x28, 2] + field(3, names))
  }

  private func write(_ value: [UInt8]) -> [UInt8] {
    let entry = field(2, field(1, [0x61]) + field(2, value))
    return field(1, database) + field(2, field(1, field(1, name) + entry))
  }
}
