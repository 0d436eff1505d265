import TernCore
import TernDocumentReplica
import TernQuery

extension DocumentSpecRun {
  /// Performs the one action of a step.
  mutating func perform(_ step: JSONValue) throws {
    guard case .object(let members) = step else { throw SpecError("a step is an object") }
    client = Int(try step["clientIndex"]?.number ?? 0)
    for member in members {
      if DocumentSpecRun.isExpectation(member.name) { continue }
      try perform(member.name, member.value)
    }
    try replica.commit()
  }

  private static func isExpectation(_ name: String) -> Bool {
    name.hasPrefix("expected") || name == "clientIndex"
  }

  private mutating func perform(_ action: String, _ value: JSONValue) throws {
    if try performUser(action, value) || performWatch(action, value) { return }
    switch action {
    case "writeAck": try acknowledgeWrite(value)
    case "failWrite": try failWrite(value)
    case "enableNetwork":
      isNetworkEnabled = value == .bool(true)
      holdsWatchStream = false
      try perform(replica.setNetwork(isEnabled: isNetworkEnabled))
    case "changeUser":
      user = value.text ?? ""
      // New streams do not wait for what troubled the old ones.
      holdsWatchStream = false
      try perform(replica.switchUser(to: user))
    // Clients that share an engine hear at once, and none of them is in front.
    case "drainQueue", "applyClientState": break
    case "restart": try restart()
    case "shutdown":
      try perform(replica.setNetwork(isEnabled: false))
    case "clearPersistence": try replica.cache.clearAll()
    case "triggerLruGC":
      _ = replica.cache.evict(
        DocumentEviction(thresholdBytes: Int(try value.number), percent: 100, limit: 1_000))
    case "runTimer": try runTimer(value.text ?? "")
    default: throw SpecError("no step is called \(action)")
    }
  }

  private mutating func runTimer(_ name: String) throws {
    switch name {
    case "online_state_timeout": try perform(replica.onlineTimerFired())
    case "all", "listen_stream_connection_backoff":
      if holdsWatchStream {
        holdsWatchStream = false
        try perform(replica.watchStreamOpened())
      }
      if name == "all" { try perform(replica.onlineTimerFired()) }
    default: throw SpecError("no timer is called \(name)")
    }
  }

  private mutating func performUser(_ action: String, _ value: JSONValue) throws -> Bool {
    switch action {
    case "userListen": try listen(value)
    case "userUnlisten":
      let query = try DocumentQuery(recorded: try value.list.last ?? .null)
      guard let id = listeners[client]?[query]?.popLast() else { break }
      try perform(replica.unlisten(id))
    case "userSet":
      let parts = try value.list
      try write(.set(DocumentKey(parts[0].text ?? ""), to: parts[1].documentInput))
    case "userPatch":
      let parts = try value.list
      guard case .object(let members) = parts[1] else { throw SpecError("no fields to patch") }
      try write(
        .update(
          DocumentKey(parts[0].text ?? ""),
          members.map { member in
            let input: DocumentInput =
              member.value == .string("<DELETE>") ? .delete : .value(member.value.documentValue)
            return (try DocumentFieldPath(dotted: member.name), input)
          }))
    case "userDelete": try write(.delete(DocumentKey(value.text ?? "")))
    case "addSnapshotsInSyncListener":
      let (id, effects) = replica.listenInSync()
      inSyncListeners.append(id)
      own(id)
      try perform(effects)
    case "removeSnapshotsInSyncListener":
      if let id = inSyncListeners.popLast() { replica.unlistenInSync(id) }
    case "waitForPendingWrites": try wait()
    case "loadBundle":
      guard let database = DocumentSpecRun.database else { break }
      let bundle = try BundleReader.read(Array((value.text ?? "").utf8), of: database)
      try perform(replica.load(bundle))
    case "setIndexConfiguration": try replica.cache.setIndexes(value.text ?? value.json)
    default: return false
    }
    return true
  }

  private mutating func listen(_ value: JSONValue) throws {
    let query = try DocumentQuery(recorded: value["query"] ?? .null)
    var options = DocumentListenOptions(includesMetadata: true)
    if value["options"]?["includeMetadataChanges"] == .bool(false) {
      options.includesMetadata = false
    }
    if value["options"]?["source"]?.text == "cache" { options.source = .cache }
    let (id, effects) = replica.listen(query, options: options)
    listeners[client, default: [:]][query, default: []].append(id)
    queries[id] = query
    own(id)
    try perform(effects)
    if let target = replica.target(of: id), let wanted = try value["targetId"]?.number,
      target != wanted
    {
      throw SpecError("the query has target \(target), not \(wanted)")
    }
  }

