import TernCore
import TernQuery
import TernStorage

/// Documents in the order of a query, one at a time.
///
/// Streams are pulled: nothing is read before it is asked for, so a limit ends the work early. They
/// are used by one thread, within one snapshot.
class DocumentStream {
  func next() throws(StorageError) -> Document? { nil }
}

/// Documents that are known already.
final class ListStream: DocumentStream {
  private var documents: ArraySlice<Document>

  init(_ documents: [Document]) { self.documents = documents[...] }

  override func next() -> Document? { documents.popFirst() }
}

/// The documents of a source whose groups are ordered, sorted within each group.
///
/// A source delivers groups in order and documents within a group in none. The members of a group
/// are kept until the next group begins. Groups without a need to sort are passed on at once.
final class SourceStream: DocumentStream {
  private let source: CandidateSource
  private let ordering: DocumentOrdering
  /// `true` to sort every group; `false` to sort only the groups whose values were cut.
  private let sortsGroups: Bool
  /// The length at which a group's value may have been cut, so that unequal documents share the
  /// group.
  private let cutBytes: Int
  /// The group of the members.
  private var group: ArraySlice<UInt8> = []
  /// The documents of the group that is not over.
  private var members: [Document] = []
  /// Documents that are in their place and not handed out yet.
  private var sorted: ArraySlice<Document> = []
  /// True once the source is over.
  private var isAtEnd = false
  private var memory: KeptMemory

  /// - Parameters:
  ///   - cutBytes: How long a group's value is when it may have been cut.
  ///   - memory: Charged for the documents of a group until they are sorted.
  init(
    _ source: CandidateSource, _ ordering: DocumentOrdering, sortsGroups: Bool,
    cutBytes: Int = .max, _ memory: KeptMemory
  ) {
    self.memory = memory
    self.source = source
    self.ordering = ordering
    self.sortsGroups = sortsGroups
    self.cutBytes = cutBytes
  }

  override func next() throws(StorageError) -> Document? {
    var document: Document?
    while !isAtEnd || !sorted.isEmpty {
      document = try advance()
      if document != nil { return document }
    }
    return document
  }

  /// One step; `nil` while nothing can be said.
  func advance() throws(StorageError) -> Document? {
    if let first = sorted.popFirst() { return first }
    if isAtEnd { return nil }
    switch try source.step() {
    case .passed: return nil
    case .end:
      isAtEnd = true
      closeGroup()
    case .found(let document, let group):
      if !members.isEmpty, self.group != group { closeGroup() }
      guard sortsGroups || group.count >= cutBytes else {
        sorted.append(document)
        break
      }
      self.group = group
      try memory.keep(document)
      members.append(document)
    }
    return sorted.popFirst()
  }

  /// `true` if no documents are left.
  var isOver: Bool { isAtEnd && sorted.isEmpty }

  /// Sorts the members and hands them on.
  private func closeGroup() {
    let ordering = ordering
    sorted += members.sorted { ordering.compare($0, $1) < 0 }
    members = []
    memory.removeAll()
  }
}

/// Several streams of one order as one; a document that is in several comes once.
///
/// Each stream is in the order of the query. Equal documents of several streams come one after the
/// other, because the order ends with the key, so the last key alone finds duplicates.
final class MergedStream: DocumentStream {
  private let ordering: DocumentOrdering
  /// The next document of each stream that is not over, with its stream.
  private var heads: [(document: Document, stream: DocumentStream)] = []
  /// The streams whose head was taken; they are asked before the next choice.
  private var waiting: [DocumentStream]
  /// The key of the last document that was handed out.
  private var last: DocumentKey?

  init(_ streams: [DocumentStream], _ ordering: DocumentOrdering) {
    waiting = streams
    self.ordering = ordering
  }

