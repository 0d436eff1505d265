/// Writes in the order of their ids; sharing it and changing it again costs little, however many
/// there are.
///
/// - Complexity: A step is O(1), finding an id O(log *n*), changing a shared list O(√*n*) at the
///   sizes a queue has.
public struct WriteList<Element>: BidirectionalCollection, Sendable
where Element: Identifiable & Equatable & Sendable, Element.ID == UInt64 {
  /// A place in the list.
  public struct Index: Comparable, Sendable {
    let chunk: Int
    let offset: Int

    public static func < (left: Index, right: Index) -> Bool {
      (left.chunk, left.offset) < (right.chunk, right.offset)
    }
  }

  /// The limit on the elements of one part: a change copies one part.
  private static var chunkLimit: Int { 256 }

  /// None is empty.
  private(set) var chunks: [[Element]] = []
  /// The number of writes.
  public private(set) var count = 0

  package init() {}

  public var startIndex: Index { Index(chunk: 0, offset: 0) }
  public var endIndex: Index { Index(chunk: chunks.count, offset: 0) }
  /// The write at a place.
  public subscript(position: Index) -> Element { chunks[position.chunk][position.offset] }

  public func index(after index: Index) -> Index {
    index.offset + 1 < chunks[index.chunk].count
      ? Index(chunk: index.chunk, offset: index.offset + 1)
      : Index(chunk: index.chunk + 1, offset: 0)
  }

  public func index(before index: Index) -> Index {
    index.offset > 0
      ? Index(chunk: index.chunk, offset: index.offset - 1)
      : Index(chunk: index.chunk - 1, offset: chunks[index.chunk - 1].count - 1)
  }

  /// The element of that id; set to add, change or remove it.
  package subscript(id id: UInt64) -> Element? {
    get {
      let place = place(of: id)
      return holds(id, at: place) ? self[place] : nil
    }
    set {
      let place = place(of: id)
      switch (holds(id, at: place), newValue) {
      case (true, let element?): chunks[place.chunk][place.offset] = element
      case (true, nil): remove(at: place)
      case (false, let element?): insert(element, at: place)
      case (false, nil): break
      }
    }
  }

  private func holds(_ id: UInt64, at place: Index) -> Bool {
    place.chunk < chunks.count && place.offset < chunks[place.chunk].count && self[place].id == id
  }

  /// Returns the present or future position of the element with that id; a new greatest one belongs
  /// behind the last part.
  private func place(of id: UInt64) -> Index {
    let chunk = chunks.sortedPrefixCount { $0[$0.count - 1].id < id }
    guard chunk < chunks.count else {
      return Index(chunk: Swift.max(0, chunk - 1), offset: chunks.last?.count ?? 0)
    }
    return Index(chunk: chunk, offset: chunks[chunk].sortedPrefixCount { $0.id < id })
  }

  private mutating func insert(_ element: Element, at place: Index) {
    count += 1
    if chunks.isEmpty { return chunks.append([element]) }
    chunks[place.chunk].insert(element, at: place.offset)
    let size = chunks[place.chunk].count
    guard size > Self.chunkLimit else { return }
    // A list mostly grows at its end: there the full part stays full.
    let kept = place.offset == size - 1 ? size - 1 : size / 2
    let rest = Array(chunks[place.chunk][kept...])
    chunks[place.chunk].removeSubrange(kept...)
    chunks.insert(rest, at: place.chunk + 1)
  }

  private mutating func remove(at place: Index) {
    count -= 1
    chunks[place.chunk].remove(at: place.offset)
    if chunks[place.chunk].isEmpty { chunks.remove(at: place.chunk) }
  }
}

extension WriteList: Equatable {
  public static func == (left: Self, right: Self) -> Bool {
    left.count == right.count && left.elementsEqual(right)
  }
}

extension WriteList: Hashable where Element: Hashable {
  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for element in self { hasher.combine(element) }
  }
}

extension Array {
  /// Returns the number of elements at the front that fulfil `isBefore`, which no later one does.
  func sortedPrefixCount(_ isBefore: (Element) -> Bool) -> Int {
    var range = startIndex..<endIndex
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if isBefore(self[middle]) {
        range = middle + 1..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    return range.lowerBound
  }
}
