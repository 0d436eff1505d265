import TernCore
import TernQuery
import TernSync

/// The byte encoding of targets and queries: equal bytes mean equal targets.
///
/// Source: Docs/Formats/document-cache.md, section 5.
///
/// The encoding is canonical: one subject has one encoding, so that targets are found by their
/// bytes. Texts and lists have their count before them, composites their members behind them.
enum SubjectBytes {
  private enum Kind {
    static let collection: UInt8 = 1
    static let group: UInt8 = 2
    static let document: UInt8 = 3
    static let documents: UInt8 = 4
    /// The documents of all collections below a document; no client asks for them.
    static let children: UInt8 = 5
    static let descendants: UInt8 = 6
  }

  /// The bytes of a subject.
  static func of(_ subject: WatchTarget.Subject) -> [UInt8] {
    switch subject {
    case .query(let target):
      var bytes = source(target.source)
      append(target.filter, to: &bytes)
      append(target.orders, to: &bytes)
      append(target.start, to: &bytes)
      append(target.end, to: &bytes)
      bytes.append(integer: UInt32(clamping: target.limit ?? 0))
      bytes.append(integer: UInt32(clamping: target.offset))
      return bytes
    case .documents(let keys):
      var bytes = [Kind.documents]
      for key in keys { bytes.append(text: key.text) }
      return bytes
    }
  }

  /// Returns the source of a target from the bytes of its subject; `nil` when it names documents.
  ///
  /// Reads only the beginning, which is enough to find the collection.
  static func source(of bytes: [UInt8]) -> DocumentQuery.Source? {
    var reader = RecordReader(bytes)
    return source(&reader)
  }

  /// The bytes of a whole query.
  static func of(_ query: DocumentQuery) -> [UInt8] {
    var bytes = source(query.source)
    append(query.filter, to: &bytes)
    append(query.orders, to: &bytes)
    append(query.start, to: &bytes)
    append(query.end, to: &bytes)
    bytes.append(query.limit?.side == .last ? 1 : 0)
    bytes.append(integer: UInt32(clamping: query.limit?.count ?? 0))
    bytes.append(integer: UInt32(clamping: query.offset))
    return bytes
  }

  /// Reads the bytes of a whole query; `nil` when they are none.
  ///
  /// - Returns: `nil` also when bytes are left over.
  static func query(_ bytes: [UInt8]) -> DocumentQuery? {
    var reader = RecordReader(bytes)
    guard let source = source(&reader), let filter = filter(&reader, depth: 0),
      let orders = orders(&reader), let start = cursor(&reader), let end = cursor(&reader),
      let side = reader.byte(), side < 2, let count: UInt32 = reader.integer(),
      let offset: UInt32 = reader.integer(), reader.isAtEnd
    else { return nil }
    return DocumentQuery.assembled(
      source, filter: filter.value, orders: orders, start: start.value, end: end.value,
      limit: count == 0 ? nil : (side == 1 ? .last : .first, Int(count)), offset: Int(offset))
  }

  // MARK: Sources

  private static func source(_ source: DocumentQuery.Source) -> [UInt8] {
    var bytes: [UInt8]
    switch source {
    case .collection(let path):
      bytes = [Kind.collection]
      bytes.append(text: path.text)
    case .group(let id):
      bytes = [Kind.group]
      bytes.append(text: id)
    case .document(let key):
      bytes = [Kind.document]
      bytes.append(text: key.text)
    case .all(let parent, let isRecursive):
      bytes = [isRecursive ? Kind.descendants : Kind.children]
      bytes.append(text: parent?.text ?? "")
    }
    return bytes
  }

  private static func source(_ reader: inout RecordReader) -> DocumentQuery.Source? {
    guard let kind = reader.byte(), kind != Kind.documents, let text = reader.text() else {
      return nil
    }
    switch kind {
    case Kind.collection: return .collection(CollectionPath(unchecked: text))
    case Kind.group: return .group(text)
    case Kind.document: return .document(DocumentKey(unchecked: text))
    case Kind.children, Kind.descendants:
      let parent = text.isEmpty ? nil : DocumentKey(unchecked: text)
      return .all(below: parent, isRecursive: kind == Kind.descendants)
    default: return nil
    }
  }

