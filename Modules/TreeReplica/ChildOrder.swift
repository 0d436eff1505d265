import TernCore
import TernQuery

/// The children of one view in the order of its query, kept up to date child by child.
///
/// Children that a query's order does not tell apart except by key, those without the ordered
/// value, come first and are already in order in their `ChildMap`; only the others are kept here,
/// in chunks, so that a change moves a few hundred entries at most.
///
/// A query by key, or by a child that few nodes have, therefore keeps little or nothing here.
struct ChildOrder: Sendable {
  private static let chunkCapacity = 256

  private let order: TreeOrder
  private var chunks: [[ChildMap.Element]] = []
  private(set) var count = 0

  /// Builds the order of what a view shows.
  init(of node: TreeNode, for query: TreeQuery) {
    order = query.order
    if node.children.allSatisfy({ query.order.isPlain($0.node) }) { return }
    let sorted = query.ordered(node).drop { query.order.isPlain($0.node) }
    count = sorted.count
    var rest = sorted[...]
    while !rest.isEmpty {
      chunks.append(Array(rest.prefix(Self.chunkCapacity)))
      rest = rest.dropFirst(Self.chunkCapacity)
    }
  }

  /// Takes in that `key` changed from `old` to `new`; empty stands for absent.
  mutating func replace(_ key: TreeKey, _ old: TreeNode, with new: TreeNode) {
    if !old.isEmpty, !order.isPlain(old) { remove((key, old)) }
    if !new.isEmpty, !order.isPlain(new) { insert((key, new)) }
  }

  /// The key of the child before `element`, which is one of `children`.
  ///
  /// Firebase's child events name the previous sibling, which this finds without sorting.
  ///
  /// - Complexity: O(log *n*), plus the children without a value that are skipped.
  func predecessor(of element: ChildMap.Element, in children: ChildMap) -> TreeKey? {
    if order.isPlain(element.node) { return lastPlain(before: element.key, in: children)?.key }
    let chunk = chunkIndex(for: element)
    let index = chunk < chunks.count ? position(of: element, in: chunks[chunk]) : 0
    if chunk < chunks.count, index > 0 { return chunks[chunk][index - 1].key }
    if chunk > 0 { return chunks[chunk - 1].last?.key }
    return lastPlain(before: nil, in: children)?.key
  }

  private func lastPlain(before key: TreeKey?, in children: ChildMap) -> ChildMap.Element? {
    guard count < children.count else { return nil }
    var candidate = key.map { children.last(before: $0) } ?? children.last
    while let element = candidate, !order.isPlain(element.node) {
      candidate = children.last(before: element.key)
    }
    return candidate
  }

  /// Inserts a child at its position.
  ///
  /// A chunk is split at twice its capacity, so that half of it moves once in a while.
  private mutating func insert(_ element: ChildMap.Element) {
    count += 1
    guard !chunks.isEmpty else {
      chunks = [[element]]
      return
    }
    let chunk = min(chunkIndex(for: element), chunks.count - 1)
    chunks[chunk].insert(element, at: position(of: element, in: chunks[chunk]))
    if chunks[chunk].count > 2 * Self.chunkCapacity {
      let tail = Array(chunks[chunk][Self.chunkCapacity...])
      chunks[chunk].removeLast(tail.count)
      chunks.insert(tail, at: chunk + 1)
    }
  }

  private mutating func remove(_ element: ChildMap.Element) {
    let chunk = chunkIndex(for: element)
    guard chunk < chunks.count else { return }
    let index = position(of: element, in: chunks[chunk])
    guard index < chunks[chunk].count, chunks[chunk][index].key == element.key else { return }
    count -= 1
    chunks[chunk].remove(at: index)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
  }

  /// The first chunk whose last element is not before `element`.
  private func chunkIndex(for element: ChildMap.Element) -> Int {
    lowerBound(chunks.count) { order.compare(chunks[$0][chunks[$0].count - 1], element) < 0 }
  }

  private func position(of element: ChildMap.Element, in chunk: [ChildMap.Element]) -> Int {
    lowerBound(chunk.count) { order.compare(chunk[$0], element) < 0 }
  }

  private func lowerBound(_ count: Int, _ isBefore: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isBefore(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension TreeOrder {
  /// Returns `true` if a child has no value to order by: its key alone places it, before all
  /// others.
  fileprivate func isPlain(_ node: TreeNode) -> Bool { sortValue(of: node) == .empty }
}
