import TernCore
package import TernQuery

/// The subscriber of a target: a stream, and the client's id for the target there.
///
/// The same target id on two streams is two subscribers.
package struct WatchSubscriber: Hashable, Sendable {
  /// The server's number of the listen call.
  package let stream: Int
  /// The client's id of the target.
  package let target: Int32

  /// Names a target.
  package init(stream: Int, target: Int32) {
    self.stream = stream
    self.target = target
  }
}

/// The subscribers that share one subject.
///
/// All of them see the same documents in the same order, so a commit is worked out once and its
/// messages are encoded once. Permission is not part of the subject; the server judges its
/// subscribers.
package final class WatchGroup {
  /// The watched subject, in the form that is equal for equal ones: the group's identity.
  package let subject: WatchTarget.Subject
  /// Groups are served in the order in which they were first asked for.
  let serial: Int
  /// The query; `nil` for named documents.
  let query: DocumentQuery?
  /// The query made ready; `nil` for named documents.
  let matcher: DocumentMatcher?
  /// The window of a query with a limit or an offset; `nil` for all others.
  var window: WatchWindow?
  /// The number of documents that its window keeps.
  package var heldCount: Int { window?.heldCount ?? 0 }
  /// The ``heldCount`` that its subscribers are charged for.
  package var chargedCount = 0
  /// The number of the query's documents, once counted; unused with a window.
  var count: Int?
  /// In no order.
  package private(set) var subscribers: [WatchSubscriber] = [] {
    didSet { notes = nil }
  }
  /// Data that the sender of messages caches; reset when the subscribers change.
  package var notes: AnyObject?
  /// The index of each subscriber in ``subscribers``, so that one leaves in constant time.
  private var positions: [WatchSubscriber: Int] = [:]

  /// - Parameter subject: In its canonical form.
  init(_ subject: WatchTarget.Subject, serial: Int) {
    self.subject = subject
    self.serial = serial
    switch subject {
    case .documents: (query, matcher) = (nil, nil)
    case .query(let target):
      let query = DocumentQuery(target)
      self.query = query
      matcher = DocumentMatcher(query)
      window = target.limit == nil && target.offset == 0 ? nil : WatchWindow(query)
    }
  }

  var isEmpty: Bool { subscribers.isEmpty }

  func add(_ subscriber: WatchSubscriber) {
    guard positions[subscriber] == nil else { return }
    positions[subscriber] = subscribers.count
    subscribers.append(subscriber)
  }

  /// Removes a subscriber; the last one takes its place.
  func remove(_ subscriber: WatchSubscriber) {
    guard let index = positions.removeValue(forKey: subscriber) else { return }
    let last = subscribers.removeLast()
    guard last != subscriber else { return }
    subscribers[index] = last
    positions[last] = index
  }

  /// Follows one change of a commit, for a group without a window.
  ///
  /// - Returns: What it means to those who watch.
  func follow(_ change: DocumentCommitChange, at version: DocumentVersion) -> WatchChange? {
    let (message, growth) = meaning(of: change, at: version)
    if let count { self.count = count + growth }
    return message
  }

  /// Returns the message for a changed document, and the growth of the subscribers' result.
  ///
  /// A document that matches before and after is told as changed, since its content or version
  /// differs.
  ///
  /// - Returns: The message is `nil` when the document matches neither before nor after. The growth
  ///   is -1, 0 or 1; for named documents it has no meaning and is 0.
  func meaning(
    of change: DocumentCommitChange, at version: DocumentVersion
  ) -> (message: WatchChange?, growth: Int) {
    guard let matcher else { return (WatchChange(change.after, at: version), 0) }
    let (matched, matches) = (matcher.matches(change.before), matcher.matches(change.after))
    let growth = (matches ? 1 : 0) - (matched ? 1 : 0)
    if matches { return (WatchChange(change.after, at: version), growth) }
    if !matched { return (nil, 0) }
    let message: WatchChange =
      change.after.isFound
      ? .changed(change.after, targets: [], removed: [WatchChange.anyTarget])
      : WatchChange(change.after, at: version)
    return (message, growth)
  }
}

extension WatchChange {
  /// A placeholder for each recipient's own target; see ``addressed(to:)``.
  package static let anyTarget: Int32 = 0

  /// A document as it is now, or that it is not.
  ///
  /// - Parameter version: As of when a missing document is missing.
  init(_ document: Document, at version: DocumentVersion) {
    self =
      document.isFound
      ? .changed(document, targets: [WatchChange.anyTarget], removed: [])
      : .deleted(document.key, readTime: version, removed: [WatchChange.anyTarget])
  }

  /// The same for one subscriber, in place of ``anyTarget``.
  ///
  /// Messages without a placeholder are returned as they are.
  package func addressed(to target: Int32) -> WatchChange {
    switch self {
    case .target(let change) where change.targets == [WatchChange.anyTarget]:
      .target(
        WatchTargetChange(
          change.kind, targets: [target], resumeToken: change.resumeToken,
          readTime: change.readTime))
    case .target: self
    case .changed(let document, let targets, _):
      targets.isEmpty
        ? .changed(document, targets: [], removed: [target])
        : .changed(document, targets: [target], removed: [])
    case .deleted(let key, let time, _): .deleted(key, readTime: time, removed: [target])
    case .removed(let key, let time, _): .removed(key, readTime: time, removed: [target])
    case .filter(_, let count, let unchanged):
      .filter(target: target, count: count, unchanged: unchanged)
    }
  }
}
