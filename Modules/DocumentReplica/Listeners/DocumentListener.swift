import TernQuery

/// Names one listener of a replica.
package struct DocumentListenerID: Hashable, Sendable {
  package let number: UInt64
}

/// One listener: its options, and its state of delivery.
///
/// Source: documents reference, section 4.2.
struct DocumentListener: Sendable {
  /// The kind of listener.
  enum Purpose: Hashable, Sendable {
    /// An application, until it stops.
    case snapshots
    /// A single read, which ends with the first event.
    case get(DocumentGetSource)
  }

  let query: DocumentQuery
  let options: DocumentListenOptions
  let purpose: Purpose
  /// `true` if the last snapshot had pending writes, delivered or not; `nil` before the first.
  private var hadPendingWrites: Bool?
  /// The last snapshot, until the first event.
  private var held: DocumentViewSnapshot?
  private var hasRaisedInitial = false

  init(query: DocumentQuery, options: DocumentListenOptions, purpose: Purpose) {
    self.query = query
    self.options = options
    self.purpose = purpose
  }

  /// `true` if it ends with its first event.
  var isRead: Bool {
    if case .get = purpose { true } else { false }
  }

  /// `true` if this listener needs the server.
  var needsServer: Bool { options.source == .server }

  /// Takes in a snapshot of the view.
  ///
  /// - Returns: What the listener hears; `nil` for nothing.
  mutating func hear(
    _ snapshot: DocumentViewSnapshot, _ state: DocumentOnlineState
  ) -> DocumentViewSnapshot? {
    let snapshot = options.includesMetadata ? snapshot : snapshot.withoutMetadataChanges()
    let flipped = hadPendingWrites.map { $0 != snapshot.hasPendingWrites } ?? false
    hadPendingWrites = snapshot.hasPendingWrites
    guard hasRaisedInitial else {
      held = snapshot
      return raiseInitial(state)
    }
    if snapshot.hasChanges { return snapshot }
    let isMetadata = snapshot.isSyncStateChanged || flipped
    return isMetadata && options.includesMetadata ? snapshot : nil
  }

  /// Takes in a change of the connection, which may end the wait for the first event.
  mutating func connectionChanged(_ state: DocumentOnlineState) -> DocumentViewSnapshot? {
    raiseInitial(state)
  }

  private mutating func raiseInitial(_ state: DocumentOnlineState) -> DocumentViewSnapshot? {
    guard !hasRaisedInitial, let held, isReady(held, state) else { return nil }
    hasRaisedInitial = true
    self.held = nil
    return held.asInitial(excludesMetadata: !options.includesMetadata)
  }

  private func isReady(_ snapshot: DocumentViewSnapshot, _ state: DocumentOnlineState) -> Bool {
    if !snapshot.isFromCache || !needsServer { return true }
    if options.waitsForServer, state != .offline { return false }
    return !snapshot.documents.isEmpty || snapshot.hasCachedResults || state == .offline
  }
}
