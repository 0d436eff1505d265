import TernCore
import TernQuery

/// The views of all queries that have listeners, by location, and the tags of filtered listens.
///
/// A location with a view of everything has one *default listen*, which serves all views at and
/// below it. Other views have listens of their own, with a tag, while nothing covers them.
struct SyncTree: Sendable {
  var points = PathTrie<SyncPoint>()
  /// The filtered listens, by the tags that name them on the wire.
  var tagged: [Int: ListenRequest] = [:]
  private var lastTag = 0

  /// Makes a tag that no listen had before.
  ///
  /// Tags are not reused, so that a late push of an ended listen is recognized.
  mutating func makeTag() -> Int {
    lastTag += 1
    return lastTag
  }

  /// The listens that should be held now, by path; to be sent again after a new connection.
  var activeListens: [ListenRequest] {
    var requests: [ListenRequest] = []
    points.visit { path, point in requests += point.activeListens(at: path) }
    return requests.sorted { $0.path < $1.path }
  }

  /// Returns the tag that names a filtered query on the wire, if the query has a listener.
  func tag(of query: TreeQuery, at path: TreePath) -> Int? {
    points[path]?.views.first { $0.query == query }?.tag
  }

  /// Returns `true` if a view of all data is registered above `path`.
  func isCovered(_ path: TreePath) -> Bool {
    var isCovered = false
    points.walk(to: path) { depth, point in
      if depth < path.count, point.wholeView != nil { isCovered = true }
    }
    return isCovered
  }

  /// Returns the view that a listen serves first.
  func view(for request: ListenRequest) -> ReplicaView? {
    let point = points[request.path]
    if request.query.isDefault { return point?.wholeView }
    return point?.views.first { $0.query == request.query }
  }

  /// All that views at `path` or above know of the server's data there; live ones first, then those
  /// that are current.
  ///
  /// - Returns: The best source: a live view, else one that is current, else any that knows the
  ///   path.
  func viewSeed(_ path: TreePath) -> ViewSeed? {
    var found: ViewSeed?
    points.walk(to: path) { depth, point in
      let rest = TreePath(unchecked: Array(path.keys.dropFirst(depth)))
      for view in point.views where found?.isLive != true {
        guard let seed = view.seed(at: rest) else { continue }
        if let found, !seed.isLive, found.isCurrent || !seed.isCurrent { continue }
        found = seed
      }
    }
    return found
  }

  /// All that views at `path` or above know of the server's data there.
  func serverKnows(_ path: TreePath) -> (node: TreeNode, isLive: Bool)? {
    viewSeed(path).map { ($0.base.node, $0.isLive) }
  }

  /// Edits a view in place; `nil` when there is none.
  @discardableResult
  mutating func withView<R>(
    _ query: TreeQuery, at path: TreePath, _ body: (inout ReplicaView) -> R
  ) -> R? {
    guard let index = points[path]?.index(of: query) else { return nil }
    return points.update(at: path) { place in
      guard var point = place.value.take() else { return nil }
      defer { place.value = point }
      return body(&point.views[index])
    }
  }

  /// Returns `true` if a live view receives all changes at `path`.
  func isPushed(_ path: TreePath) -> Bool {
    var isPushed = false
    points.walk(to: path) { depth, point in
      let rest = TreePath(unchecked: Array(path.keys.dropFirst(depth)))
      for view in point.views where view.isLive && view.server.known(at: rest) != nil {
        isPushed = true
      }
    }
    return isPushed
  }
}
