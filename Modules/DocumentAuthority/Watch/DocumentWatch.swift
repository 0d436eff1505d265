package import TernCore
package import TernQuery
package import TernStorage

/// The messages of one commit to all subscribers of a group.
package struct WatchDelivery {
  /// The watched group, with its current subscribers.
  package let group: WatchGroup
  /// The messages, their targets being ``WatchChange/anyTarget``: to be encoded once, and
  /// addressed to each subscriber.
  package let changes: [WatchChange]

  /// The recipients.
  package var subscribers: [WatchSubscriber] { group.subscribers }

  /// `true` if it ends the watch: the subscribers are removed from the group.
  package var isLast: Bool {
    changes.contains { if case .target = $0 { true } else { false } }
  }
}

/// The watched targets of all streams of one database.
///
/// A committed change is matched at most once with each distinct query, independent of the number
/// of subscribers, and only with queries that it may affect.
///
/// It belongs to one open database and is used on the server's executor alone. It decides what is
/// told and sends nothing: messages are returned to the caller. The groups in ``index`` are those
/// in ``groups``, and each has at least one subscriber; ``streams`` names every subscriber once.
package final class DocumentWatch {
  let authority: DocumentAuthority
  let limits: DocumentWatchLimits
  /// The groups by canonical subject.
  private var groups: [WatchTarget.Subject: WatchGroup] = [:]
  /// Finds the groups that a change may concern.
  private var index = WatchIndex()
  /// The groups of each stream, by the client's target ids. A stream without targets is missing.
  private var streams: [Int: [Int32: WatchGroup]] = [:]
  /// The serial of the newest group.
  private var nextSerial = 0
  /// The last initial snapshots, reused for the next subscriber.
  var told = LastSnapshotCache()
  /// The groups whose windows keep more than their subscribers are charged for.
  private var grown: [WatchGroup] = []
  /// The number of times a changed document was matched with a query; work on its fields and on
  /// windows counts as well, by what it takes.
  package private(set) var matchCount = 0
  /// So many fields or shown documents take about as long as a match.
  private static let visitsPerMatch = 16

  /// Creates a watch without subscribers.
  package init(_ authority: DocumentAuthority, limits: DocumentWatchLimits = .init()) {
    self.authority = authority
    self.limits = limits
  }

  /// The number of distinct things that are watched.
  package var groupCount: Int { groups.count }

  /// The number of targets of a stream.
  package func targetCount(of stream: Int) -> Int { streams[stream]?.count ?? 0 }

  /// The targets of a stream, by the client's names.
  package func targets(of stream: Int) -> [Int32: WatchTarget.Subject] {
    streams[stream]?.mapValues(\.subject) ?? [:]
  }

  /// The subject of a target; `nil` when there is no such target.
  package func subject(of target: Int32, on stream: Int) -> WatchTarget.Subject? {
    streams[stream]?[target]?.subject
  }

  /// Works out what a commit means to those who watch.
  ///
  /// - Parameters:
  ///   - decision: The commit, already applied.
  ///   - reader: The state after it.
  /// - Returns: One delivery for each distinct query that is concerned, in the order in which
  ///   they were first asked for. A ``snapshot(at:in:)`` follows for every stream that is told.
  ///   What cannot be followed because a record is damaged is over: those who watch it are told
  ///   DATA_LOSS, and all others what the commit means to them.
  /// - Complexity: O(changes × candidates), and the reading of windows that have lost too many
  ///   documents.
  package func commit(
    _ decision: DocumentDecision, in reader: any StoreReader
  ) throws(StorageError) -> [WatchDelivery] {
    if decision.changes.isEmpty { return [] }
    // Snapshots of the state before would lack this commit.
    told.removeAll()
    var concerned: [Int: (group: WatchGroup, changes: [DocumentCommitChange])] = [:]
    for change in decision.changes {
      var visits = 0
      let candidates = index.candidates(for: change, visits: &visits)
      matchCount += visits / Self.visitsPerMatch
      for group in candidates {
        matchCount += 1
        concerned[group.serial, default: (group, [])].changes.append(change)
      }
    }
    let reading = DocumentReading(authority.rows, reader)
    var deliveries: [WatchDelivery] = []
    for (_, (group, changes)) in concerned.sorted(by: { $0.key < $1.key }) {
      // One damaged record must not keep the other groups from the commit.
      do throws(StorageError) {
        let messages = try follow(changes, at: decision.version, group, reading)
        if !messages.isEmpty { deliveries.append(WatchDelivery(group: group, changes: messages)) }
      } catch {
        deliveries.append(end(group, try DocumentStatus(damage: error)))
      }
    }
    return deliveries
  }

  /// Returns the groups whose windows keep more documents than their subscribers are charged for,
  /// each once after it has grown.
  ///
  /// The caller charges the subscribers for ``WatchGroup/heldCount`` and sets
  /// ``WatchGroup/chargedCount``.
  package func takeGrown() -> [WatchGroup] { exchange(&grown, with: []) }

  /// Works out the messages of a group.
  private func follow(
    _ changes: [DocumentCommitChange], at version: DocumentVersion, _ group: WatchGroup,
    _ reading: DocumentReading
  ) throws(StorageError) -> [WatchChange] {
    guard var window = group.window else {
      return changes.compactMap { group.follow($0, at: version) }
    }
    // Taken out, so that it is changed in place.
    group.window = nil
    let before = window.comparedCount
    let messages = try window.update(changes, at: version, reading)
    matchCount += (window.comparedCount - before) / Self.visitsPerMatch
    group.window = window
    if group.heldCount > group.chargedCount { grown.append(group) }
    return messages
  }

  /// Ends a group, which keeps its subscribers for the last delivery.
  ///
  /// The caller sends the last delivery to the subscribers that the group still lists.
  private func end(_ group: WatchGroup, _ status: DocumentStatus) -> WatchDelivery {
    for subscriber in group.subscribers {
      streams[subscriber.stream]?[subscriber.target] = nil
      if streams[subscriber.stream]?.isEmpty == true { streams[subscriber.stream] = nil }
    }
    groups[group.subject] = nil
    index.remove(group)
    let change = WatchTargetChange(.removed(status), targets: [WatchChange.anyTarget])
    return WatchDelivery(group: group, changes: [.target(change)])
  }

  /// The message that ends what was told: all targets of a stream are consistent now.
  ///
  /// It has no targets and so is about all of the stream. Clients raise their snapshot by it and
  /// store the token.
  ///
  /// - Parameter time: As of when, by the ``DocumentClock``. Source: documents reference,
  ///   section 6.4.
  package func snapshot(
    at time: DocumentVersion, in reader: any StoreReader
  ) throws(StorageError) -> WatchChange {
    let state = try DocumentReading(authority.rows, reader).state()
    return .target(
      WatchTargetChange(
        .none, resumeToken: WatchToken(state).encode(), readTime: max(time, state.last)))
  }

  /// Ends a target.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  package func unlisten(_ target: Int32, on stream: Int) -> Bool {
    guard let group = streams[stream]?.removeValue(forKey: target) else { return false }
    if streams[stream]?.isEmpty == true { streams[stream] = nil }
    leave(group, WatchSubscriber(stream: stream, target: target))
    return true
  }

  /// Ends all targets of a stream.
  ///
  /// It costs O(targets), and nothing is sent.
  package func closeStream(_ stream: Int) {
    for (target, group) in streams.removeValue(forKey: stream) ?? [:] {
      leave(group, WatchSubscriber(stream: stream, target: target))
    }
  }

  /// Takes a subscriber out of its group. A group without subscribers is dropped, its window and
  /// its stored snapshots included.
  private func leave(_ group: WatchGroup, _ subscriber: WatchSubscriber) {
    group.remove(subscriber)
    if group.isEmpty {
      groups[group.subject] = nil
      index.remove(group)
      told.removeAll(of: group.serial)
    }
  }
}

