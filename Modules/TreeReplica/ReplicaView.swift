package import TernCore
package import TernQuery

/// One query at one location: what the server says, what is pending, and what listeners have seen.
///
/// Data passes through three stages. `server` is what the server sent. `effective` is that with
/// the pending writes applied. `window` is what the query lets through, and what listeners see.
package struct ReplicaView: Sendable {
  package let path: TreePath
  package let query: TreeQuery
  /// Names a filtered listen on the wire, for the life of the view.
  let tag: Int?
  var registrations: [Registration] = []
  /// `true` while this filtered view has a listen of its own.
  var isListening = false

  /// The data that the server sent.
  package private(set) var server: ServerCache {
    didSet { announcedHash = nil }
  }
  /// The cached hash of ``announcement``; `nil` until it is computed, and after the data changes.
  var announcedHash: ListenHash?
  /// The same with accepted writes whose data this view's listen has not brought yet.
  private var assumed: ServerCache?
  /// `true` once the server has answered a listen that covers this view, on this connection.
  package private(set) var isLive = false

  /// `true` once the server has sent all data since the view's listen started.
  private(set) var isRefilled = false
  /// `true` if the last complete data came uncut, for all listeners rather than this view's query.
  private var isUncut = false
  /// The data that the view's listen announced to the server, until the server answers.
  private(set) var announced: TreeNode?
  /// The last stop of a listen that was sent before that.
  private(set) var announcedAfter: UInt64 = 0

  var effective = TreeNode.empty
  /// `true` if a child that is absent from `effective` does not exist.
  private var isWhole = false
  /// `true` if everything in the query's result is known.
  package private(set) var isComplete = false
  /// The result that listeners see.
  package internal(set) var window = TreeNode.empty {
    didSet { farEnd = nil }
  }
  /// The child of the window that leaves first when a better one comes; found when needed.
  var farEnd: ChildMap.Element?
  /// The order of `window`, built on first use.
  var order: ChildOrder?

  /// Creates a view of the known data, without events.
  init(path: TreePath, query: TreeQuery, tag: Int?, seed: ViewSeed, overlay: Overlay) {
    self.path = path
    self.query = query
    self.tag = tag
    server = seed.server
    assumed = seed.assumed
    isLive = seed.isLive
    recompute(overlay)
    window = windowOfEffective()
  }

  /// `true` if the known data is older than the listen that covers the view.
  var isFromCache: Bool { !isLive && !isRefilled }

  /// `true` if no data has come yet, from the server or from earlier knowledge.
  var knowsNothing: Bool { !base.isComplete && base.node.isEmpty }

  /// The known data below the overlay.
  var base: ServerCache { assumed ?? server }

  /// `true` if a registration observes child events.
  var wantsChildren: Bool {
    registrations.contains { !$0.kinds.isDisjoint(with: .children) }
  }
}

/// The hashes by which a listen announces the data it already has.
package struct ListenHash: Equatable, Sendable {
  /// The hash of the whole node; empty when nothing is known.
  package let whole: String
  /// Hashes of ranges, so that the server sends only those that differ; `nil` for small nodes.
  package let ranges: TreeCompoundHash?

  /// Larger nodes are hashed in ranges, too.
  private static let rangesAbove = 1_024

  /// Of nothing.
  package static let none = ListenHash(of: .empty)

  /// - Complexity: O(*n*).
  package init(of node: TreeNode) {
    whole = node.hash
    ranges = node.estimatedSize > Self.rangesAbove ? node.compoundHash : nil
  }
}

/// The initial data of a new view.
struct ViewSeed {
  var server: ServerCache
  var assumed: ServerCache?
  var isLive: Bool
  /// `true` if the server has pushed every change up to now, although it may not continue.
  var isCurrent = false

  /// `true` if no data has come yet, from the server or from earlier knowledge.
  var knowsNothing: Bool { !base.isComplete && base.node.isEmpty }

