import TernStorage

/// A receiver of the nodes of a tree's leaves, in key order.
protocol LMDBNodeVisitor {
  /// Checks one node. Both buffers are valid during the call.
  mutating func visit(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(StorageError)

  /// The order of two keys: negative, zero or positive.
  static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int

  /// The fewest nodes of a branch page.
  static var branchNodes: Int { get }
}

/// A check of one tree, page by page in key order: everything that LMDB believes without looking.
@safe
struct LMDBTreeCheck<Visitor: LMDBNodeVisitor>: ~Copyable {
  private let tree: LMDBTree
  private let pageBytes: Int
  private var tiling: LMDBTiling
  // One page for each level of the tree, and the last value read from pages of its own. Owned by
  // this value, freed once in `deinit`.
  private let levels: UnsafeMutableRawPointer
  private var value: UnsafeMutableRawPointer
  private var valueCapacity: Int
  private var found: LMDBTree

  init(_ tree: LMDBTree, pageBytes: Int) {
    self.tree = tree
    self.pageBytes = pageBytes
    tiling = LMDBTiling(pageBytes: pageBytes)
    unsafe levels = .allocate(byteCount: max(1, tree.depth) * pageBytes, alignment: 16)
    valueCapacity = 16 * pageBytes
    unsafe value = .allocate(byteCount: valueCapacity, alignment: 16)
    found = tree
    (found.branchPages, found.leafPages, found.overflowPages, found.entries) = (0, 0, 0, 0)
  }

  deinit {
    unsafe levels.deallocate()
    unsafe value.deallocate()
  }

  /// Walks the tree and hands its nodes to `visitor`.
  ///
  /// - Throws: ``StorageError/corruptStore(reason:)``; what `visitor` throws.
  mutating func run(
    _ file: borrowing LMDBFile, _ pages: inout LMDBPageSet, _ visitor: inout Visitor
  ) throws(StorageError) {
    if tree.root == -1 {
      guard tree.depth == 0 else { throw .corruptStore(reason: "a tree has no root") }
    } else {
      guard tree.depth > 0 else { throw .corruptStore(reason: "an empty tree has a root") }
      let bounds = unsafe Bounds()
      unsafe try check(tree.root, level: 0, bounds, file, &pages, &visitor)
    }
    guard found == tree else {
      throw .corruptStore(reason: "a tree has other pages or entries than its meta page says")
    }
  }

  /// The keys a page may have: from `lower` up to, not including, `upper`; `nil` for no bound.
  @unsafe
  private struct Bounds {
    var lower: UnsafeRawBufferPointer?
    var upper: UnsafeRawBufferPointer?
  }

  private mutating func check(
    _ number: Int, level: Int, _ bounds: Bounds, _ file: borrowing LMDBFile,
    _ pages: inout LMDBPageSet, _ visitor: inout Visitor
  ) throws(StorageError) {
    try pages.use(number)
    // Safe: `level` is below the depth, so the target has room for a page.
    let target = unsafe levels + level * pageBytes
    unsafe try file.read(pageBytes, at: number * pageBytes, into: target)
    let page = unsafe LMDBPage(base: UnsafeRawPointer(target), bytes: pageBytes)
    let isLeaf = level == tree.depth - 1
    unsafe try checkHeader(page, number, isLeaf: isLeaf)
    if isLeaf {
      found.leafPages += 1
      found.entries += unsafe page.count
      unsafe try checkLeaf(page, bounds, file, &pages, &visitor)
      return
    }
    found.branchPages += 1
    // The bounds given on are keys of pages on the way here, which stay in their buffers.
    var lower = unsafe bounds.lower
    for index in 0..<(unsafe page.count) {
      let isLast = unsafe index + 1 == page.count
      let upper = unsafe isLast ? bounds.upper : page.key(page.node(index + 1))
      let inner = unsafe Bounds(lower: lower, upper: upper)
      let child = unsafe page.child(page.node(index))
      unsafe try check(child, level: level + 1, inner, file, &pages, &visitor)
      unsafe lower = upper
    }
  }

