import TernCore
import TernDocumentAuthority

/// The documents that the permission of each target rests on, so that a commit judges those targets
/// again that it concerns, and no others.
struct ListenDependencies {
  private var keys: [WatchSubscriber: Set<DocumentKey>] = [:]
  private var subscribers: [DocumentKey: Set<WatchSubscriber>] = [:]

  /// The most documents that the permission of one target is known to rest on before it is judged
  /// anew, and so without those it rested on earlier.
  static let keysKept = 100

  /// True when no permission rests on a document.
  var isEmpty: Bool { keys.isEmpty }

  /// Replaces what the permission of a target rests on.
  mutating func set(_ new: Set<DocumentKey>, of subscriber: WatchSubscriber) {
    let old = keys[subscriber] ?? []
    for key in old.subtracting(new) {
      subscribers[key]?.remove(subscriber)
      if subscribers[key]?.isEmpty == true { subscribers[key] = nil }
    }
    for key in new.subtracting(old) { subscribers[key, default: []].insert(subscriber) }
    keys[subscriber] = new.isEmpty ? nil : new
  }

  /// Adds to what the permission of a target rests on.
  ///
  /// - Returns: The number of documents that are known now.
  mutating func add(_ more: Set<DocumentKey>, to subscriber: WatchSubscriber) -> Int {
    let all = (keys[subscriber] ?? []).union(more)
    set(all, of: subscriber)
    return all.count
  }

  /// Forgets a target.
  mutating func remove(_ subscriber: WatchSubscriber) { set([], of: subscriber) }

  /// Returns the targets whose permission rests on one of the documents, in a fixed order.
  func concerned(by changed: [DocumentKey]) -> [WatchSubscriber] {
    if keys.isEmpty { return [] }
    var all: Set<WatchSubscriber> = []
    for key in changed { all.formUnion(subscribers[key] ?? []) }
    return all.sorted { ($0.stream, $0.target) < ($1.stream, $1.target) }
  }
}
