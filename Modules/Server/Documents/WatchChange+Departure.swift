import TernCore
import TernQuery

extension WatchChange {
  /// The document that has left a result and is told with its new contents; `nil` for others.
  var departed: Document? {
    if case .changed(let document, let targets, _) = self, targets.isEmpty { document } else { nil }
  }

  /// The change without the contents of a document that has left the result.
  ///
  /// Who may see the result may not see every document: rules have allowed the query, not what is
  /// no longer part of it.
  func withoutDeparted(at time: DocumentVersion) -> WatchChange {
    guard case .changed(let document, let targets, let removed) = self, targets.isEmpty else {
      return self
    }
    return .removed(document.key, readTime: time, removed: removed)
  }
}

extension WatchTarget {
  /// The same target by another id.
  func named(_ id: Int32) -> WatchTarget {
    WatchTarget(
      id: id, subject: subject, resume: resume, expectedCount: expectedCount, purpose: purpose,
      isOnce: isOnce)
  }
}
