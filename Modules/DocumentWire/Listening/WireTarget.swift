import TernCore
import TernQuery

/// `Target` as a ``WatchTarget``. Source: documents reference, sections 5.9, 6.2 and 6.4.
///
/// The fields of `Target`: 2 query, 3 documents, 4 resume token, 5 id, 6 once, 11 read time, 12
/// expected count, 13 pipeline. `QueryTarget`: 1 parent, 2 query. `DocumentsTarget`: 2 names.
enum WireTarget {
  /// Reads a `Target`. An id of 0 is allowed here: the server then chooses one.
  ///
  /// - Parameters:
  ///   - reader: Stands at the beginning of the target.
  ///   - names: The database of the stream; the first name settles it.
  /// - Throws: ``DocumentWireError/unsupported(_:)`` for a pipeline,
  ///   ``DocumentWireError/member(_:)`` for a target without subject or with a query that cannot be
  ///   watched. The caller ends that target and keeps the stream.
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
        // An empty token is the proto3 default of a target that begins anew.
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
      // A count without a resume point says nothing: the client holds nothing that could differ.
      id: id, subject: subject, resume: resume, expectedCount: resume == nil ? nil : count,
      isOnce: isOnce)
  }

  /// Reads a `QueryTarget`.
  ///
  /// A target has no selection: a watched query hands out whole documents, whatever it selects.
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
    // The query is read last, because its parent may follow it on the wire.
    guard var query else { throw .member("only structured queries are supported") }
    let watched = try WireQuery.query(&query, below: parent, names)
    try watched.checkWatched(below: parent)
    return watched.target
  }

  /// Reads a `DocumentsTarget`: names in any order, which may repeat.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` when it names none. The number is limited by the
  ///   server, not here.
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
  ///
  /// - Parameter parent: The parent of the query on the wire; `nil` is the root.
  /// - Throws: ``DocumentWireError/member(_:)`` in the words of the service, for a search by
  ///   similarity, for a query over all collections, and for a group below a document.
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
  /// Writes a `Target` of our own client.
  ///
  /// - Parameters:
  ///   - field: The number of the field that the target is.
  ///   - target: Its purpose is not part of it; the request carries that as a label.
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

  /// Writes the subject of a query target. A query for one document is sent as a target of
  /// documents, as stock clients do, so that the server groups both under one subject.
  private static func subject(
    _ target: DocumentTarget, _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    if case .document(let key) = target.source { return documents([key], names, to: &writer) }
    let mark = writer.begin(2)
    writer.parent(1, target.source.parent, names)
    WireQuery.target(2, target, to: &writer)
    writer.end(mark)
  }

  /// Writes a `DocumentsTarget`.
  private static func documents(
    _ keys: [DocumentKey], _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    let mark = writer.begin(3)
    for key in keys { writer.key(2, key, names) }
    writer.end(mark)
  }
}