  override func next() throws(StorageError) -> Document? {
    while true {
      for stream in waiting {
        if let document = try stream.next() { heads.append((document, stream)) }
      }
      waiting = []
      // There are no more than thirty: a heap would not be faster.
      var least = 0
      for index in heads.indices.dropFirst()
      where ordering.compare(heads[index].document, heads[least].document) < 0 { least = index }
      guard least < heads.count else { return nil }
      let head = heads.remove(at: least)
      waiting = [head.stream]
      if head.document.key == last { continue }
      last = head.document.key
      return head.document
    }
  }
}

/// Two ways to the same documents, of which the shorter one is found out by going both.
///
/// One is in order and done when it has found as many documents as are needed; the other is in no
/// order and done when there are no more. The work is at most about twice that of the better one.
final class RacingStream: DocumentStream {
  private let ordered: SourceStream
  private let unordered: CandidateSource
  private let ordering: DocumentOrdering
  private let needed: Int
  /// The result, once one way is done.
  private var winner: ListStream?
  private var memory: KeptMemory

  /// - Parameters:
  ///   - needed: The most documents that will be asked for.
  ///   - memory: Charged for the documents that both ways have found.
  init(
    _ ordered: SourceStream, _ unordered: CandidateSource, _ ordering: DocumentOrdering,
    needed: Int, _ memory: KeptMemory
  ) {
    self.memory = memory
    self.ordered = ordered
    self.unordered = unordered
    self.ordering = ordering
    self.needed = needed
  }

  /// The steps of the first round; each further one has twice as many.
  private static let firstRound = 16

  override func next() throws(StorageError) -> Document? {
    if let winner { return winner.next() }
    let winner = ListStream(try race())
    self.winner = winner
    return winner.next()
  }

  /// Goes both ways in rounds until one is done.
  ///
  /// - Returns: All documents that will be asked for, in order.
  private func race() throws(StorageError) -> [Document] {
    var inOrder: [Document] = []
    var found: [Document] = []
    var round = RacingStream.firstRound
    while true {
      for _ in 0..<round {
        if let document = try ordered.advance() {
          try memory.keep(document)
          inOrder.append(document)
        }
        if inOrder.count >= needed || ordered.isOver { return inOrder }
      }
      for _ in 0..<round {
        switch try unordered.step() {
        case .found(let document, _):
          try memory.keep(document)
          found.append(document)
        case .passed: break
        case .end:
          let ordering = ordering
          return found.sorted { ordering.compare($0, $1) < 0 }
        }
      }
      round *= 2
    }
  }
}

extension CandidateSource {
  /// Everything, in no order.
  ///
  /// - Complexity: Keeps all documents in memory; for sources that are known to be small.
  func all() throws(StorageError) -> [Document] {
    var documents: [Document] = []
    while true {
      switch try step() {
      case .found(let document, _): documents.append(document)
      case .passed: break
      case .end: return documents
      }
    }
  }
}

/// Several streams one behind the other; a document that is in several comes once.
///
/// The keys that were handed out are kept, so that each document comes once.
final class UnionStream: DocumentStream {
  private var streams: ArraySlice<DocumentStream>
  private var seen: Set<DocumentKey> = []
  private var memory: KeptMemory

  /// - Parameter memory: Charged for the keys of all documents.
  init(_ streams: [DocumentStream], _ memory: KeptMemory) {
    self.streams = streams[...]
    self.memory = memory
  }

  override func next() throws(StorageError) -> Document? {
    while let stream = streams.first {
      guard let document = try stream.next() else {
        streams.removeFirst()
        continue
      }
      guard seen.insert(document.key).inserted else { continue }
      try memory.keep(Document(document.key, .missing))
      return document
    }
    return nil
  }
}

/// A stream without some documents.
///
/// - Parameter isLeftOut: Called once for each document of the stream.
final class RemainingStream: DocumentStream {
  private let stream: DocumentStream
  private let isLeftOut: (DocumentKey) -> Bool

  init(_ stream: DocumentStream, leavingOut isLeftOut: @escaping (DocumentKey) -> Bool) {
    self.stream = stream
    self.isLeftOut = isLeftOut
  }

  override func next() throws(StorageError) -> Document? {
    while let document = try stream.next() {
      if !isLeftOut(document.key) { return document }
    }
    return nil
  }
}
