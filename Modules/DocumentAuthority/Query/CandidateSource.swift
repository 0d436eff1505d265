import TernCore
import TernQuery
import TernStorage

/// The outcome of one step of a document search.
///
/// A step that passes lets the caller do something else in between: a race of two sources gives
/// each its turns by steps, not by results.
enum CandidateStep {
  /// A document of the result; documents of equal `group` come in no particular order.
  case found(Document, group: ArraySlice<UInt8>)
  /// A candidate that is not part of the result.
  case passed
  /// All candidates were looked at; every further step ends as well.
  case end
}

/// Looks for the documents of one alternative of a query, a bounded amount of work a step.
///
/// A source may promise too much: it checks every document with its matcher before it hands it out.
/// It may not promise too little. Sources are used by one thread, within one snapshot.
class CandidateSource {
  /// Looks at one candidate.
  ///
  /// - Throws: ``StorageError/corruptRecord(key:)`` for a row that cannot be read.
  func step() throws(StorageError) -> CandidateStep { .end }
}

/// Named documents, one after the other.
///
/// The keys need no order, and missing documents are passed.
final class KeyLookup: CandidateSource {
  private let reading: DocumentReading
  private let matcher: BranchMatcher
  private var keys: ArraySlice<DocumentKey>

  init(_ reading: DocumentReading, _ matcher: BranchMatcher, _ keys: [DocumentKey]) {
    self.reading = reading
    self.matcher = matcher
    self.keys = keys[...]
  }

  override func step() throws(StorageError) -> CandidateStep {
    guard let key = keys.popFirst() else { return .end }
    let document = try reading.document(key)
    return matcher.matches(document) ? .found(document, group: []) : .passed
  }
}

/// The documents of one collection by key, read where they lie.
///
/// It reads the rows of documents themselves, so each candidate costs one row and no look-up.
final class CollectionWalk: CandidateSource {
  private let walk: EntryWalk
  private let scope: DocumentScope
  private let matcher: BranchMatcher
  private let prefixCount: Int

  init(_ walk: EntryWalk, _ scope: DocumentScope, _ matcher: BranchMatcher, prefixCount: Int) {
    self.walk = walk
    self.scope = scope
    self.matcher = matcher
    self.prefixCount = prefixCount
  }

  override func step() throws(StorageError) -> CandidateStep {
    guard let row = try walk.current() else { return .end }
    walk.advance()
    guard let key = scope.key(row.key, from: prefixCount),
      let document = StoredDocument.decode(row.value.span, key)
    else { throw .corruptRecord(key: row.key) }
    return matcher.matches(document) ? .found(document, group: []) : .passed
  }
}

/// The documents that the rows of one index name, in the rows' order.
final class EntrySource: CandidateSource {
  private let reading: DocumentReading
  private let walk: EntryWalk
  private let scope: DocumentScope
  private let matcher: BranchMatcher
  private let prefixCount: Int

  init(
    _ reading: DocumentReading, _ walk: EntryWalk, _ scope: DocumentScope,
    _ matcher: BranchMatcher, prefixCount: Int
  ) {
    self.reading = reading
    self.walk = walk
    self.scope = scope
    self.matcher = matcher
    self.prefixCount = prefixCount
  }

  override func step() throws(StorageError) -> CandidateStep {
    guard let row = try walk.current() else { return .end }
    walk.advance()
    guard let start = DocumentReference.start(in: row.key), start >= prefixCount,
      let key = scope.key(of: row, from: start)
    else { throw .corruptRecord(key: row.key) }
    let document = try reading.document(key)
    guard matcher.matches(document) else { return .passed }
    return .found(document, group: row.key[prefixCount..<start])
  }
}

/// The documents that several indexes name, each walked in the order of keys.
///
/// The walk that lags jumps to where the furthest one stands, so that the work follows the
/// rarest value, not the most frequent one.
final class EntryJoin: CandidateSource {
  /// One of the walks, and what its rows begin with.
  struct Part {
    let walk: EntryWalk
    let prefix: [UInt8]
  }

  private let reading: DocumentReading
  private let parts: [Part]
  private let scope: DocumentScope
  private let matcher: BranchMatcher
  private let isReversed: Bool
  /// The reference that is agreed on by the walks before ``turn``, and by how many.
  private var target: ArraySlice<UInt8>?
  private var agreed = 0
  private var turn = 0

  init(
    _ reading: DocumentReading, _ parts: [Part], _ scope: DocumentScope,
    _ matcher: BranchMatcher, isReversed: Bool
  ) {
    self.reading = reading
    self.parts = parts
    self.scope = scope
    self.matcher = matcher
    self.isReversed = isReversed
  }

  override func step() throws(StorageError) -> CandidateStep {
    let part = parts[turn]
    if let target { part.walk.seek(part.prefix + target) }
    guard let row = try part.walk.current() else { return .end }
    let reference = row.key[part.prefix.count...]
    if reference == target {
      agreed += 1
    } else {
      target = reference
      agreed = 1
    }
    guard agreed == parts.count else {
      turn = (turn + 1) % parts.count
      return .passed
    }
    agreed = 0
    target = nil
    part.walk.advance()
    guard let start = DocumentReference.start(in: row.key), start == part.prefix.count,
      let key = scope.key(of: row, from: start)
    else { throw .corruptRecord(key: row.key) }
    let document = try reading.document(key)
    return matcher.matches(document) ? .found(document, group: []) : .passed
  }
}
