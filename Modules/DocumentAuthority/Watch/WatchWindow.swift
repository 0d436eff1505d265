import TernCore
import TernQuery
import TernStorage

/// The documents that a query with a limit or an offset shows, kept up to date commit by commit.
///
/// It keeps keys and positions, not the documents. Beyond the limit it keeps a few more, so that a
/// removed document has a known successor. All subscribers of a query share one window.
///
/// Candidates are in order and hold the first documents of the result without a gap. When so many
/// are removed that the window may not be full, it is read anew from the store.
struct WatchWindow {
  /// A document that is shown, or that may come into view.
  private struct Candidate: Equatable {
    /// The values of the order, one behind the other, and the key: sorts like the documents.
    let place: [UInt8]
    let key: DocumentKey
  }

  /// The query with its limit and offset.
  private let query: DocumentQuery
  /// The complete order, the key last.
  private let orders: [DocumentOrder]
  /// Checks a changed document.
  private let matcher: DocumentMatcher
  /// The number of documents up to the end of the window: the offset and the limit.
  private let reach: Int
  /// The most candidates: the reach and some more.
  private let capacity: Int
  /// Ascending by place. The first ``reach`` without the offset are shown.
  private var candidates: [Candidate] = []
  /// The place of each candidate, to find one whose document has changed.
  private var places: [DocumentKey: [UInt8]] = [:]
  /// `true` if all matching documents are candidates.
  private var isComplete = false
  /// False until ``load(_:)``.
  private var isLoaded = false
  /// The number of shown documents that were compared with those shown before.
  private(set) var comparedCount = 0

  init(_ query: DocumentQuery) {
    self.query = query
    orders = query.normalizedOrders
    matcher = DocumentMatcher(query)
    let limit = query.limit?.count ?? .max
    let (reach, isHuge) = limit.addingReportingOverflow(query.offset)
    self.reach = isHuge ? .max : reach
    // In proportion to the reach, so that reading anew costs a few rows for each removed document.
    let slack = max(16, min(limit, 1_024), self.reach / 4)
    let (capacity, isHuger) = self.reach.addingReportingOverflow(slack)
    self.capacity = isHuge || isHuger ? .max : capacity
  }

  /// The keys of the documents that are shown, in order.
  var shown: [DocumentKey] {
    candidates.prefix(reach).dropFirst(query.offset).map(\.key)
  }

  /// The number of documents shown; `nil` before the window is loaded.
  var shownCount: Int? { isLoaded ? shown.count : nil }

  /// The number of documents whose keys and positions it keeps.
  var heldCount: Int { candidates.count }

  /// Loads the window from the store, unless it is loaded.
  mutating func load(_ reading: DocumentReading) throws(StorageError) {
    if isLoaded { return }
    try reload(reading)
  }

  /// - Complexity: O(capacity) rows where an index serves the order.
  private mutating func reload(_ reading: DocumentReading) throws(StorageError) {
    candidates = []
    places = [:]
    let now = PastDocuments(documents: [:], version: .none)
    var run = try QueryRun(query.windowed(capacity == .max ? nil : capacity), now, reading)
    while let document = try run.next() {
      let place = place(of: document)
      candidates.append(Candidate(place: place, key: document.key))
      places[document.key] = place
    }
    isComplete = candidates.count < capacity
    isLoaded = true
  }

  /// Follows the changes of one commit, which is stored already.
  ///
  /// - Parameters:
  ///   - changes: Each document once.
  ///   - version: As of when missing documents are missing.
  /// - Returns: What changes for those who watch, in the order of keys.
  /// - Complexity: O(changes × log(candidates)) as long as no document comes, goes or moves.
  mutating func update(
    _ changes: [DocumentCommitChange], at version: DocumentVersion, _ reading: DocumentReading
  ) throws(StorageError) -> [WatchChange] {
    if let changed = updateInPlace(changes, at: version) { return changed }
    let before = shown
    defer { comparedCount += before.count + candidates.count }
    for change in changes {
      remove(change.key)
      if matcher.matches(change.after) { offer(change.after) }
    }
    // Documents that were never candidates may come into view now.
    if !isComplete, candidates.count < reach { try reload(reading) }
    let documents = Dictionary(uniqueKeysWithValues: changes.map { ($0.key, $0.after) })
    return try WatchWindow.differences(before, shown, documents, at: version, reading)
  }

