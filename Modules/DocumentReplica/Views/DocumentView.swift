package import TernCore
package import TernQuery

/// The result of one query, kept up to date with what the server says and what is pending.
///
/// A change of *m* documents costs O(*m* log *n*); nothing is run again unless a document left a
/// full window. Source: documents reference, sections 4.3 to 4.5, 5.6 and 5.7.
package struct DocumentView: Sendable {
  package let query: DocumentQuery
  /// The name of the target that the server is asked for.
  package let target: Int32
  private let matcher: DocumentMatcher

  /// The documents shown, in order.
  package private(set) var documents: SortedDocuments
  private var byKey: [DocumentKey: Document] = [:]
  /// The documents in the server's result of the target.
  package private(set) var serverKeys: Set<DocumentKey>
  /// The documents shown that are not in the server's result.
  private var unconfirmed: Set<DocumentKey> = []
  /// The documents shown with pending writes.
  private var mutated: Set<DocumentKey> = []
  /// The documents with accepted writes that the view does not show yet, by the accepting commit.
  private var accepted: [DocumentKey: DocumentVersion] = [:]
  /// The documents shown that are not in the server's current result.
  package private(set) var limbo: Set<DocumentKey> = []
  /// The documents that may have come into doubt, or out of it, since ``limbo`` was worked out;
  /// `nil` when all of them may.
  private var unexamined: Set<DocumentKey>?
  /// `true` if the server's result is current.
  private var isCurrent = false
  /// `true` if the result is the server's; `nil` before the first snapshot.
  private var isSyncedOrNew: Bool?

  /// Makes an empty view.
  ///
  /// - Parameter serverKeys: The documents in the server's last known result.
  package init(query: DocumentQuery, target: Int32, serverKeys: Set<DocumentKey>) {
    self.query = query
    self.target = target
    self.serverKeys = serverKeys
    matcher = DocumentMatcher(query)
    documents = SortedDocuments(DocumentOrdering(query.normalizedOrders))
  }

  /// `true` if the result is the server's, with pending writes applied.
  package var isSynced: Bool { isSyncedOrNew == true }

  /// `true` if accepted writes are not in the server's result yet.
  var awaitsServer: Bool { !accepted.isEmpty }

  /// Returns the documents that came into the view with its last snapshot, and those that left it.
  func enteredAndLeft(
    with snapshot: DocumentViewSnapshot
  ) -> (entered: Set<DocumentKey>, left: Set<DocumentKey>) {
    // Mostly the server's result is shown as it is, and need not be gathered.
    let isResult = unconfirmed.isEmpty && serverKeys.count == documents.count
    return snapshot.enteredAndLeft(all: isResult ? serverKeys : nil)
  }

  /// Returns `true` if a document with this key could belong to the result.
  package func concerns(_ key: DocumentKey) -> Bool {
    key.text.withSpan { matcher.containsKey($0) }
  }

  /// Returns the current result, for a new listener.
  package func snapshot(hasCachedResults: Bool) -> DocumentViewSnapshot {
    DocumentViewSnapshot(
      query: query, documents: documents, changes: nil, mutatedKeys: mutated,
      isFromCache: !isSynced, isSyncStateChanged: true, hasCachedResults: hasCachedResults)
  }
}

// MARK: Documents

extension DocumentView {
  /// Starts from what the cache holds; later ones of it that the limit leaves out are dropped.
  mutating func load(_ found: some Collection<Document>) {
    var ignored = beginChanges()
    fill(found, &ignored)
    trim(&ignored)
  }

  /// Takes documents into an empty view: all of them at once, in place of one after the other.
  ///
  /// - Parameter entering: The documents about to come into the server's result.
  private mutating func fill(
    _ found: some Sequence<Document>, _ changes: inout ViewChanges,
    entering: Set<DocumentKey> = []
  ) {
    unexamined = nil
    let matching = found.filter { matcher.matches($0) }
    documents = SortedDocuments(DocumentOrdering(query.normalizedOrders), sorting: matching)
    byKey.reserveCapacity(matching.count)
    for document in matching {
      let key = document.key
      changes.note(key, nil, isMutated: false)
      byKey[key] = document
      if document.localWrites == .pending { mutated.insert(key) }
      if !serverKeys.contains(key), !entering.contains(key) { unconfirmed.insert(key) }
    }
  }

  /// Begins a round of updates.
  func beginChanges() -> ViewChanges { ViewChanges(before: documents) }

