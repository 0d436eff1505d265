import Foundation

/// The parts of an LMDB file, as the offsets of their bytes: what a test damages on purpose.
struct LMDBFileMap {
  enum Part: CaseIterable {
    case meta, header, pointer, nodeHead, key, value, branch, overflow, freeList
  }

  static let pageBytes = 4_096
  private let bytes: [UInt8]
  private(set) var parts: [Part: [Int]] = [:]

  init(_ data: Data) {
    bytes = [UInt8](data)
    let newest = number(144, 8) > number(Self.pageBytes + 144, 8) ? 0 : Self.pageBytes
    for meta in [0, Self.pageBytes] { add(.meta, meta..<(meta + 152)) }
    walk(number(newest + 80, 8), isFree: true)
    walk(number(newest + 128, 8), isFree: false)
  }

  /// The page the newest commit was written to: 0 or 1.
  var newestMeta: Int { number(144, 8) > number(Self.pageBytes + 144, 8) ? 0 : 1 }

  private mutating func walk(_ page: Int, isFree: Bool) {
    guard page > 0 else { return }
    let start = page * Self.pageBytes
    let isBranch = number(start + 10, 2) & 1 != 0
    add(isFree ? .freeList : .header, start..<(start + 16))
    for index in 0..<((number(start + 12, 2) - 16) / 2) {
      let pointer = start + 16 + 2 * index
      add(isFree ? .freeList : .pointer, pointer..<(pointer + 2))
      let node = start + number(pointer, 2)
      let value = node + 8 + number(node + 6, 2)
      if isBranch {
        add(.branch, node..<value)
        walk(number(node, 6), isFree: isFree)
        continue
      }
      add(isFree ? .freeList : .nodeHead, node..<(node + 8))
      add(isFree ? .freeList : .key, (node + 8)..<value)
      if number(node + 4, 2) & 1 != 0 {
        let first = number(value, 8) * Self.pageBytes
        add(.overflow, value..<(value + 8))
        add(.overflow, first..<(first + 16))
      } else {
        add(isFree ? .freeList : .value, value..<(value + number(node, 4)))
      }
    }
  }

  private mutating func add(_ part: Part, _ range: Range<Int>) {
    parts[part, default: []] += range
  }

  private func number(_ offset: Int, _ count: Int) -> Int {
    (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
  }
}
