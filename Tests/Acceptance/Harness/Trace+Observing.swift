import Foundation
import TernFirebaseCompat

extension Trace {
  /// Listens for one kind of event and notes each as `added key value`.
  @discardableResult
  func observe(_ type: DataEventType, of query: DatabaseQuery, as name: String = "")
    -> DatabaseHandle
  {
    let prefix = name.isEmpty ? "" : name + ": "
    return query.observe(
      type,
      with: { snapshot in
        self.add(prefix + Trace.line(type, snapshot))
      },
      withCancel: { error in
        self.add(prefix + "cancelled")
      })
  }

  /// Listens for every kind of event.
  func observeAll(_ query: DatabaseQuery, as name: String = "") {
    for type in [DataEventType.childAdded, .childRemoved, .childChanged, .childMoved, .value] {
      observe(type, of: query, as: name)
    }
  }

  static func line(_ type: DataEventType, _ snapshot: DataSnapshot) -> String {
    let value = text(snapshot.value)
    return switch type {
    case .childAdded: "added \(snapshot.key) \(value)"
    case .childRemoved: "removed \(snapshot.key) \(value)"
    case .childChanged: "changed \(snapshot.key) \(value)"
    case .childMoved: "moved \(snapshot.key) \(value)"
    case .value: "value \(value)"
    }
  }

  /// A value as one line with its keys sorted.
  static func text(_ value: Any?) -> String {
    switch value {
    case nil: "null"
    case let members as [String: Any]:
      "{" + members.keys.sorted().map { "\($0):\(text(members[$0]))" }.joined(separator: ",") + "}"
    case let items as [Any]: "[" + items.map { text($0) }.joined(separator: ",") + "]"
    case is NSNull: "null"
    case let number as NSNumber: "\(number)"
    case let value?: "\(value)"
    }
  }
}

/// Runs a body in a context that is not asynchronous, where the call without completion is meant.
func now(_ body: () -> Void) { body() }