  /// Takes in documents that may have changed.
  ///
  /// - Parameters:
  ///   - takesBack: Whether they changed because writes were taken back: rejected, or shown to
  ///     their user alone. Then they must go, even if they leave behind what was accepted before
  ///     them and is still to come.
  ///   - entering: The documents that the end of the round is about to take into the server's
  ///     result.
  /// - Returns: Whether the cache must be asked again, because a document left a full window.
  mutating func update(
    _ changed: some Sequence<Document>, _ changes: inout ViewChanges, takesBack: Bool = false,
    entering: Set<DocumentKey> = []
  ) -> Bool {
    if documents.isEmpty {
      fill(changed, &changes, entering: entering)
      trim(&changes)
      return false
    }
    let edge = edge
    var needsRefill = false
    for document in changed {
      let old = byKey[document.key]
      let new = matcher.matches(document) ? document : nil
      switch (old, new) {
      case (nil, nil): break
      case (nil, let new?): put(new, replacing: nil, &changes)
      case (let old?, nil):
        needsRefill = needsRefill || edge != nil
        take(old, &changes)
      case (let old?, let new?):
        guard replaces(old, new, takesBack: takesBack) else {
          accepted[new.key] = new.localWrites == .committed ? new.version : nil
          unexamined?.insert(new.key)
          break
        }
        needsRefill = needsRefill || edge.map { isBeyond(new, $0) } == true
        put(new, replacing: old, &changes)
      }
    }
    trim(&changes)
    return needsRefill
  }

  /// The document at the far end of a full window; `nil` when there is room.
  private var edge: Document? {
    guard let limit = query.limit, documents.count == limit.count else { return nil }
    return limit.side == .first ? documents.last : documents.first
  }

  private func isBeyond(_ document: Document, _ edge: Document) -> Bool {
    let order = documents.compare(document, edge)
    return query.limit?.side == .last ? order < 0 : order > 0
  }

  /// Returns `true` if a document's new state is to be shown in place of the old one.
  private func replaces(_ old: Document, _ new: Document, takesBack: Bool) -> Bool {
    if old.state != new.state {
      if takesBack { return true }
      // An accepted write is not shown until the server sends it: listeners see a write twice, not
      // three times.
      return !(old.localWrites == .pending && new.localWrites == .committed)
    }
    let isMutated = mutated.contains(new.key)
    let remains = new.localWrites == .pending || (isMutated && new.localWrites == .committed)
    return isMutated != remains
  }

  private mutating func put(
    _ new: Document, replacing old: Document?, _ changes: inout ViewChanges
  ) {
    changes.note(new.key, old, isMutated: mutated.contains(new.key))
    unexamined?.insert(new.key)
    if let old { documents.remove(old) }
    documents.insert(new)
    byKey[new.key] = new
    // What is accepted and still to come counts as pending, as it did.
    let isAwaited = new.localWrites == .committed && mutated.contains(new.key)
    accepted[new.key] = isAwaited ? new.version : nil
    switch new.localWrites {
    case .pending: mutated.insert(new.key)
    case .committed: if !isAwaited { mutated.remove(new.key) }
    case .none: mutated.remove(new.key)
    }
    if old == nil, !serverKeys.contains(new.key) { unconfirmed.insert(new.key) }
  }

  private mutating func take(_ old: Document, _ changes: inout ViewChanges) {
    changes.note(old.key, old, isMutated: mutated.contains(old.key))
    unexamined?.insert(old.key)
    documents.remove(old)
    byKey[old.key] = nil
    accepted[old.key] = nil
    mutated.remove(old.key)
    unconfirmed.remove(old.key)
  }

  private mutating func trim(_ changes: inout ViewChanges) {
    guard let limit = query.limit else { return }
    while documents.count > limit.count,
      let far = limit.side == .first ? documents.last : documents.first
    {
      take(far, &changes)
    }
  }
}

// MARK: The server's word

/// The outcome of one round of updates.
struct ViewOutcome {
  /// `nil` when listeners could not see a difference.
  var snapshot: DocumentViewSnapshot?
  var limboAdded: Set<DocumentKey> = []
  var limboRemoved: Set<DocumentKey> = []
}