  /// The known data below the overlay.
  var base: ServerCache { assumed ?? server }
}

extension ReplicaView {
  /// Returns this view's data at `rest`, relative to its location; `nil` when that is incomplete.
  func seed(at rest: TreePath) -> ViewSeed? {
    guard base.isComplete, let known = base.known(at: rest) else { return nil }
    let whole = ServerCache(node: known, isComplete: true, isFiltered: false)
    // Only a view of everything gets the pushes for what lies below it, whatever comes.
    let isCurrent = isLive
    let isLive = isLive && query.loadsAllData
    guard assumed != nil else {
      return ViewSeed(server: whole, assumed: nil, isLive: isLive, isCurrent: isCurrent)
    }
    let said = server.isComplete ? server.known(at: rest) : nil
    let server = said.map { ServerCache(node: $0, isComplete: true, isFiltered: false) }
    return ViewSeed(
      server: server ?? .unknown, assumed: whole, isLive: isLive, isCurrent: isCurrent)
  }
}

// MARK: What can happen

extension ReplicaView {
  /// New data from the server.
  ///
  /// - Parameters:
  ///   - isTagged: Whether it was cut for this very query.
  ///   - isOwn: Whether it was addressed to this very location.
  mutating func apply(
    _ change: ViewChange, isTagged: Bool, isOwn: Bool, _ overlay: Overlay
  ) -> [TreeEvent] {
    server.apply(change, for: query, isTagged: isTagged)
    if case .whole = change {
      assumed = nil
      isUncut = !isTagged
      isRefilled = isRefilled || isOwn
    } else {
      assumed?.apply(change, for: query, isTagged: isTagged)
    }
    return refresh(change, overlay)
  }

  /// The data that the view's listen announces to the server.
  var announcement: TreeNode {
    query.loadsAllData ? server.node : query.window(of: server.node)
  }

  /// The server is told that the listen which covers this view has `node`.
  ///
  /// - Parameter lastStop: The last stop of a listen that was sent before.
  mutating func announce(_ node: TreeNode, after lastStop: UInt64) {
    announced = node
    announcedAfter = lastStop
    isUncut = false
    isRefilled = false
  }

  /// The data that the answer to this view's listen confirms: the sent or the announced data.
  var confirmed: TreeNode {
    if isRefilled { return server.node }
    return announced ?? query.window(of: server.node)
  }

  /// The server has answered the view's own filtered listen: it has said all there is to say.
  ///
  /// - Parameter isUnindexed: Whether it said that it has no index; what it sent may then have come
  ///   untagged, and uncut.
  mutating func confirm(isUnindexed: Bool, _ overlay: Overlay) -> [TreeEvent] {
    if isUnindexed, isUncut {
      let said = ServerCache(node: server.node, isComplete: true, isFiltered: server.isFiltered)
      return confirm(said, overlay)
    }
    let isFiltered = !isRefilled || server.isFiltered
    return confirm(
      ServerCache(node: confirmed, isComplete: true, isFiltered: isFiltered), overlay)
  }

  /// The server has answered a listen that covers this view, and `node` is all there is.
  mutating func confirm(_ node: TreeNode, _ overlay: Overlay) -> [TreeEvent] {
    confirm(ServerCache(node: node, isComplete: true, isFiltered: false), overlay)
  }

  private mutating func confirm(_ said: ServerCache, _ overlay: Overlay) -> [TreeEvent] {
    server = said
    assumed = nil
    announced = nil
    isLive = true
    return refresh(.whole(said.node), overlay)
  }

  /// A write was accepted; it may have left the overlay before its data came.
  ///
  /// - Parameter fresher: What live views below this one know, by path from this location.
  mutating func settle(
    _ change: ViewChange, fresher: [(path: TreePath, node: TreeNode)], _ overlay: Overlay
  ) -> [TreeEvent] {
    if !isLive {
      var next = base
      next.apply(change, for: query, isTagged: false)
      for (path, node) in fresher where next.isWhole || next.node.children[path.keys[0]] != nil {
        next.node.setNode(node, at: path)
      }
      assumed = next
    }
    return refresh(change, overlay)
  }

