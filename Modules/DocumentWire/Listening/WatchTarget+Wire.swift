import TernCore
import TernQuery

/// `Target` as a ``WatchTarget``. Source: documents reference, sections 5.9, 6.2 and 6.4.
extension ProtoReader {
  mutating func target(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> WatchTarget {
    var (id, count): (Int32, Int?) = (0, nil)
    var subject: WatchTarget.Subject?
    var resume: WatchTarget.Resume?
    var isOnce = false
    while let field = try next() {
      switch field {
      case 2:
        var message = try message()
        subject = .query(try message.queryTarget(&names))
      case 3: subject = .documents(try documents(&names))
      case 4:
        let token = try data()
        resume = token.isEmpty ? nil : .token(token)
      case 5: id = try int32()
      case 6: isOnce = try bool()
      case 11: resume = .readTime(try version())
      case 12: count = Int(try wrappedInt())
      case 13: throw .unsupported("pipelines are not served")
      default: try skip()
      }
    }
    guard let subject else { throw .member("A target names documents or a query.") }
    return WatchTarget(
      id: id, subject: subject, resume: resume, expectedCount: resume == nil ? nil : count,
      isOnce: isOnce)
  }

  private mutating func queryTarget(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentTarget {
    var parent: DocumentKey?
    var query: ProtoReader?
    while let field = try next() {
      switch field {
      case 1: parent = try names.parent(try string())
      case 2: query = try message()
      default: try skip()
      }
    }
    guard var query else { throw .member("only structured queries are supported") }
    let watched = try query.query(below: parent, names)
    try watched.checkWatched(below: parent)
    return watched.target
  }

  private mutating func documents(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> [DocumentKey] {
    var keys: [DocumentKey] = []
    var message = try message()
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

extension ProtoWriter {
  mutating func target(_ field: Int, _ target: WatchTarget, _ names: DocumentNames) {
    let mark = begin(field)
    switch target.subject {
    case .query(let query): subject(query, names)
    case .documents(let keys): documents(keys, names)
    }
    switch target.resume {
    case .token(let token): data(4, token)
    case .readTime(let version): timestamp(11, version.timestamp)
    case nil: break
    }
    int(5, target.id)
    bool(6, target.isOnce)
    if let count = target.expectedCount { wrapped(12, count) }
    end(mark)
  }

  private mutating func subject(_ target: DocumentTarget, _ names: DocumentNames) {
    if case .document(let key) = target.source { return documents([key], names) }
    let mark = begin(2)
    parent(1, of: target.source, names)
    self.target(2, target)
    end(mark)
  }

  private mutating func documents(_ keys: [DocumentKey], _ names: DocumentNames) {
    let mark = begin(3)
    for key in keys { self.key(2, key, names) }
    end(mark)
  }
}
