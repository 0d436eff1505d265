import TernCore
import TernQuery
import TernTreeReplica

/// One scenario in progress.
///
/// The recordings leave out the server's answers to listens; data for a whole listen stands for it.
struct TreeSpecRun {
  private var replica = TreeReplica()
  /// The listens of the scenario by the tag it gives them.
  private var requests: [Int64: (path: TreePath, query: TreeQuery)] = [:]
  private var registrations: [TreePath: [(callback: Int64?, id: RegistrationID)]] = [:]

  /// Performs one step and returns the events it raises, in order.
  mutating func perform(_ step: JSONValue) throws -> [RaisedEvent] {
    let path = try TreePath(writable: step["path"]?.text ?? "")
    switch step["type"]?.text {
    case "listen":
      return try listen(at: path, step).events.map(RaisedEvent.init)
    case "unlisten":
      return unlisten(at: path, step["callbackId"]?.integer).events.map(RaisedEvent.init)
    case "set":
      let write = TreeWrite.set(path, try node(step["data"]))
      let isVisible = step["visible"] != .bool(false)
      return replica.plan(write, isVisible: isVisible, now: 0).outcome.events.map(RaisedEvent.init)
    case "update":
      let write = TreeWrite.merge(path, try TreeMerge(entries(step["data"])))
      return replica.plan(write, now: 0).outcome.events.map(RaisedEvent.init)
    case "serverUpdate":
      let change = ServerChange.overwrite(path, try node(step["data"]))
      return try apply(change, step)
        + completeListens(below: path, isTagged: step["tag"] != nil).map(RaisedEvent.init)
    case "serverMerge":
      return try apply(.merge(path, entries(step["data"])), step)
    case "ackUserWrite":
      let id = WriteID(UInt64(step["writeId"]?.integer ?? 0))
      let verdict = step["revert"] == .bool(true) ? WriteVerdict.rejected : .accepted
      return replica.acknowledge(id, verdict).events.map(RaisedEvent.init)
    case "suppressWarning":
      return []
    case let other:
      throw SpecError("no step is called \(other ?? "nothing")")
    }
  }

  private mutating func listen(at path: TreePath, _ step: JSONValue) throws -> ReplicaOutcome {
    let query = try TreeQuery(spec: step["params"])
    if let tag = step["params"]?["tag"]?.integer { requests[tag] = (path, query) }
    let (id, outcome) = replica.listen(at: path, query: query, for: .all)
    registrations[path, default: []].append((step["callbackId"]?.integer, id))
    return outcome
  }

  private mutating func unlisten(at path: TreePath, _ callback: Int64?) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    for registration in registrations[path] ?? [] where registration.callback == callback {
      outcome.append(replica.unlisten(registration.id))
    }
    registrations[path]?.removeAll { $0.callback == callback }
    return outcome
  }

  private mutating func apply(_ change: ServerChange, _ step: JSONValue) throws -> [RaisedEvent] {
    guard let number = step["tag"]?.integer else {
      return replica.applyServer(change).events.map(RaisedEvent.init)
    }
    guard let (path, query) = requests[number], let tag = replica.tag(of: query, at: path) else {
      throw SpecError("nobody listens with tag \(number)")
    }
    return replica.applyServer(change, tag: tag).events.map(RaisedEvent.init)
  }

  private mutating func completeListens(below path: TreePath, isTagged: Bool) -> [TreeEvent] {
    replica.activeListens.filter { path.contains($0.path) }
      .flatMap { replica.completeListen($0, isUnindexed: !isTagged).events }
  }

  private func node(_ value: JSONValue?) throws -> TreeNode {
    try TreeNode(json: (value ?? .null).bytes)
  }

  private func entries(_ value: JSONValue?) throws -> [TreeMerge.Entry] {
    guard case .object(let members) = value else { throw SpecError("a merge is an object") }
    return try members.map { member in
      TreeMerge.Entry(path: try TreePath(writable: member.name), node: try node(member.value))
    }
  }
}

extension TreeQuery {
  /// Reads the parameters of a recorded query.
  fileprivate init(spec: JSONValue?) throws {
    var query = TreeQuery.all
    if let child = spec?["orderBy"]?.text { query = try query.ordered(byChild: child) }
    if spec?["orderByKey"] == .bool(true) { query = try query.ordered(by: .key) }
    for name in ["startAt", "startAfter", "endAt", "endBefore", "equalTo"] {
      guard let bound = spec?[name] else { continue }
      let value = try TreeNode(json: (bound["index"] ?? .null).bytes).scalar
      let key = try bound["name"]?.text.map { try TreeKey($0) }
      query = try query.bounded(name, value, key)
    }
    if let count = spec?["limitToFirst"]?.integer { query = try query.first(Int(count)) }
    if let count = spec?["limitToLast"]?.integer { query = try query.last(Int(count)) }
    self = query
  }

  private func bounded(_ name: String, _ value: TreeScalar?, _ key: TreeKey?) throws -> TreeQuery {
    switch name {
    case "startAt": try starting(at: value, key: key)
    case "startAfter": try starting(after: value, key: key)
    case "endAt": try ending(at: value, key: key)
    case "endBefore": try ending(before: value, key: key)
    default: try equal(to: value, key: key)
    }
  }
}
