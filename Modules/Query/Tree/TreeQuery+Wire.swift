package import TernCore

extension TreeQuery {
  /// Stands below every key where a message needs a name for that.
  ///
  /// The text can be no key, because brackets are not allowed in one.
  package static let minimumKeyName = "[MIN_NAME]"

  /// Stands above every key where a message needs a name for that.
  package static let maximumKeyName = "[MAX_NAME]"

  /// Names this query among all queries at one location: its wire object, or `default`.
  public var id: String {
    if isDefault { return "default" }
    var writer = JSONWriter()
    write(to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Writes the wire object with its keys sorted. Source: realtime reference, section 3.4.
  ///
  /// | member | content |
  /// |---|---|
  /// | `sp`, `sn`, `sin` | value, key and inclusion of the start |
  /// | `ep`, `en`, `ein` | value, key and inclusion of the end |
  /// | `l`, `vf` | number of children, `l` or `r` for the side of the limit |
  /// | `i` | order: `.key`, `.value` or a path; absent for priorities |
  ///
  /// Sorted names make the text a name of the query: equal queries have equal text.
  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let end {
      writer.key("ein")
      writer.bool(end.isInclusive)
      if let name = boundKey(end, isStart: false) {
        writer.key("en")
        writer.string(name)
      }
      writer.key("ep")
      writer.write(end.value)
    }
    if let index {
      writer.key("i")
      writer.string(index)
    }
    if let limit {
      writer.key("l")
      writer.integer(limit.count)
    }
    if let start {
      writer.key("sin")
      writer.bool(start.isInclusive)
      if let name = boundKey(start, isStart: true) {
        writer.key("sn")
        writer.string(name)
      }
      writer.key("sp")
      writer.write(start.value)
    }
    if let limit {
      writer.key("vf")
      writer.string(limit.side == .first ? "l" : "r")
    }
    writer.endObject()
  }

  private var index: String? {
    switch order {
    case .priority: nil
    case .key: ".key"
    case .value: ".value"
    case .child(let path): path.text
    }
  }

  /// Returns the key to write with a bound. An exclusive bound without a key excludes all children
  /// of its value, which the wire expresses by a sentinel beyond all of them.
  private func boundKey(_ bound: TreeBound, isStart: Bool) -> String? {
    if let key = bound.key { return key.text }
    if bound.isInclusive || order == .key { return nil }
    return isStart ? TreeQuery.maximumKeyName : TreeQuery.minimumKeyName
  }
}

extension JSONWriter {
  fileprivate mutating func write(_ value: TreeScalar?) {
    if let value { scalar(value) } else { null() }
  }
}

extension TreeQuery {
  /// Reads a wire object as either generation of clients writes it.
  ///
  /// - Throws: ``TreeQueryError`` for values that no query can have.
  ///
  /// Unknown members are ignored. Rules that only builders check, such as the type of a bound, are
  /// not enforced here.
  package init(wire value: JSONValue) throws(TreeQueryError) {
    var query = TreeQuery.all
    switch value["i"]?.text {
    case nil: break
    case ".key": query.order = .key
    case ".value": query.order = .value
    case ".priority": query.order = .priority
    case .some(let path):
      do throws(TreeError) { query.order = .child(try TreePath(path)) } catch { throw .tree(error) }
    }
    query.isOrdered = value["i"] != nil
    query.start = try TreeQuery.bound(value, "sp", "sn", "sin", sentinel: TreeQuery.maximumKeyName)
    query.end = try TreeQuery.bound(value, "ep", "en", "ein", sentinel: TreeQuery.minimumKeyName)
    if let count = value["l"] {
      guard case .integer(let count) = count, (1...Int64(Int32.max)).contains(count) else {
        throw .limitOutOfRange(Int(clamping: value["l"]?.integer ?? 0))
      }
      query.limit = TreeLimit(TreeQuery.side(value["vf"], hasStart: query.start != nil), Int(count))
    }
    self = query
  }

  /// The legacy limit without a side counts from the start of a range that has one.
  private static func side(_ from: JSONValue?, hasStart: Bool) -> TreeLimit.Side {
    switch from?.text {
    case "l": .first
    case "r": .last
    default: hasStart ? .first : .last
    }
  }

  /// Reads one end of the range.
  ///
  /// - Parameters:
  ///   - object: The wire object.
  ///   - valueName: The member that holds the value; without it there is no bound.
  ///   - keyName: The member that holds the key.
  ///   - inclusiveName: The member that is `false` for an exclusive bound.
  ///   - sentinel: The key that marks an exclusive bound without a key.
  private static func bound(
    _ object: JSONValue, _ valueName: String, _ keyName: String, _ inclusiveName: String,
    sentinel: String
  ) throws(TreeQueryError) -> TreeBound? {
    guard let value = object[valueName] else { return nil }
    let isInclusive = object[inclusiveName] != .bool(false)
    let name = object[keyName]?.text
    // A bare sentinel is how an exclusive bound without a key is written.
    if name == sentinel { return TreeBound(try scalar(value), isInclusive: false) }
    let isEdge = name == minimumKeyName || name == maximumKeyName
    let key = isEdge ? nil : name.map { TreeKey(unchecked: $0) }
    return TreeBound(try scalar(value), key: key, isInclusive: isInclusive)
  }

  private static func scalar(_ value: JSONValue) throws(TreeQueryError) -> TreeScalar? {
    switch value {
    case .null: nil
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .string(let text): .string(text)
    case .array, .object: throw .invalidBound
    }
  }
}