extension DocumentWatch {
  /// The group of a subject; a new one is not yet among those that are told.
  ///
  /// Reading a first snapshot may fail; a group is kept only once it has a subscriber.
  func group(of subject: WatchTarget.Subject) -> WatchGroup {
    let subject = subject.canonical
    if let group = groups[subject] { return group }
    nextSerial += 1
    return WatchGroup(subject, serial: nextSerial)
  }

  /// Takes in a subscriber.
  func enter(_ group: WatchGroup, _ subscriber: WatchSubscriber) {
    if groups[group.subject] == nil {
      groups[group.subject] = group
      index.add(group)
    }
    group.add(subscriber)
    streams[subscriber.stream, default: [:]][subscriber.target] = group
  }

  /// Returns the reason to reject a target; `nil` when it can be added.
  ///
  /// - Returns: INVALID_ARGUMENT for an id that is in use or not above zero and for a target beyond
  ///   the limits of one target; RESOURCE_EXHAUSTED for one target too many.
  package func refusal(of target: WatchTarget, on stream: Int) -> DocumentStatus? {
    let known = streams[stream] ?? [:]
    if target.id <= 0 || known[target.id] != nil {
      return DocumentStatus(.invalidArgument, "Target id \(target.id) cannot be added.")
    }
    if known.count >= limits.targetsPerStream {
      return DocumentStatus(
        .resourceExhausted, "A stream has at most \(limits.targetsPerStream) targets.")
    }
    if case .query(let query) = target.subject, query.offset > limits.offset {
      return DocumentStatus(
        .invalidArgument, "The offset of a watched query is at most \(limits.offset).")
    }
    if case .documents(let keys) = target.subject, keys.count > limits.documentsPerTarget {
      return DocumentStatus(
        .invalidArgument, "A target names at most \(limits.documentsPerTarget) documents.")
    }
    return nil
  }
}

/// Limits for the targets of one server.
///
/// They bound what one stream can make the server keep and read.
package struct DocumentWatchLimits: Sendable {
  /// The most targets of one stream.
  package var targetsPerStream = 1_000
  /// The most documents of one target that names them.
  package var documentsPerTarget = 1_000
  /// The most documents that a watched query may skip: they are kept as those that it shows.
  ///
  /// A window keeps the keys of skipped documents, because each may come into view.
  package var offset = 10_000
  /// The most bytes of documents that one target is told when it is added: 64 MiB.
  package var openingBytes = 64 << 20

  /// The defaults.
  package init() {}
}
