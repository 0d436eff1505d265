import TernStorage

/// A check of the tree of free pages: transaction -> the pages it freed.
/// Source: LMDB 0.9, `mdb.c`, `mdb_freelist_save`.
struct LMDBFreeCheck: LMDBNodeVisitor {
  // LMDB leaves branch pages of this tree with one node.
  static let branchNodes = 1

  private(set) var lastTransaction = 0
  /// The free pages, a few million at most.
  private(set) var pages: [Int] = []

  static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    // A key of another length is found by `visit`.
    guard a.count == 8, b.count == 8 else { return -1 }
    let (left, right) = unsafe (a.loadUnaligned(as: UInt.self), b.loadUnaligned(as: UInt.self))
    return left < right ? -1 : left > right ? 1 : 0
  }

  mutating func visit(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(StorageError) {
    guard key.count == 8, value.count >= 8, value.count & 7 == 0 else { throw Self.damage }
    lastTransaction = unsafe Int(bitPattern: key.loadUnaligned(as: UInt.self))
    let count = unsafe Int(bitPattern: value.loadUnaligned(as: UInt.self))
    guard lastTransaction > 0, count >= 0, count < value.count / 8 else { throw Self.damage }
    var last = Int.max
    for index in 1..<(count + 1) {
      // Safe: `count` numbers follow the first one.
      let page = unsafe Int(
        bitPattern: value.loadUnaligned(fromByteOffset: 8 * index, as: UInt.self))
      guard page < last else { throw Self.damage }
      last = page
      pages.append(page)
    }
  }

  private static var damage: StorageError {
    .corruptStore(reason: "the list of free pages is damaged")
  }
}