  // MARK: Filters

  private static func append(_ filter: DocumentFilter?, to bytes: inout [UInt8]) {
    switch filter {
    case nil: bytes.append(0)
    case .field(let field):
      bytes.append(1)
      append(field.path, to: &bytes)
      bytes.append(text: field.comparison.rawValue)
      append(field.operand, to: &bytes)
    case .and(let members): append(2, members, to: &bytes)
    case .or(let members): append(3, members, to: &bytes)
    }
  }

  private static func append(
    _ kind: UInt8, _ members: [DocumentFilter], to bytes: inout [UInt8]
  ) {
    bytes.append(kind)
    bytes.append(integer: UInt32(clamping: members.count))
    for member in members { append(member, to: &bytes) }
  }

  /// An optional that may be present and empty.
  private struct Read<Value> { let value: Value? }

  /// The most composites around one comparison in a stored query.
  ///
  /// Stored bytes that were damaged must not exhaust the stack.
  private static let depthLimit = 100

  private static func filter(
    _ reader: inout RecordReader, depth: Int
  ) -> Read<DocumentFilter>? {
    guard depth <= depthLimit, let kind = reader.byte() else { return nil }
    switch kind {
    case 0: return Read(value: nil)
    case 1:
      guard let path = path(&reader), let text = reader.text(),
        let comparison = DocumentOperator(rawValue: text), let operand = value(&reader)
      else { return nil }
      return Read(value: .where(path, comparison, operand))
    case 2, 3:
      guard let count: UInt32 = reader.integer() else { return nil }
      var members: [DocumentFilter] = []
      for _ in 0..<count {
        guard let member = filter(&reader, depth: depth + 1)?.value else { return nil }
        members.append(member)
      }
      return Read(value: kind == 2 ? .and(members) : .or(members))
    default: return nil
    }
  }

  // MARK: Orders, cursors, values

  private static func append(_ orders: [DocumentOrder], to bytes: inout [UInt8]) {
    bytes.append(integer: UInt32(clamping: orders.count))
    for order in orders {
      bytes.append(order.isDescending ? 1 : 0)
      append(order.path, to: &bytes)
    }
  }

  private static func orders(_ reader: inout RecordReader) -> [DocumentOrder]? {
    guard let count: UInt32 = reader.integer() else { return nil }
    var orders: [DocumentOrder] = []
    for _ in 0..<count {
      guard let flag = reader.byte(), let path = path(&reader) else { return nil }
      orders.append(DocumentOrder(path, isDescending: flag == 1))
    }
    return orders
  }

  private static func append(_ cursor: DocumentCursor?, to bytes: inout [UInt8]) {
    guard let cursor else { return bytes.append(0) }
    bytes.append(cursor.isInclusive ? 1 : 2)
    append(.array(cursor.values), to: &bytes)
  }

  private static func cursor(_ reader: inout RecordReader) -> Read<DocumentCursor>? {
    guard let kind = reader.byte() else { return nil }
    if kind == 0 { return Read(value: nil) }
    guard kind < 3, case .array(let values) = value(&reader) else { return nil }
    return Read(value: DocumentCursor(values, isInclusive: kind == 1))
  }

  static func append(_ path: DocumentFieldPath, to bytes: inout [UInt8]) {
    bytes.append(integer: UInt16(clamping: path.names.count))
    for name in path.names { bytes.append(text: name) }
  }

  static func path(_ reader: inout RecordReader) -> DocumentFieldPath? {
    guard let count: UInt16 = reader.integer(), count > 0 else { return nil }
    var names: [String] = []
    for _ in 0..<count {
      guard let name = reader.text() else { return nil }
      names.append(name)
    }
    return DocumentFieldPath(unchecked: names)
  }

  private static func append(_ value: DocumentValue, to bytes: inout [UInt8]) {
    bytes.append(counted: DocumentFields(["": value]).bytes)
  }

  private static func value(_ reader: inout RecordReader) -> DocumentValue? {
    reader.counted().flatMap { DocumentFields(validating: $0)?[""] }
  }
}