  private mutating func checkHeader(
    _ page: LMDBPage, _ number: Int, isLeaf: Bool
  ) throws(StorageError) {
    let kind = isLeaf ? LMDBLayout.Kind.leaf : LMDBLayout.Kind.branch
    let (lower, upper) = unsafe (page.lower, page.upper)
    guard unsafe page.number == number, unsafe page.kind == kind else {
      throw Self.damage(number, "its header")
    }
    guard lower & 1 == 0, lower >= LMDBLayout.headerBytes, lower <= upper, upper <= pageBytes,
      unsafe page.count >= (isLeaf ? 1 : Visitor.branchNodes),
      unsafe tiling.holds(page, isLeaf: isLeaf)
    else { throw Self.damage(number, "its nodes do not fit") }
    // A branch's first key is not read by LMDB.
    var last = isLeaf ? 0 : 1
    while unsafe last + 1 < page.count {
      let order = unsafe Visitor.order(page.key(page.node(last)), page.key(page.node(last + 1)))
      guard order < 0 else { throw Self.damage(number, "its keys are out of order") }
      last += 1
    }
  }

  private mutating func checkLeaf(
    _ page: LMDBPage, _ bounds: Bounds, _ file: borrowing LMDBFile, _ pages: inout LMDBPageSet,
    _ visitor: inout Visitor
  ) throws(StorageError) {
    let count = unsafe page.count
    if let lower = unsafe bounds.lower, unsafe Visitor.order(lower, page.key(page.node(0))) > 0 {
      throw unsafe Self.damage(page.number, "it begins before its place")
    }
    if let upper = unsafe bounds.upper,
      unsafe Visitor.order(page.key(page.node(count - 1)), upper) >= 0
    {
      throw unsafe Self.damage(page.number, "it ends behind its place")
    }
    for index in 0..<count {
      let node = unsafe page.node(index)
      let key = unsafe page.key(node)
      let bytes = unsafe page.valueBytes(node)
      let flags = unsafe page.flags(node)
      // Safe: the tiling has shown that key and value, or the number of a page, lie in the page.
      let place = unsafe page.base + node + LMDBLayout.nodeBytes + key.count
      if flags == 0 {
        unsafe try visitor.visit(key, UnsafeRawBufferPointer(start: place, count: bytes))
      } else if flags == LMDBLayout.isElsewhere {
        let first = unsafe Int(bitPattern: place.loadUnaligned(as: UInt.self))
        let value = unsafe try read(bytes, from: first, file, &pages)
        unsafe try visitor.visit(key, value)
      } else {
        throw unsafe Self.damage(page.number, "the flags of a node")
      }
    }
  }

  /// Reads a value from pages of its own.
  private mutating func read(
    _ bytes: Int, from first: Int, _ file: borrowing LMDBFile, _ pages: inout LMDBPageSet
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    let total = LMDBLayout.headerBytes + bytes
    guard first >= 2, first <= file.bytes / pageBytes,
      total <= file.bytes - first * pageBytes
    else { throw LMDBFile.cutOff(bytes: file.bytes) }
    if total > valueCapacity {
      unsafe value.deallocate()
      unsafe value = .allocate(byteCount: total, alignment: 16)
      valueCapacity = total
    }
    unsafe try file.read(total, at: first * pageBytes, into: value)
    let page = unsafe LMDBPage(base: UnsafeRawPointer(value), bytes: total)
    let run = unsafe page.runPages
    guard unsafe page.number == first, unsafe page.kind == LMDBLayout.Kind.overflow,
      run <= file.bytes / pageBytes, run * pageBytes >= total
    else { throw Self.damage(first, "its header") }
    try pages.use(first, run)
    found.overflowPages += run
    return unsafe UnsafeRawBufferPointer(start: value + LMDBLayout.headerBytes, count: bytes)
  }

  private static func damage(_ page: Int, _ part: String) -> StorageError {
    .corruptStore(reason: "page \(page) is damaged: \(part)")
  }
}
