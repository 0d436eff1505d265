import TernCore
import TernQuery

/// `Target` as a ``WatchTarget``. Source: documents reference, sections 5.9, 6.2 and 6.4.
enum WireTarget {
  static func read(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> WatchTarget {
    var (id, count): (Int32, Int?) = (0, nil)
    var subject: WatchTarget.Subject?
    var resume: WatchTarget.Resume?
    var isOnce = false
    while let field = try reader.next() {
      switch field {
      case 2:
        var message = try reader.message()
        subject = .query(try queryTarget(&message, &names))
      case 3: subject = .documents(try documents(&reader, &names))
      case 4:
        let token = try reader.data()
        resume = token.isEmpty ? nil : .token(token)
      case 5: id = try reader.int32()
      case 6: isOnce = try reader.bool()
      case 11: resume = .readTime(try reader.version())
      case 12: count = Int(try reader.wrappedInt())
      case 13: throw .unsupported("pipelines are not served")
      default: try reader.skip()
      }
    }
    guard let subject else { throw .member("A target names documents or a query.") }
    return WatchTarget(
      id: id, subject: subject, resume: resume, expectedCount: resume == nil ? nil : count,
      isOnce: isOnce)
  }

  /// Reads a `QueryTarget`.
  private static func queryTarget(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentTarget {
    var parent: DocumentKey?
    var query: ProtoReader?
    while let field = try reader.next() {
      switch field {
      case 1: parent = try names.parent(try reader.string())
      case 2: query = try reader.message()
      default: try reader.skip()
      }
    }
    guard var query else { throw .member("only structured queries are supported") }
    let watched = try WireQuery.query(&query, below: parent, names)
    try watched.checkWatched(below: parent)
    return watched.target
  }

  private static func documents(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> [DocumentKey] {
    var keys: [DocumentKey] = []
    var message = try reader.message()
    while let field = try message.next() {
      if field == 2 {
        keys.append(try names.key(message.bytes, try message.text()))
      } else {
        try message.skip()
      }
    }
    if keys.isEmpty { throw .member("a target of documents names some") }
    return keys
  }
}

extension DocumentQuery {
  /// Checks that a query can be watched. Source: firestore server reference, section 2.7.
  fileprivate func checkWatched(below parent: DocumentKey?) throws(DocumentWireError) {
    let text = "is not supported by real-time queries."
    if vectorSearch != nil { throw .member("FindNearest \(text)") }
    switch source {
    case .collection, .document: return
    case .group, .all(_, isRecursive: true):
      if parent == nil, case .group = source { return }
      if parent != nil {
        throw .member("'all_descendants' in CollectionSelector with document parent \(text)")
      }
    case .all: break
    }
    throw .member("All-collection queries are not supported by real-time queries.")
  }
}

extension WireTarget {
  static func write(
    _ field: Int, _ target: WatchTarget, _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    let mark = writer.begin(field)
    switch target.subject {
    case .query(let query): subject(query, names, to: &writer)
    case .documents(let keys): documents(keys, names, to: &writer)
    }
    switch target.resume {
    case .token(let token): writer.data(4, token)
    case .readTime(let version): writer.timestamp(11, version.timestamp)
    case nil: break
    }
    writer.int(5, target.id)
    writer.bool(6, target.isOnce)
    if let count = target.expectedCount { writer.wrapped(12, count) }
    writer.end(mark)
  }

  private static func subject(
    _ target: DocumentTarget, _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    if case .document(let key) = target.source { return documents([key], names, to: &writer) }
    let mark = writer.begin(2)
    writer.parent(1, target.source.parent, names)
    WireQuery.target(2, target, to: &writer)
    writer.end(mark)
  }

  private static func documents(
    _ keys: [DocumentKey], _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    let mark = writer.begin(3)
    for key in keys { writer.key(2, key, names) }
    writer.end(mark)
  }
}