  /// Follows changes after which the window has the same documents in the same places.
  ///
  /// - Returns: The messages about those that are shown; `nil`, and nothing has changed, when a
  ///   document comes, goes or moves.
  private mutating func updateInPlace(
    _ changes: [DocumentCommitChange], at version: DocumentVersion
  ) -> [WatchChange]? {
    if candidates.count < reach, !isComplete { return nil }
    var isTurnedAway = false
    var result: [(key: DocumentKey, change: WatchChange)] = []
    for change in changes {
      let matches = matcher.matches(change.after)
      if let place = places[change.key] {
        guard matches, self.place(of: change.after) == place else { return nil }
        let index = index(of: place)
        if index >= query.offset, index < reach {
          result.append((change.key, WatchChange(change.after, at: version)))
        }
      } else if matches {
        if isAccepted(place(of: change.after)) { return nil }
        isTurnedAway = true
      }
    }
    if isTurnedAway { isComplete = false }
    return result.sorted { $0.key < $1.key }.map(\.change)
  }

  /// Returns true when a document at a place is known to be among the first.
  private func isAccepted(_ place: [UInt8]) -> Bool {
    if isComplete, candidates.count < capacity { return true }
    // Behind the last candidate there may be documents before this one.
    guard let last = candidates.last else { return false }
    return bytesPrecede(place, last.place)
  }

  /// Compares two windows.
  ///
  /// - Parameters:
  ///   - before: The keys that were shown.
  ///   - after: The keys that are shown.
  ///   - changed: The documents of the commit, as they are after it.
  /// - Throws: `StorageError` when a document that comes into view cannot be read.
  private static func differences(
    _ before: [DocumentKey], _ after: [DocumentKey], _ changed: [DocumentKey: Document],
    at version: DocumentVersion, _ reading: DocumentReading
  ) throws(StorageError) -> [WatchChange] {
    let (old, new) = (Set(before), Set(after))
    var result: [(key: DocumentKey, change: WatchChange)] = []
    for key in before where !new.contains(key) {
      let change: WatchChange
      switch changed[key] {
      case let document? where document.isFound:
        change = .changed(document, targets: [], removed: [WatchChange.anyTarget])
      case .some: change = WatchChange(Document(key, .missing), at: version)
      case nil: change = .removed(key, readTime: version, removed: [WatchChange.anyTarget])
      }
      result.append((key, change))
    }
    for key in after {
      if let document = changed[key] {
        result.append((key, WatchChange(document, at: version)))
      } else if !old.contains(key) {
        result.append((key, WatchChange(try reading.document(key), at: version)))
      }
    }
    return result.sorted { $0.key < $1.key }.map(\.change)
  }

  /// Takes in a document if it is known to be among the first.
  ///
  /// - Complexity: O(candidates), for the insertion.
  private mutating func offer(_ document: Document) {
    let candidate = Candidate(place: place(of: document), key: document.key)
    guard isAccepted(candidate.place) else {
      isComplete = false
      return
    }
    if candidates.count >= capacity, let dropped = candidates.popLast() {
      places[dropped.key] = nil
      isComplete = false
    }
    candidates.insert(candidate, at: index(of: candidate.place))
    places[candidate.key] = candidate.place
  }

  /// Takes a document out; it is offered again if it still matches.
  private mutating func remove(_ key: DocumentKey) {
    guard let place = places.removeValue(forKey: key) else { return }
    candidates.remove(at: index(of: place))
  }

  /// Returns the index of a position, or its insertion index.
  private func index(of place: [UInt8]) -> Int {
    var low = 0
    var high = candidates.count
    while low < high {
      let middle = (low + high) / 2
      if bytesPrecede(candidates[middle].place, place) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the place of a document in the order. A document that matches has all ordered fields.
  private func place(of document: Document) -> [UInt8] {
    var place: [UInt8] = []
    for order in orders {
      if order.path.isKey {
        OrderedBytes.append(document.key, isDescending: order.isDescending, to: &place)
      } else if let value = document.fields?[order.path] {
        OrderedBytes.append(value, isDescending: order.isDescending, to: &place)
      }
    }
    return place
  }
}
