import TernCore
import TernQuery
import TernTreeReplica

/// One event in the form in which recorded and raised events are compared.
struct SpecEvent: Hashable, CustomStringConvertible {
  let path: TreePath
  let kind: TreeChange.Kind
  let key: String?
  let previousKey: String?
  let data: String

  init(_ event: TreeEvent) {
    path = event.path
    kind = event.change.kind
    key = event.change.key?.text
    previousKey = event.change.previousKey?.text
    data = event.change.node.json(.export)
  }

  init(recorded: JSONValue) throws {
    path = try TreePath(recorded["path"]?.text ?? "")
    kind = try SpecEvent.kind(recorded["type"]?.text)
    key = kind == .value ? nil : recorded["name"]?.text
    previousKey = kind == .value || kind == .removed ? nil : recorded["prevName"]?.text
    data = try TreeNode(json: (recorded["data"] ?? .null).bytes).json(.export)
  }

  /// The place of the kind in the order in which one view raises its events.
  var rank: Int {
    switch kind {
    case .removed: 0
    case .added: 1
    case .moved: 2
    case .changed: 3
    case .value: 4
    }
  }

  var description: String {
    "/\(path) \(kind) \(key ?? "") \(data) after \(previousKey ?? "nothing")"
  }

  private static func kind(_ name: String?) throws -> TreeChange.Kind {
    switch name {
    case "value": .value
    case "child_added": .added
    case "child_removed": .removed
    case "child_moved": .moved
    case "child_changed": .changed
    default: throw SpecError("no event is called \(name ?? "nothing")")
    }
  }
}

/// One event with the listener that hears it.
struct RaisedEvent {
  let event: SpecEvent
  let listener: RegistrationID

  init(_ event: TreeEvent) {
    self.event = SpecEvent(event)
    listener = event.registration
  }
}

/// The events a recorded step must raise.
///
/// The recordings say which events a step raises, in no order; every listener hears them in the
/// order of their kinds. So a step's events are compared as a set, and what each listener hears in
/// a row at its location must not go back in that order.
struct ExpectedEvents {
  private let events: [SpecEvent]

  init(_ recorded: JSONValue?) throws {
    guard case .array(let list) = recorded ?? .array([]) else {
      throw SpecError("events are a list")
    }
    events = try list.map { try SpecEvent(recorded: $0) }
  }

  /// Says what differs, `nil` when nothing does.
  func difference(from actual: [RaisedEvent]) -> String? {
    let raised = actual.map(\.event)
    guard count(events) == count(raised) else {
      return "  expected:\n" + lines(events) + "  raised:\n" + lines(raised)
    }
    guard isOrdered(actual) else { return "  raised out of order:\n" + lines(raised) }
    return nil
  }

  private func isOrdered(_ events: [RaisedEvent]) -> Bool {
    var path: TreePath?
    var ranks: [RegistrationID: Int] = [:]
    for raised in events {
      if raised.event.path != path { ranks = [:] }
      path = raised.event.path
      if let last = ranks[raised.listener], last > raised.event.rank { return false }
      ranks[raised.listener] = raised.event.rank
    }
    return true
  }

  private func count(_ events: [SpecEvent]) -> [SpecEvent: Int] {
    Dictionary(events.map { ($0, 1) }, uniquingKeysWith: +)
  }

  private func lines(_ events: [SpecEvent]) -> String {
    events.isEmpty ? "    nothing\n" : events.map { "    \($0)\n" }.joined()
  }
}
