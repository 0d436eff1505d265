import TernCore
import TernQuery

extension ReplicaView {
  /// Tells every registration what became of the view since `before`.
  ///
  /// Removed children come first, then added, moved and changed ones, each group in query order;
  /// then the value. Source: realtime reference, sections 4.1 to 4.3.
  /// - Parameter touched: The children that may differ; `nil` when any may.
  mutating func events(
    since before: (window: TreeNode, isComplete: Bool), touched: [TreeKey]?, _ overlay: Overlay
  ) -> [TreeEvent] {
    var changes: [TreeChange] = []
    let hasChildChange: Bool
    if wantsChildren {
      changes = childChanges(since: before.window, touched)
      hasChildChange = !changes.isEmpty
    } else {
      order = nil
      let children = window.children
      let old = before.window.children
      hasChildChange =
        touched.map { $0.contains { children[$0] != old[$0] } } ?? (children != old)
    }
    if isComplete, hasChildChange || !before.isComplete || changedItself(since: before.window) {
      changes.append(TreeChange(.value, key: nil, node: window))
    }
    return changes.isEmpty ? [] : address(changes, to: registrations, overlay)
  }

  /// Returns the events that a new registration receives for the view's current state.
  mutating func initialEvents(for registration: Registration, _ overlay: Overlay) -> [TreeEvent] {
    var changes: [TreeChange] = []
    if registration.kinds.contains(.childAdded) {
      changes = initialChanges(of: window, query: query)
    }
    if isComplete, registration.kinds.contains(.value) {
      changes.append(TreeChange(.value, key: nil, node: window))
    }
    return changes.isEmpty ? [] : address(changes, to: [registration], overlay)
  }

  /// Returns `true` if the node at the location differs in its priority or its own value.
  private func changedItself(since before: TreeNode) -> Bool {
    if window.priority != before.priority { return true }
    return !window.hasChildren && window != before
  }

  private func address(
    _ changes: [TreeChange], to registrations: [Registration], _ overlay: Overlay
  ) -> [TreeEvent] {
    let pending = overlay.pending.at(path)
    var events: [TreeEvent] = []
    events.reserveCapacity(changes.count * registrations.count)
    for change in changes {
      let kind = EventKinds(change.kind)
      for registration in registrations where registration.kinds.contains(kind) {
        events.append(
          TreeEvent(
            registration: registration.id, path: path, change: change,
            pending: pending, isFromCache: isFromCache))
      }
    }
    return events
  }
}

// MARK: Child events

extension ReplicaView {
  private typealias Difference = (key: TreeKey, old: TreeNode, new: TreeNode)

  private mutating func childChanges(
    since before: TreeNode, _ touched: [TreeKey]?
  ) -> [TreeChange] {
    if !before.hasChildren {
      order = nil
      return initialChanges(of: window, query: query)
    }
    let differences = differences(since: before.children, touched)
    if differences.isEmpty { return [] }
    let previous = previousKeys(of: differences)
    return removed(differences) + added(differences, previous)
      + moved(differences, previous) + changed(differences, previous)
  }

  private func differences(since old: ChildMap, _ touched: [TreeKey]?) -> [Difference] {
    let new = window.children
    var differences: [Difference] = []
    if let touched, touched.count < 16 {
      for key in touched.sorted() where differences.last?.key != key {
        let before = old[key] ?? .empty
        let after = new[key] ?? .empty
        if before != after { differences.append((key, before, after)) }
      }
    } else {
      new.forEachDifference(from: old) { differences.append(($0, $1, $2)) }
    }
    return differences
  }

  /// Brings the order up to date, and answers who precedes a child in it.
  ///
  /// Few differences update the kept order; many are cheaper by sorting all children once and
  /// dropping the order.
  private mutating func previousKeys(of differences: [Difference]) -> (ChildMap.Element) -> TreeKey?
  {
    let children = window.children
    guard differences.count < 64 || differences.count < children.count / 8 else {
      order = nil
      var known: [TreeKey: TreeKey] = [:]
      var last: TreeKey?
      for child in query.ordered(window) {
        known[child.key] = last
        last = child.key
      }
      return { known[$0.key] }
    }
    if order == nil {
      order = ChildOrder(of: window, for: query)
    } else {
      for difference in differences {
        order?.replace(difference.key, difference.old, with: difference.new)
      }
    }
    let order = order
    return { order?.predecessor(of: $0, in: children) }
  }

  private func removed(_ differences: [Difference]) -> [TreeChange] {
    let old = differences.filter { $0.new.isEmpty }.map { (key: $0.key, node: $0.old) }
    return inOrder(old).map {
      TreeChange(.removed, key: $0.key, node: $0.node)
    }
  }

  private func added(
    _ differences: [Difference], _ previous: (ChildMap.Element) -> TreeKey?
  ) -> [TreeChange] {
    changes(.added, differences.filter { $0.old.isEmpty }, previous)
  }

  private func moved(
    _ differences: [Difference], _ previous: (ChildMap.Element) -> TreeKey?
  ) -> [TreeChange] {
    let moved = differences.filter {
      !$0.old.isEmpty && !$0.new.isEmpty && query.order.isMoved(from: $0.old, to: $0.new)
    }
    return changes(.moved, moved, previous)
  }

  private func changed(
    _ differences: [Difference], _ previous: (ChildMap.Element) -> TreeKey?
  ) -> [TreeChange] {
    changes(.changed, differences.filter { !$0.old.isEmpty && !$0.new.isEmpty }, previous)
  }

  private func changes(
    _ kind: TreeChange.Kind, _ differences: [Difference],
    _ previous: (ChildMap.Element) -> TreeKey?
  ) -> [TreeChange] {
    inOrder(differences.map { (key: $0.key, node: $0.new) }).map {
      TreeChange(kind, key: $0.key, node: $0.node, previousKey: previous($0))
    }
  }

  private func inOrder(_ children: [ChildMap.Element]) -> [ChildMap.Element] {
    guard children.count > 1 else { return children }
    let order = query.order
    return children.sorted { order.compare($0, $1) < 0 }
  }
}

extension EventKinds {
  init(_ kind: TreeChange.Kind) {
    self =
      switch kind {
      case .value: .value
      case .added: .childAdded
      case .removed: .childRemoved
      case .moved: .childMoved
      case .changed: .childChanged
      }
  }
}