  private mutating func acknowledgeWrite(_ value: JSONValue) throws {
    guard let batch = sent.first else { throw SpecError("no write was sent") }
    sent.removeFirst()
    let version = try value["version"]?.version ?? .none
    let results = batch.mutations.map { _ in DocumentWriteResult(version: version) }
    try perform(replica.acknowledge(batch.id, version: version, results: results))
  }

  private mutating func failWrite(_ value: JSONValue) throws {
    guard !sent.isEmpty else { throw SpecError("no write was sent") }
    closeWriteStream()
    try perform(replica.writeStreamClosed(try value["error"]?.status ?? .init(.unknown, "")))
  }
}

// MARK: The listen stream

extension DocumentSpecRun {
  private mutating func performWatch(_ action: String, _ value: JSONValue) throws -> Bool {
    switch action {
    case "watchAck": try tell(.target(WatchTargetChange(.added, targets: targets(value))))
    case "watchCurrent":
      let parts = try value.list
      let token = Array((parts[1].text ?? "").utf8)
      try tell(
        .target(WatchTargetChange(.current, targets: targets(parts[0]), resumeToken: token)))
    case "watchReset": try tell(.target(WatchTargetChange(.reset, targets: targets(value))))
    case "watchRemove":
      let ids = try targets(value["targetIds"])
      let cause = try value["cause"].flatMap { $0 == .null ? nil : try $0.status }
      if cause != nil { for id in ids { activeTargets[id] = nil } }
      try tell(.target(WatchTargetChange(.removed(cause), targets: ids)))
    case "watchEntity": try tellEntity(value)
    case "watchFilter": try tellFilter(value)
    case "watchSnapshot":
      let ids = try targets(value["targetIds"])
      let token = Array((value["resumeToken"]?.text ?? "").utf8)
      let time = try value["version"]?.version
      try tell(
        .target(
          WatchTargetChange(
            .none, targets: ids, resumeToken: token, readTime: ids.isEmpty ? time : nil)))
    case "watchStreamClose":
      activeTargets = [:]
      holdsWatchStream = value["runBackoffTimer"] != .bool(true)
      try perform(replica.watchStreamClosed())
    default: return false
    }
    return true
  }

  private func targets(_ value: JSONValue?) throws -> [Int32] {
    try value?.list.map { Int32(try $0.number) } ?? []
  }

  private mutating func tell(_ change: WatchChange) throws {
    try perform(replica.applyServer(change))
  }

  private mutating func tellEntity(_ value: JSONValue) throws {
    let belonging = try targets(value["targets"])
    let removed = try targets(value["removedTargets"])
    if let key = value["key"]?.text {
      return try tell(.removed(DocumentKey(key), readTime: nil, removed: removed))
    }
    let documents = try value["docs"]?.list ?? value["doc"].map { [$0] } ?? []
    for recorded in documents {
      let document = try Document(recorded: recorded)
      if document.isFound {
        try tell(.changed(document, targets: belonging, removed: removed))
      } else {
        try tell(
          .deleted(document.key, readTime: document.version, removed: belonging + removed))
      }
    }
  }

  private mutating func tellFilter(_ value: JSONValue) throws {
    guard let target = try targets(value["targetIds"]).first else {
      throw SpecError("a filter names a target")
    }
    var filter: BloomFilter?
    if let bloom = value["bloomFilter"], bloom != .null {
      let text = bloom["bits"]?["bitmap"]?.text ?? ""
      // The recordings' clients read the plain alphabet only, and ignore a filter of other text.
      let isPlain = !text.utf8.contains { "-_".utf8.contains($0) }
      if isPlain, let bitmap = Base64.decode(text) {
        filter = BloomFilter(
          bitmap: bitmap, padding: Int(try bloom["bits"]?["padding"]?.number ?? 0),
          hashCount: Int(try bloom["hashCount"]?.number ?? 0))
      }
    }
    try tell(
      .filter(target: target, count: try value["keys"]?.list.count ?? 0, unchanged: filter))
  }
}
