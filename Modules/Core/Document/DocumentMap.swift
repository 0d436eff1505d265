/// Values by name, sorted by the bytes of the names.
///
/// Lookups cost O(log *n*), insertions O(*n*). Names are compared by their bytes; equality is
/// exact, as that of values.
public struct DocumentMap: Hashable, Sendable {
  /// One field.
  public struct Entry: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value of the field.
    public var value: DocumentValue

    public static func == (left: Entry, right: Entry) -> Bool {
      left.name.hasSameBytes(as: right.name) && left.value == right.value
    }

    public func hash(into hasher: inout Hasher) {
      name.hashBytes(into: &hasher)
      hasher.combine(value)
    }
  }

  /// The fields, ascending by name.
  public private(set) var entries: [Entry] = []

  /// Makes a map without fields.
  public init() {}

  /// Makes a map; of fields with one name the last one stays.
  public init(_ fields: some Sequence<(String, DocumentValue)>) {
    var given: [Entry] = []
    var isAscending = true
    for (name, value) in fields {
      if let last = given.last, last.name.compareUTF8(name) >= 0 { isAscending = false }
      given.append(Entry(name: name.contiguous, value: value))
    }
    entries = isAscending ? given : DocumentMap.sorted(given)
  }

  /// Takes over fields that are known to ascend.
  init(sorted entries: [Entry]) { self.entries = entries }

  /// Returns fields in ascending order; of fields with one name the last one stays.
  private static func sorted(_ given: [Entry]) -> [Entry] {
    let order = given.indices.sorted { left, right in
      let names = given[left].name.compareUTF8(given[right].name)
      return names == 0 ? left < right : names < 0
    }
    var sorted: [Entry] = []
    sorted.reserveCapacity(given.count)
    for index in order {
      if let last = sorted.last, last.name.hasSameBytes(as: given[index].name) {
        sorted.removeLast()
      }
      sorted.append(given[index])
    }
    return sorted
  }

  /// The number of fields.
  public var count: Int { entries.count }

  /// True when there is no field.
  public var isEmpty: Bool { entries.isEmpty }

  /// The field of a name; `nil` is no field, and removes one.
  public subscript(name: String) -> DocumentValue? {
    get {
      let index = position(of: name)
      return isField(name, at: index) ? entries[index].value : nil
    }
    set {
      let index = position(of: name)
      let exists = isField(name, at: index)
      switch (newValue, exists) {
      case (let value?, true): entries[index].value = value
      case (let value?, false):
        entries.insert(Entry(name: name.contiguous, value: value), at: index)
      case (nil, true): entries.remove(at: index)
      case (nil, false): break
      }
    }
  }

  /// The value at a path; `nil` when a map on the way, or the field, is missing.
  ///
  /// Setting makes the maps on the way, in the place of what is there, and `nil` removes the
  /// field if it is there.
  public subscript(path: DocumentFieldPath) -> DocumentValue? {
    get { self[path.names[...]] }
    set { self[path.names[...]] = newValue }
  }

  /// The value at the rest of a path. A value on the way that is no map is replaced when a field is
  /// set, and left alone when one is removed.
  private subscript(names: ArraySlice<String>) -> DocumentValue? {
    get {
      guard let name = names.first else { return nil }
      if names.count == 1 { return self[name] }
      guard case .map(let inner) = self[name] else { return nil }
      return inner[names.dropFirst()]
    }
    set {
      guard let name = names.first else { return }
      if names.count == 1 {
        self[name] = newValue
        return
      }
      let index = position(of: name)
      if isField(name, at: index), case .map(var inner) = entries[index].value {
        // Two references to the inner map would make the change copy it.
        entries[index].value = .null
        inner[names.dropFirst()] = newValue
        entries[index].value = .map(inner)
        return
      }
      if newValue == nil { return }
      var inner = DocumentMap()
      inner[names.dropFirst()] = newValue
      self[name] = .map(inner)
    }
  }

  /// Returns the map with the fields at some paths replaced by those of another map, or removed
  /// where that has none.
  ///
  /// Sets each path as the subscript does, in one pass over the fields.
  /// - Parameters:
  ///   - paths: The paths, ascending.
  ///   - depth: The number of names that lead to this map.
  ///   - source: The map that gives the values.
  /// - Complexity: O(fields + paths · log fields).
  func replacing(
    _ paths: ArraySlice<DocumentFieldPath>, at depth: Int, from source: DocumentMap
  ) -> DocumentMap {
    var merged: [Entry] = []
    merged.reserveCapacity(entries.count)
    var copied = 0
    var start = paths.startIndex
    while start < paths.endIndex {
      let name = paths[start].names[depth]
      var end = start + 1
      while end < paths.endIndex, paths[end].names[depth].hasSameBytes(as: name) { end += 1 }
      let index = position(of: name)
      merged.append(contentsOf: entries[copied..<index])
      let isKnown = isField(name, at: index)
      copied = isKnown ? index + 1 : index
      var value = source[name]
      // What lies below a path that ends here changes nothing further.
      if paths[start].names.count > depth + 1 {
        value = DocumentMap.replacing(
          paths[start..<end], at: depth + 1, from: value, in: isKnown ? entries[index].value : nil)
      }
      if let value { merged.append(Entry(name: name.contiguous, value: value)) }
      start = end
    }
    merged.append(contentsOf: entries[copied...])
    return DocumentMap(sorted: merged)
  }

  /// Returns the value after the fields below it are replaced; a map where a field is set.
  private static func replacing(
    _ paths: ArraySlice<DocumentFieldPath>, at depth: Int, from source: DocumentValue?,
    in value: DocumentValue?
  ) -> DocumentValue? {
    var inner = DocumentMap()
    if case .map(let map)? = source { inner = map }
    if case .map(let map)? = value {
      return DocumentValue.map(map.replacing(paths, at: depth, from: inner))
    }
    let made = DocumentMap().replacing(paths, at: depth, from: inner)
    return made.isEmpty ? value : DocumentValue.map(made)
  }

  /// Returns the fields at some paths, as far as they are there.
  ///
  /// - Parameters:
  ///   - paths: The paths, ascending.
  ///   - depth: The number of names that lead to this map.
  func projected(_ paths: ArraySlice<DocumentFieldPath>, at depth: Int) -> DocumentMap {
    var kept: [Entry] = []
    var rest = paths
    func keep(_ entry: Entry, _ paths: ArraySlice<DocumentFieldPath>) {
      guard let value = DocumentMap.projected(entry.value, paths, at: depth + 1) else { return }
      kept.append(Entry(name: entry.name, value: value))
    }
    // Whichever are fewer are looked up among the others.
    if paths.count < entries.count {
      while let name = rest.first?.names[depth] {
        let below = rest.prefix { $0.names[depth].hasSameBytes(as: name) }
        rest = rest[below.endIndex...]
        let index = position(of: name)
        if isField(name, at: index) { keep(entries[index], below) }
      }
    } else {
      for entry in entries {
        rest = rest.behindSmaller { $0.names[depth].compareUTF8(entry.name) < 0 }
        let others = rest.behindSmaller { $0.names[depth].compareUTF8(entry.name) <= 0 }
        if rest.startIndex < others.startIndex {
          keep(entry, rest[rest.startIndex..<others.startIndex])
        }
        rest = others
      }
    }
    return DocumentMap(sorted: kept)
  }

  /// Returns what paths keep of the value they lead to; `nil` when that is nothing.
  private static func projected(
    _ value: DocumentValue, _ paths: ArraySlice<DocumentFieldPath>, at depth: Int
  ) -> DocumentValue? {
    // The shortest path is the first one.
    if paths.first?.names.count == depth { return value }
    guard case .map(let map) = value else { return nil }
    let inner = map.projected(paths, at: depth)
    return inner.isEmpty ? nil : .map(inner)
  }

  func displayed(_ display: DocumentPendingTimestamp.Display) -> DocumentMap {
    DocumentMap(
      sorted: entries.map { Entry(name: $0.name, value: $0.value.displayed(display)) })
  }

  private func isField(_ name: String, at index: Int) -> Bool {
    index < entries.count && entries[index].name.hasSameBytes(as: name)
  }

  /// The index of the first field that does not sort before `name`.
  private func position(of name: String) -> Int {
    if let last = entries.last, last.name.compareUTF8(name) < 0 { return entries.count }
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].name.compareUTF8(name) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension DocumentMap: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, DocumentValue)...) {
    self.init(elements.map { ($0.0, $0.1) })
  }
}

extension ArraySlice<DocumentFieldPath> {
  /// Returns the rest behind those that come first because a condition holds for them.
  fileprivate func behindSmaller(_ isSmaller: (DocumentFieldPath) -> Bool) -> Self {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if isSmaller(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return self[low...]
  }
}
