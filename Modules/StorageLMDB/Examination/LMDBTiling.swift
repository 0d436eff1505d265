import TernStorage

/// Checks that the nodes of a page lie in it side by side, as LMDB packs them.
@safe
struct LMDBTiling: ~Copyable {
  // For each even offset: the page it was last written for, and the bytes of the node there. Owned
  // by this value, freed once in `deinit`.
  private let ends: UnsafeMutablePointer<UInt64>
  private let pageBytes: Int
  private var stamp: UInt64 = 0

  init(pageBytes: Int) {
    self.pageBytes = pageBytes
    unsafe ends = .allocate(capacity: pageBytes / 2)
    unsafe ends.initialize(repeating: 0, count: pageBytes / 2)
  }

  deinit { unsafe ends.deallocate() }

  /// Returns true when every node lies between the page's upper bound and its end, without gap or
  /// overlap.
  mutating func holds(_ page: LMDBPage, isLeaf: Bool) -> Bool {
    stamp += 1 << 32
    let count = unsafe page.count
    for index in 0..<count {
      let node = unsafe page.node(index)
      guard node & 1 == 0, node >= LMDBLayout.headerBytes, node + LMDBLayout.nodeBytes <= pageBytes
      else { return false }
      let bytes = unsafe Self.bytes(of: node, in: page, isLeaf: isLeaf)
      guard node + bytes <= pageBytes else { return false }
      unsafe ends[node >> 1] = stamp | UInt64(bytes)
    }
    var place = unsafe page.upper
    guard place & 1 == 0 else { return false }
    for _ in 0..<count {
      guard place < pageBytes else { return false }
      let entry = unsafe ends[place >> 1]
      guard entry & ~0xFFFF_FFFF == stamp else { return false }
      place += Int(entry & 0xFFFF_FFFF)
    }
    return place == pageBytes
  }

  /// The bytes a node takes, which are even.
  @inline(__always)
  private static func bytes(of node: Int, in page: LMDBPage, isLeaf: Bool) -> Int {
    var bytes = unsafe LMDBLayout.nodeBytes + page.keyBytes(node)
    if isLeaf {
      bytes += unsafe page.flags(node) == LMDBLayout.isElsewhere ? 8 : page.valueBytes(node)
    }
    return (bytes + 1) & ~1
  }
}
