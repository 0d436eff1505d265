import TernCore
import TernQuery
import TernTreeEngine

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

/// The events a recorded step must raise.
///
/// The recordings settle which location comes first, but not always the order of the kinds; that
/// order is the one every view keeps.
struct ExpectedEvents {
  private let events: [SpecEvent]

  init(_ recorded: JSONValue?) throws {
    guard case .array(let list) = recorded ?? .array([]) else {
      throw SpecError("events are a list")
    }
    events = try list.map { try SpecEvent(recorded: $0) }
  }

  /// Says what differs, `nil` when nothing does.
  func difference(from actual: [SpecEvent], viewCount: (TreePath) -> Int) -> String? {
    let expectedGroups = groups(of: events)
    let actualGroups = groups(of: actual)
    let isSame = expectedGroups.elementsEqual(actualGroups) { expected, actual in
      guard let path = expected.first?.path, path == actual.first?.path else { return false }
      if viewCount(path) > 1 { return count(expected) == count(actual) }
      return sorted(expected) == actual
    }
    if isSame { return nil }
    return "  expected:\n" + lines(events) + "  raised:\n" + lines(actual)
  }

  private func groups(of events: [SpecEvent]) -> [[SpecEvent]] {
    var groups: [[SpecEvent]] = []
    for event in events {
      if groups.last?.last?.path == event.path {
        groups[groups.count - 1].append(event)
      } else {
        groups.append([event])
      }
    }
    return groups
  }

  private func count(_ events: [SpecEvent]) -> [SpecEvent: Int] {
    Dictionary(events.map { ($0, 1) }, uniquingKeysWith: +)
  }

  private func sorted(_ events: [SpecEvent]) -> [SpecEvent] {
    events.sorted { $0.rank < $1.rank }
  }

  private func lines(_ events: [SpecEvent]) -> String {
    events.isEmpty ? "    nothing\n" : events.map { "    \($0)\n" }.joined()
  }
}
