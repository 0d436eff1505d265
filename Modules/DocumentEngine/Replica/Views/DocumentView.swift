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

  /// What is shown, in order.
  package private(set) var documents: SortedDocuments
  private var byKey: [DocumentKey: Document] = [:]
  /// What the server counts among the target's documents.
  package private(set) var serverKeys: Set<DocumentKey>
  /// What is shown although the server does not count it.
  private var unconfirmed: Set<DocumentKey> = []
  /// What is shown with pending writes.
  private var mutated: Set<DocumentKey> = []
  /// What a server has accepted and the view shows as it was before, by the accepting commit.
  private var accepted: [DocumentKey: DocumentVersion] = [:]
  /// What is shown although the server, having told everything, does not count it.
  package private(set) var limbo: Set<DocumentKey> = []
  /// Whether the server has told everything.
  private var isCurrent = false
  /// Whether the result is the server's; `nil` before the first snapshot.
  private var isSyncedOrNew: Bool?

  /// Makes an empty view.
  ///
  /// - Parameter serverKeys: What the server counted when it was last heard.
  package init(query: DocumentQuery, target: Int32, serverKeys: Set<DocumentKey>) {
    self.query = query
    self.target = target
    self.serverKeys = serverKeys
    matcher = DocumentMatcher(query)
    documents = SortedDocuments(DocumentOrdering(query.normalizedOrders))
  }

  /// Whether what is shown is what the server has, with pending writes on top.
  package var isSynced: Bool { isSyncedOrNew == true }

  /// Whether the view waits to see what a server has accepted.
  var awaitsServer: Bool { !accepted.isEmpty }

  /// Whether a document of this key could belong to the result.
  package func concerns(_ key: DocumentKey) -> Bool { matcher.containsKey(key.text.utf8.span) }

  /// What is shown, for a listener that has heard nothing yet.
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
    let matching = found.filter { matcher.matches($0) }
    documents = SortedDocuments(
      DocumentOrdering(query.normalizedOrders), sorting: matching)
    byKey = Dictionary(matching.map { ($0.key, $0) }) { first, _ in first }
    for document in matching where document.localWrites == .pending {
      mutated.insert(document.key)
    }
    for key in byKey.keys where !serverKeys.contains(key) { unconfirmed.insert(key) }
    var ignored = ViewChanges(before: documents)
    trim(&ignored)
  }

  /// Begins a round of updates.
  func beginChanges() -> ViewChanges { ViewChanges(before: documents) }

  /// Takes in documents that may have changed.
  ///
  /// - Parameter takesBack: Whether they changed because writes were taken back: rejected, or shown
  ///   to their user alone. Then they must go, even if they leave behind what was accepted before
  ///   them and is still to come.
  /// - Returns: Whether the cache must be asked again, because a document left a full window.
  mutating func update(
    _ changed: some Sequence<Document>, _ changes: inout ViewChanges, takesBack: Bool = false
  ) -> Bool {
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

  /// Whether a document is to be shown in place of its former self.
  private func replaces(_ old: Document, _ new: Document, takesBack: Bool) -> Bool {
    if old.state != new.state {
      if takesBack { return true }
      // What a server has accepted is not shown until it is seen among the server's documents:
      // listeners hear of a write twice, not three times.
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

/// What came of one round of updates.
struct ViewOutcome {
  /// `nil` when nobody could tell the difference.
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
      current: { byKey[$0] }, isMutated: { mutated.contains($0) })
    if let delta { apply(delta) }
    return settle(
      listed, hasToken: delta?.resumeToken.isEmpty == false, asOf: version,
      isPendingReset: isPendingReset)
  }

  /// The cache has learnt another result of the target, while no server was asked for it.
  mutating func adopt(_ keys: Set<DocumentKey>) {
    serverKeys = keys
    unconfirmed = Set(byKey.keys).subtracting(keys)
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

  /// The server is not asked any more: as when the device goes offline, and no question of limbo
  /// is open. What is in doubt is found out anew when somebody asks again.
  mutating func leaveServer() -> ViewOutcome {
    limbo = []
    return goOffline()
  }

  private mutating func apply(_ delta: DocumentServerEvent.TargetDelta) {
    for key in delta.added.union(delta.modified) {
      serverKeys.insert(key)
      unconfirmed.remove(key)
    }
    for key in delta.removed {
      serverKeys.remove(key)
      if byKey[key] != nil { unconfirmed.insert(key) }
    }
    isCurrent = delta.isCurrent
  }

  private mutating func settle(
    _ listed: [DocumentChange]?, hasToken: Bool, asOf version: DocumentVersion = .none,
    isPendingReset: Bool
  ) -> ViewOutcome {
    var outcome = ViewOutcome()
    if isCurrent, !isPendingReset {
      let now = unconfirmed.filter { isInDoubt($0, asOf: version) }
      outcome.limboAdded = now.subtracting(limbo)
      outcome.limboRemoved = limbo.subtracting(now)
      limbo = now
    }
    let isSynced = limbo.isEmpty && isCurrent && !isPendingReset
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

  /// Whether it is the server's turn to say what a document that it does not count is.
  private func isInDoubt(_ key: DocumentKey, asOf version: DocumentVersion) -> Bool {
    // An accepted write may have been undone by somebody else before the server told of it.
    if let accepted = accepted[key] { return accepted <= version }
    return byKey[key]?.localWrites != .pending
  }
}