extension DocumentView {
  /// Ends a round of updates.
  ///
  /// - Parameters:
  ///   - delta: What the server said about the target.
  ///   - version: Up to when the server has told everything.
  ///   - isPendingReset: Whether the target is asked for again, because it differs.
  mutating func finish(
    _ changes: ViewChanges, delta: DocumentServerEvent.TargetDelta? = nil,
    asOf version: DocumentVersion = .none, isPendingReset: Bool = false
  ) -> ViewOutcome {
    let listed = changes.changes(
      to: documents, current: { byKey[$0] }, isMutated: { mutated.contains($0) })
    if let delta { apply(delta) }
    return settle(
      listed, hasToken: delta?.resumeToken.isEmpty == false, asOf: version,
      isPendingReset: isPendingReset)
  }

  /// The cache has learnt another result of the target, while no server was asked for it.
  mutating func adopt(_ keys: Set<DocumentKey>) {
    serverKeys = keys
    unconfirmed = Set(byKey.keys).subtracting(keys)
    unexamined = nil
  }

  /// The first snapshot, after ``load(_:)``.
  ///
  /// - Parameters:
  ///   - isCurrent: Whether the target is known to be complete, through another view of it.
  ///   - hasToken: Whether the target was complete once.
  mutating func begin(isCurrent: Bool, hasToken: Bool) -> ViewOutcome {
    self.isCurrent = isCurrent
    return settle(nil, hasToken: hasToken, isPendingReset: false)
  }

  /// The device is offline: what is shown may be out of date from here on.
  mutating func goOffline() -> ViewOutcome {
    guard isCurrent else { return ViewOutcome() }
    isCurrent = false
    return settle([], hasToken: false, isPendingReset: true)
  }

  /// Stops using the server: as going offline, but without open limbo lookups. A later listen
  /// resolves the documents in doubt again.
  mutating func leaveServer() -> ViewOutcome {
    limbo = []
    unexamined = nil
    return goOffline()
  }

  private mutating func apply(_ delta: DocumentServerEvent.TargetDelta) {
    for keys in [delta.added, delta.modified] where !keys.isEmpty {
      if serverKeys.isEmpty { serverKeys = keys } else { serverKeys.formUnion(keys) }
      if !unconfirmed.isEmpty { unconfirmed.subtract(keys) }
      // Only what was in doubt can come out of it.
      if !limbo.isEmpty { unexamined?.formUnion(limbo.intersection(keys)) }
    }
    for key in delta.removed {
      serverKeys.remove(key)
      if byKey[key] != nil {
        unconfirmed.insert(key)
        unexamined?.insert(key)
      }
    }
    isCurrent = delta.isCurrent
  }

  private mutating func settle(
    _ listed: [DocumentViewChange]?, hasToken: Bool, asOf version: DocumentVersion = .none,
    isPendingReset: Bool
  ) -> ViewOutcome {
    var outcome = ViewOutcome()
    // Snapshots that come before the new answer say nothing about the target.
    if isPendingReset { isCurrent = false }
    if isCurrent {
      for key in toExamine {
        if unconfirmed.contains(key), isInDoubt(key, asOf: version) {
          if limbo.insert(key).inserted { outcome.limboAdded.insert(key) }
        } else if limbo.remove(key) != nil {
          outcome.limboRemoved.insert(key)
        }
      }
    }
    // While the target is not current, nothing is in doubt anew: then all is looked at again.
    unexamined = isCurrent ? [] : nil
    let isSynced = limbo.isEmpty && isCurrent
    let isSyncStateChanged = isSynced != isSyncedOrNew
    isSyncedOrNew = isSynced
    if listed?.isEmpty != true || isSyncStateChanged {
      outcome.snapshot = DocumentViewSnapshot(
        query: query, documents: documents, changes: listed, mutatedKeys: mutated,
        isFromCache: !isSynced, isSyncStateChanged: isSyncStateChanged,
        hasCachedResults: hasToken)
    }
    return outcome
  }

  /// The documents that the next round looks at: those which changed, and those with accepted
  /// writes, whose doubt depends on time.
  var toExamine: Set<DocumentKey> {
    guard let unexamined else { return unconfirmed.union(limbo) }
    return accepted.isEmpty ? unexamined : unexamined.union(accepted.keys)
  }

  /// Returns `true` if the server must resolve a document that is not in its result.
  private func isInDoubt(_ key: DocumentKey, asOf version: DocumentVersion) -> Bool {
    // Another client may have undone an accepted write before the server sent it.
    if let accepted = accepted[key] { return accepted <= version }
    return byKey[key]?.localWrites != .pending
  }
}
