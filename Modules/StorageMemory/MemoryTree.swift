import TernStorage

/// A persistent B+tree: a copy is a snapshot, and a transaction copies only the pages it changes.
///
/// Each page names the transaction that made it. A transaction changes its own pages in place and
/// copies all others first, so pages that a snapshot can reach never change. Reference counting
/// frees pages that no snapshot and no newer tree refers to.
///
/// Invariants: all leaves are at the same depth; keys are in order across pages; a branch has at
/// least one child; no page but the root is empty.
struct MemoryTree: Sendable {
  private(set) var root = MemoryPage(owner: 0, isLeaf: true)

  /// Calls `body` with the value stored under `key`, or returns `nil`.
  func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    // Safe: `root` holds every page and value below it until `body` has returned.
    let value = unsafe key.withUnsafeBytes { unsafe find($0) }
    guard let value = unsafe value else { return nil }
    let result = unsafe try body(Span(_unsafeBytes: value))
    extendLifetime(root)
    return result
  }

  /// Finds the value of a key.
  ///
  /// Descends without retaining pages: the root keeps all of them alive during the call.
  private func find(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    var page = unsafe Unmanaged.passUnretained(root)
    while true {
      let next = unsafe page._withUnsafeGuaranteedRef { page -> Unmanaged<MemoryPage>? in
        unsafe page.isLeaf ? nil : page.child(page.childIndex(key))
      }
      guard let next = unsafe next else { break }
      unsafe page = next
    }
    return unsafe page._withUnsafeGuaranteedRef { page in
      guard let index = unsafe page.find(key) else { return nil }
      return unsafe page.value(index)
    }
  }

  // MARK: Changing

  /// Stores `value` under `key`; `owner` is the transaction's own number.
  ///
  /// - Complexity: O(log *n*) pages are visited; each is copied at most once in a transaction.
  mutating func put(_ value: Span<UInt8>, for key: Span<UInt8>, owner: UInt64) {
    own(owner)
    guard let right = Self.put(value, for: key, in: root, owner) else { return }
    let top = MemoryPage(owner: owner, isLeaf: false)
    top.insert(root, for: [], at: 0)
    top.insert(right.page, for: right.key, at: 1)
    root = top
  }

  /// Removes the keys from `lower` up to, not including, `upper`.
  ///
  /// Whole subtrees between the two ends of the range are dropped without being visited.
  mutating func remove(from lower: [UInt8], to upper: [UInt8]?, owner: UInt64) {
    own(owner)
    unsafe lower.withUnsafeBytes { lower in
      if let upper {
        unsafe upper.withUnsafeBytes { unsafe Self.remove(lower, $0, in: root, owner) }
      } else {
        unsafe Self.remove(lower, nil, in: root, owner)
      }
    }
    while !root.isLeaf, root.count == 1 {
      root = unsafe root.child(0).takeUnretainedValue()
    }
    if root.count == 0 { root = MemoryPage(owner: owner, isLeaf: true) }
  }

  private mutating func own(_ owner: UInt64) {
    if root.owner != owner { root = root.copy(owner: owner) }
  }

  private typealias Split = (key: [UInt8], page: MemoryPage)

  /// Stores a row in the subtree of a page that the transaction owns.
  ///
  /// - Returns: The new right neighbor and the key that divides the two when the page was split.
  private static func put(
    _ value: Span<UInt8>, for key: Span<UInt8>, in page: MemoryPage, _ owner: UInt64
  ) -> Split? {
    var place = 0
    if page.isLeaf {
      place = unsafe key.withUnsafeBytes { unsafe page.lowerBound($0) }
      if place < page.count, unsafe key.withUnsafeBytes({ unsafe page.order(place, $0) }) == 0 {
        page.replace(value, for: key, at: place)
      } else {
        page.insert(value, for: key, at: place)
      }
    } else {
      let index = unsafe key.withUnsafeBytes { unsafe page.childIndex($0) }
      let child = ownedChild(index, of: page, owner)
      guard let right = put(value, for: key, in: child, owner) else { return nil }
      place = index + 1
      page.insert(right.page, for: right.key, at: place)
    }
    return page.isOverfull ? split(page, place, owner) : nil
  }

  /// The child at `index`, copied first unless `owner` may change it.
  private static func ownedChild(
    _ index: Int, of page: MemoryPage, _ owner: UInt64
  ) -> MemoryPage {
    let child = unsafe page.child(index).takeUnretainedValue()
    if child.owner == owner { return child }
    let copy = child.copy(owner: owner)
    page.replaceChild(index, with: copy)
    return copy
  }

  /// Moves the greater half of `page` to a new one; after an append only the new record, so that
  /// rows put in order fill their pages.
  ///
  /// - Parameter place: The index of the record that was inserted last.
  private static func split(_ page: MemoryPage, _ place: Int, _ owner: UInt64) -> Split {
    let right = MemoryPage(
      owner: owner, isLeaf: page.isLeaf, capacity: MemoryPage.targetBytes + 512)
    let middle = place == page.count - 1 ? page.count - 1 : page.count / 2
    page.move(middle..<page.count, to: right)
    let first = unsafe [UInt8](right.key(0))
    guard page.isLeaf else { return (first, right) }
    // The shortest key that still divides the two keeps branches small.
    let last = unsafe [UInt8](page.key(page.count - 1))
    let common = zip(first, last).prefix { $0 == $1 }.count
    return (Array(first.prefix(common + 1)), right)
  }

  /// Removes a range from the subtree of a page that the transaction owns.
  ///
  /// Only the first and the last child of the range are descended into; those between are removed
  /// as a whole. The last one is handled first, so that indexes before it stay valid.
  private static func remove(
    _ lower: UnsafeRawBufferPointer, _ upper: UnsafeRawBufferPointer?, in page: MemoryPage,
    _ owner: UInt64
  ) {
    if page.isLeaf {
      let first = unsafe page.lowerBound(lower)
      let end = if let upper = unsafe upper { unsafe page.lowerBound(upper) } else { page.count }
      if first < end { page.remove(first..<end) }
      return
    }
    let first = unsafe page.childIndex(lower)
    let last =
      if let upper = unsafe upper { unsafe page.childIndex(upper) } else { page.count - 1 }
    unsafe remove(lower, upper, in: ownedChild(first, of: page, owner), owner)
    if last > first {
      unsafe remove(lower, upper, in: ownedChild(last, of: page, owner), owner)
      tidy(last, of: page, owner)
      page.remove((first + 1)..<last)
    }
    tidy(first, of: page, owner)
  }

  /// Removes a child that became empty, or joins it with its neighbour when both are small.
  ///
  /// Pages are joined when the result stays below three quarters of a page, so that the next
  /// insertion does not split it again. Branches are never joined; they shrink only by losing
  /// children.
  private static func tidy(_ index: Int, of page: MemoryPage, _ owner: UInt64) {
    let child = unsafe page.child(index).takeUnretainedValue()
    if child.count == 0 { return page.remove(index..<(index + 1)) }
    guard child.isLeaf, child.liveBytes < MemoryPage.targetBytes / 4, index + 1 < page.count
    else { return }
    let next = unsafe page.child(index + 1).takeUnretainedValue()
    guard next.liveBytes < MemoryPage.targetBytes / 2 else { return }
    let moved = next.copy(owner: owner)
    moved.move(0..<moved.count, to: child)
    page.remove((index + 1)..<(index + 2))
  }
}

extension Span<UInt8> {
  /// A view of bytes the caller keeps alive and unchanged.
  @unsafe
  @_lifetime(borrow bytes)
  init(_unsafeBytes bytes: UnsafeRawBufferPointer) {
    let typed = unsafe bytes.assumingMemoryBound(to: UInt8.self)
    let span = unsafe Span(_unsafeElements: typed)
    self = unsafe _overrideLifetime(span, borrowing: bytes)
  }
}
