/// Values by name, sorted by the bytes of the names.
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
    for (name, value) in fields { self[name] = value }
  }

  /// Takes over fields that are known to ascend.
  init(sorted entries: [Entry]) { self.entries = entries }

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
      var inner = DocumentMap()
      if case .map(let existing) = self[name] {
        inner = existing
      } else if newValue == nil {
        return
      }
      inner[names.dropFirst()] = newValue
      self[name] = .map(inner)
    }
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