  /// The connection is gone: what is known may be out of date from here on.
  mutating func disconnect() {
    isLive = false
    isRefilled = false
  }

  /// The view's listen starts again after another one kept it up to date: from now on the server
  /// speaks of its window only.
  mutating func narrow() {
    guard !query.loadsAllData else { return }
    // Parts that the other listen still delivers can be of children which are not known here.
    isLive = false
    isRefilled = false
    guard server.isWhole else { return }
    var kept = query.window(of: server.node)
    for (key, _) in window.children {
      let child = server.node.child(key)
      if !child.isEmpty { kept.setChild(key, child) }
    }
    server = ServerCache(node: kept, isComplete: true, isFiltered: true)
  }

  /// Works out again what `change` touched, and tells what became of it.
  mutating func refresh(_ change: ViewChange, _ overlay: Overlay) -> [TreeEvent] {
    let before = (window: window, isComplete: isComplete)
    var touched: [TreeKey]?
    switch change {
    case .whole: recompute(overlay)
    case .parts(let parts): touched = recompute(parts, overlay)
    }
    if touched?.isEmpty == true, isComplete == before.isComplete { return [] }
    updateWindow(touched)
    return events(since: before, touched: query.loadsAllData ? touched : nil, overlay)
  }
}

// MARK: From the server's data to what is effective

extension ReplicaView {
  /// Works out everything.
  private mutating func recompute(_ overlay: Overlay) {
    let base = base
    if let node = overlay.resolve(at: path, base: base.isWhole ? base.node : nil) {
      effective = node
      isWhole = true
      isComplete = true
      return
    }
    var node = base.node.withoutPriority
    for key in overlay.touchedChildren(of: path) {
      node.setChild(
        key, overlay.resolve(at: path.appending(key), base: node.children[key]) ?? .empty)
    }
    effective = node
    isWhole = false
    isComplete = base.isComplete
  }

  /// Works out some places.
  ///
  /// - Returns: The children that may have changed; `nil` when everything may.
  private mutating func recompute(_ parts: PathTrie<TreeNode>, _ overlay: Overlay) -> [TreeKey]? {
    var touched: [TreeKey] = []
    var isEverything = false
    parts.visit { part, _ in
      guard !isEverything else { return }
      let place = smallestPlace(around: part, overlay)
      if let key = place.first {
        if recompute(at: place, key, overlay) { touched.append(key) }
      } else {
        recompute(overlay)
        isEverything = true
      }
    }
    return isEverything ? nil : touched
  }

  /// Works out one place in the child `key`, and tells whether it is different now.
  private mutating func recompute(
    at place: TreePath, _ key: TreeKey, _ overlay: Overlay
  ) -> Bool {
    let base = base
    if isWhole || effective.children[key] != nil,
      let node = overlay.resolve(at: path.appending(place), base: base.known(at: place))
    {
      if effective.node(at: place) == node { return false }
      effective.setNode(node, at: place)
      return true
    }
    let known = base.known(at: TreePath(unchecked: [key]))
    let child = overlay.resolve(at: path.appending(key), base: known) ?? .empty
    if effective.child(key) == child { return false }
    effective.setChild(key, child)
    return true
  }

  /// The place to work out when `part` changed: higher up when something on the way there is not
  /// just a node of children.
  private func smallestPlace(around part: TreePath, _ overlay: Overlay) -> TreePath {
    if part.namesPriority { return smallestPlace(around: part.parent ?? .root, overlay) }
    let server = base.node
    for count in 0..<part.count {
      let prefix = TreePath(unchecked: Array(part.keys.prefix(count)))
      if server.node(at: prefix).isSingular || effective.node(at: prefix).isSingular
        || overlay.disturbs(path.appending(prefix))
      {
        return prefix
      }
    }
    return part
  }
}
