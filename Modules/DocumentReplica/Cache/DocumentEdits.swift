import TernCore

/// The unstored change of one document.
struct DocumentEdit: Sendable {
  /// The server's state and its version; invalid when the document is to be removed.
  var contents: (document: Document, readTime: DocumentVersion)?
  /// The targets whose result it entered or left.
  var targets = TargetMoves()
  /// `true` if the change counts as a use.
  var isUsed = false

  /// `true` if the document must have a row even when none is stored.
  var needsRow: Bool {
    if let contents, contents.document.state != .invalid { return true }
    return targets.hasEntry
  }
}

/// The targets whose result one document entered (`true`) or left (`false`): mostly one.
///
/// The first move needs no dictionary, which saves an allocation for almost every document of an
/// event.
struct TargetMoves: Sendable {
  /// The target that was noted first; `nil` without any.
  private(set) var first: (target: Int32, isEntry: Bool)?
  private(set) var others: [Int32: Bool] = [:]

  /// `true` if the document entered the result of a target.
  var hasEntry: Bool { first?.isEntry == true || others.values.contains(true) }

  /// `true` if the document entered the target's result, `false` if it left; `nil` for neither.
  subscript(target: Int32) -> Bool? {
    if let first, first.target == target { return first.isEntry }
    return others[target]
  }

  /// Notes an entry or a departure, in place of an earlier one.
  mutating func note(_ target: Int32, isEntry: Bool) {
    if first == nil || first?.target == target {
      first = (target, isEntry)
    } else {
      others[target] = isEntry
    }
  }
}

extension TargetMoves: Sequence {
  /// The entries and departures, each target once.
  struct Iterator: IteratorProtocol {
    fileprivate var first: (target: Int32, isEntry: Bool)?
    fileprivate var others: Dictionary<Int32, Bool>.Iterator

    mutating func next() -> (target: Int32, isEntry: Bool)? {
      if let first = exchange(&first, with: nil) { return first }
      return others.next().map { ($0.key, $0.value) }
    }
  }

  func makeIterator() -> Iterator { Iterator(first: first, others: others.makeIterator()) }
}

/// The unstored changes of documents, in the order in which the documents were first changed.
///
/// Edits are kept in a list with an index by key. A server sends documents in key order, so the
/// list is usually sorted already, and the expected position of a document saves a lookup.
struct DocumentEdits: Sendable {
  private var positions: [DocumentKey: Int] = [:]
  private var edits: [(key: DocumentKey, edit: DocumentEdit)] = []

  var count: Int { edits.count }

  var isEmpty: Bool { edits.isEmpty }

  /// The change of a document; `nil` without one.
  subscript(key: DocumentKey) -> DocumentEdit? { positions[key].map { edits[$0].edit } }

  /// Reserves memory for as many more documents, where that is worth more than growing by steps.
  mutating func reserve(_ additional: Int) {
    guard additional > edits.count else { return }
    positions.reserveCapacity(edits.count + additional)
    edits.reserveCapacity(edits.count + additional)
  }

  /// Changes the edit of a document, which is made when there is none.
  ///
  /// - Parameter guess: The position at which it may be: no other lookup is needed then.
  @inline(__always)
  mutating func update(
    _ key: DocumentKey, near guess: Int = .max, _ body: (inout DocumentEdit) -> Void
  ) {
    if guess < edits.count, edits[guess].key == key { return body(&edits[guess].edit) }
    let end = edits.count
    let position = Self.read(&positions[key, default: end])
    if position == end { edits.append((key, DocumentEdit())) }
    body(&edits[position].edit)
  }

  private static func read(_ position: inout Int) -> Int { position }

  /// Notes that documents entered the result of a target.
  ///
  /// - Parameter documents: The documents that came along, in the order of keys.
  mutating func noteEntries(
    of keys: Set<DocumentKey>, into target: Int32, broughtBy documents: [Document]
  ) {
    var count = 0
    // Edits are stored in the order of keys, which the set does not have.
    if documents.count / 2 <= keys.count {
      for (index, document) in documents.enumerated() where keys.contains(document.key) {
        update(document.key, near: index) { $0.targets.note(target, isEntry: true) }
        count += 1
      }
    }
    if count == keys.count { return }
    for key in keys { update(key) { $0.targets.note(target, isEntry: true) } }
  }

  mutating func removeAll() {
    positions = [:]
    edits = []
  }

  /// The changes in the order of keys.
  ///
  /// - Complexity: O(*n*) when they were made in that order, as a server sends them.
  func sorted() -> [(key: DocumentKey, edit: DocumentEdit)] {
    for index in edits.indices.dropFirst() where edits[index].key < edits[index - 1].key {
      return edits.indices.sorted { edits[$0].key < edits[$1].key }.map { edits[$0] }
    }
    return edits
  }
}

extension DocumentEdits: Sequence {
  func makeIterator() -> IndexingIterator<[(key: DocumentKey, edit: DocumentEdit)]> {
    edits.makeIterator()
  }
}
