package import TernCore
package import TernQuery

// Which listens the server holds. A location with a view of everything serves all that lies at
// and below it. Source: realtime reference, section 5.4.
extension TreeReplica {
  /// The listens that should be held now, by path; to be sent again after a new connection.
  package var activeListens: [ListenRequest] { tree.activeListens }

  /// Returns the tag that names a filtered query on the wire, if the query has a listener.
  package func tag(of query: TreeQuery, at path: TreePath) -> Int? { tree.tag(of: query, at: path) }

  /// The hashes of the server's data as known for a listen that is about to be sent.
  ///
  /// The data are remembered: an answer without data confirms just them, whatever comes in between.
  ///
  /// - Complexity: O(*n*), but O(1) when nothing has changed since it was asked last.
  package mutating func hash(for request: ListenRequest) -> ListenHash {
    guard let asked = tree.view(for: request) else { return .none }
    let node = asked.announcement
    let hash = asked.announcedHash ?? ListenHash(of: node)
    let lastStop = ending.lastStop
    tree.points.update(at: request.path) { place in
      _ = place.updateViews { view in
        let isServed = request.tag == nil ? view.query.loadsAllData : view.tag == request.tag
        if isServed { view.announce(node, after: lastStop) }
        if view.query == asked.query { view.announcedHash = hash }
        return []
      }
    }
    return hash
  }

  /// Notes that the server was told a listen is over; until it answers, it may still deliver.
  package mutating func stopSent(_ request: ListenRequest) { ending.add(request) }

  /// The server has answered that a listen is over.
  package mutating func stopAnswered(_ request: ListenRequest) { ending.remove(request) }

  /// Makes a view and starts its listen, unless another one covers it.
  mutating func open(_ query: TreeQuery, at path: TreePath) -> ReplicaOutcome {
    let isCovered = tree.isCovered(path) || tree.points[path]?.wholeView != nil
    let tag = query.loadsAllData ? nil : tree.makeTag()
    if let tag { tree.tagged[tag] = ListenRequest(path: path, query: query, tag: tag) }
    var seed = seed(query, at: path)
    seed.isLive = seed.isLive && isCovered
    kept.cache?.setActive(true, query.normalized, at: path)
    var view = ReplicaView(path: path, query: query, tag: tag, seed: seed, overlay: overlay)
    view.isListening = tag != nil && !isCovered
    var outcome = ReplicaOutcome()
    tree.points.update(at: path) { place in
      var point = place.value ?? SyncPoint()
      point.views.append(view)
      place.value = point
      guard !isCovered else { return }
      outcome.starts = [ListenRequest(path: path, query: query.normalized, tag: tag)]
      if tag == nil { place.cover(at: path, &outcome.stops) }
    }
    kept.keepWindows(of: outcome.starts, tree)
    // What was assumed of accepted writes is stored, but not said by the server in memory.
    if seed.assumed != nil { kept.cache?.markDisturbed(path) }
    return outcome
  }

  /// Removes a view without registrations; its listen stops, and those it covered start again.
  mutating func close(_ query: TreeQuery, at path: TreePath) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    var isLast = true
    tree.points.update(at: path) { place in
      guard let index = place.value?.index(of: query),
        let view = place.value?.views.remove(at: index)
      else { return }
      let request = ListenRequest(path: path, query: query.normalized, tag: view.tag)
      if let tag = view.tag { tree.tagged[tag] = nil }
      if view.isListening { outcome.stops = [request] }
      isLast = view.tag != nil || place.value?.wholeView == nil
      if view.tag == nil, isLast, place.value?.isListening == true {
        place.value?.isListening = false
        place.uncover(at: path, &outcome.starts)
        outcome.stops = [request]
      }
      if place.value?.views.isEmpty == true { place.value = nil }
    }
    if isLast { kept.cache?.setActive(false, query.normalized, at: path) }
    kept.keepWindows(of: outcome.starts, tree)
    return outcome
  }
}

// MARK: What a new view knows

extension TreeReplica {
  /// Returns the initial data of a new view.
  private mutating func seed(_ query: TreeQuery, at path: TreePath) -> ViewSeed {
    if let seed = tree.viewSeed(path) { return seed }
    let stored = kept.cache?.load(query.normalized, at: path) ?? .unknown
    var seed = ViewSeed(server: stored, assumed: nil, isLive: false)
    if stored.isComplete { return seed }
    if query.loadsAllData, let own = tree.points[path]?.wholeView {
      for child in own.server.node.children { seed.server.node.setChild(child.key, child.node) }
    }
    guard let place = tree.points.subtrie(at: path) else { return seed }
    for key in place.sortedKeys {
      guard let below = place.children[key]?.value?.wholeView, below.server.isWhole else {
        continue
      }
      seed.server.node.setChild(key, below.server.node)
    }
    return seed
  }
}

// MARK: Covering and uncovering

extension SyncPoint {
  func activeListens(at path: TreePath) -> [ListenRequest] {
    var requests = isListening ? [ListenRequest(path: path, query: .all, tag: nil)] : []
    for view in views where view.isListening {
      requests.append(ListenRequest(path: path, query: view.query, tag: view.tag))
    }
    return requests
  }
}

extension PathTrie where Value == SyncPoint {
  /// Starts the default listen here, and stops all that it serves from now on.
  fileprivate mutating func cover(at path: TreePath, _ stops: inout [ListenRequest]) {
    stopAll(at: path, &stops)
    value?.isListening = true
  }

  private mutating func stopAll(at path: TreePath, _ stops: inout [ListenRequest]) {
    if var point = value {
      stops += point.activeListens(at: path)
      point.isListening = false
      for index in point.views.indices { point.views[index].isListening = false }
      value = point
    }
    for key in sortedKeys { updateChild(key) { $0.stopAll(at: path.appending(key), &stops) } }
  }

  /// Starts the listens that nothing covers any more, down to the next views of everything.
  fileprivate mutating func uncover(at path: TreePath, _ starts: inout [ListenRequest]) {
    if var point = value {
      let isWhole = point.wholeView != nil
      if isWhole {
        point.isListening = true
      } else {
        for index in point.views.indices {
          point.views[index].narrow()
          point.views[index].isListening = true
        }
      }
      starts += point.activeListens(at: path)
      value = point
      if isWhole { return }
    }
    for key in sortedKeys { updateChild(key) { $0.uncover(at: path.appending(key), &starts) } }
  }
}
