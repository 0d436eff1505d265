import TernClient
import TernCore
import TernDocumentAuthority
import TernLedger
import TernSync
import TernTreeAuthority

/// The expected state of the tree: a plain replay of the server's log, and the origin of every
/// write.
struct ServerModel {
  /// The tree at each version; they share what they have in common.
  private(set) var states: [TreeNode] = [.empty]
  /// The version of each numbered write in the log.
  private(set) var applied: [CommitID: Version] = [:]
  /// The last numbered write of each stream, and the world's time when it was found in the log.
  private(set) var writers: [UInt128: (sequence: UInt64, time: Int64)] = [:]
  /// The writes that clients made durable, under their numbers.
  private(set) var durable: [CommitID: DurableWrite] = [:]
  /// The streams of the clients' queues; a queue that is purged begins another one.
  private var streams: Set<UInt128> = []
  /// The names of the writes in rows, by queue.
  private var rows: [QueueName: [UInt64: CommitID]] = [:]
  /// The declared transactions that wait in queues, by stream and row.
  private var waitingVotes: [UInt128: Set<UInt64>] = [:]
  var counters: [String: CounterBounds] = [:]
  var markers: [Marker] = []
  /// The rows of the tree begin with this.
  private(set) var prefix: [UInt8]?

  /// A write as its client made it durable.
  struct DurableWrite {
    let write: TreeWrite
    let user: QueueUser
    var isSettled = false
    /// `true` if its client gave it up: it may or may not be in the log.
    var isPurged = false
  }

  /// The bounds of a counter.
  struct CounterBounds {
    var least: Int64 = 0
    var most: Int64 = 0
  }

  /// A deferred write that adds one to a place of its own.
  struct Marker {
    let client: Int
    /// The links its request went over, and the one it was confirmed on.
    var sentOver: [Int] = []
    var confirmedOn: Int?
    var isCancelled = false
    /// The links requests to take it back went over.
    var cancelSentOver: [Int] = []
  }

  var version: Version { Version(states.count - 1) }
  var truth: TreeNode { states[states.count - 1] }
}

extension ServerModel {
  /// The version of the write in a row of a queue; `nil` when the log does not have it.
  func version(ofRow row: UInt64, of queue: QueueName) -> Version? {
    rows[queue]?[row].flatMap { applied[$0] }
  }
}

// MARK: - Following the log

extension ServerModel {
  /// Takes in what was committed since the last time.
  ///
  /// - Parameters:
  ///   - now: The world's time.
  ///   - links: Over which link each write of this batch came.
  /// - Returns: What is wrong with it.
  mutating func follow(
    _ entries: [LogEntry], at now: Int64, from links: [CommitID: SimulatedLink]
  ) -> [String] {
    var wrong: [String] = []
    for entry in entries {
      if entry.version != version + 1 {
        wrong.append("the log goes from \(version) to \(entry.version)")
      }
      var state = truth
      if let record = TreeRecord(entry.record) {
        prefix = record.prefix
        if let id = entry.id {
          wrong += check(id, record, links[id])
        } else if !record.assignments.allSatisfy({ WorkloadSpace.isWrittenWithoutNumber($0.path) })
        {
          wrong.append("version \(entry.version) writes \(record.assignments) without a number")
        }
        for assignment in record.assignments {
          state.setNode(assignment.node, at: assignment.path)
        }
      } else if !entry.record.isEmpty, DocumentRecord(entry.record) == nil {
        wrong.append("version \(entry.version) has a record that cannot be read")
      }
      states.append(state)
      if let id = entry.id {
        if let earlier = applied[id] {
          wrong.append("\(id) was applied as \(earlier) and again as \(entry.version)")
        }
        applied[id] = entry.version
        writers[id.stream] = (max(id.sequence, writers[id.stream]?.sequence ?? 0), now)
      }
    }
    return wrong
  }

  /// Checks that a write of the log is the one its client asked for, computed on what was there.
  private func check(
    _ id: CommitID, _ record: TreeRecord, _ link: SimulatedLink?
  ) -> [String] {
    var wrong: [String] = []
    if let link { wrong += missingMarkers(before: link) }
    guard let known = durable[id] else {
      return streams.contains(id.stream)
        ? wrong + ["\(id) was not durable when it was sent"] : wrong
    }
    if !WorkloadRules.allows(known.write.assignments, by: known.user) {
      wrong.append("\(id) was not allowed, and applied")
    }
    let asked = known.write.assignments
    guard asked.map(\.path) == record.assignments.map(\.path) else {
      return wrong + ["\(id) wrote \(record.assignments), asked was \(asked)"]
    }
    for (asked, made) in zip(asked, record.assignments) {
      let existing = truth.node(at: asked.path)
      // The time of a commit is not the model's to know: nothing but counters is resolved here.
      let expected = asked.node.resolvingServerValues(existing: existing, now: 0)
      if !asked.node.holdsTime, expected != made.node {
        wrong.append("\(id) made \(made.node) at \(made.path), expected \(expected)")
      }
    }
    return wrong
  }

  /// Returns the onDisconnect markers of this client's earlier sessions that have not fired.
  private func missingMarkers(before link: SimulatedLink) -> [String] {
    markers.indices.compactMap { index in
      let marker = markers[index]
      guard marker.client == (link.process as? ClientRun)?.index,
        let confirmed = marker.confirmedOn,
        confirmed < link.id, marker.cancelSentOver.isEmpty, count(ofMarker: index) == 0
      else { return nil }
      return "marker \(index) of c\(marker.client) has not fired before the next session writes"
    }.prefix(1).map { $0 }
  }

  /// Returns the number of times that a marker has fired.
  func count(ofMarker index: Int) -> Int64 {
    truth.node(at: WorkloadSpace.path("gone", "m\(index)")).integer
  }
}

// MARK: - Following the queues

extension ServerModel {
  /// Takes in what a queue made durable, or what its client says has become of it.
  ///
  /// - Returns: What is wrong with it.
  mutating func queued(
    _ change: QueueChange, _ result: QueueResult, of queue: QueueName, _ stream: UInt128
  ) -> String? {
    streams.insert(stream)
    switch (change, result) {
    case (.append(let payload), .stored(let row, let sequence)):
      guard case .write(let write) = WriteRecord(decoding: payload) else { return "no write" }
      return added(write, row, of: queue, CommitID(stream: stream, sequence: sequence))
    case (.keep(let payload), .stored(let row, _)):
      if case .transaction = WriteRecord(decoding: payload) {
        waitingVotes[stream, default: []].insert(row)
        counters["votes", default: .init()].least += 1
      }
      return nil
    case (.retry(let old, let payload), .stored(let row, let sequence)):
      var write = rows[queue]?[old].flatMap { durable[$0]?.write }
      if let payload, case .write(let edited) = WriteRecord(decoding: payload) { write = edited }
      guard let write else { return "row \(old) is retried and was never there" }
      return added(write, row, of: queue, CommitID(stream: stream, sequence: sequence))
    case (.settle(let row), .changed): return settled(row, queue, stream, isRejected: false)
    case (.reject(let row, _), .changed): return settled(row, queue, stream, isRejected: true)
    case (.purge, .purged):
      purged(stream)
      return nil
    default: return nil
    }
  }

  private mutating func added(
    _ write: TreeWrite, _ row: UInt64, of queue: QueueName, _ id: CommitID
  ) -> String? {
    if durable[id] != nil { return "\(id) names two writes" }
    durable[id] = DurableWrite(write: write, user: queue.user)
    rows[queue, default: [:]][row] = id
    return nil
  }

  private mutating func settled(
    _ row: UInt64, _ queue: QueueName, _ stream: UInt128, isRejected: Bool
  ) -> String? {
    waitingVotes[stream]?.remove(row)
    guard let id = rows[queue]?[row] else { return nil }
    durable[id]?.isSettled = true
    if isRejected == (applied[id] != nil) {
      return "write \(id.sequence) is taken for \(isRejected ? "refused" : "made"), and is not"
    }
    return nil
  }

  private mutating func purged(_ stream: UInt128) {
    for id in durable.keys where id.stream == stream && durable[id]?.isSettled == false {
      durable[id]?.isPurged = true
    }
    let votes = Int64(waitingVotes[stream]?.count ?? 0)
    counters["votes", default: .init()].least -= votes
    waitingVotes[stream] = nil
  }

  /// Compares what a queue holds after a start with what was durable.
  func restored(_ rows: [QueuedWrite], of stream: UInt128) -> [String] {
    let found = rows.compactMap { row -> UInt64? in
      if case .pending(let sequence) = row.state { sequence } else { nil }
    }
    let expected = durable.filter {
      $0.key.stream == stream && !$0.value.isSettled && !$0.value.isPurged
    }.keys.map(\.sequence).sorted()
    if found == expected { return [] }
    return ["the queue came back with \(found), durable were \(expected)"]
  }

  /// A transaction ended without a word: it may have counted or not.
  mutating func lost(_ counter: String) { counters[counter, default: .init()].most += 1 }
}

extension TreeNode {
  /// `true` if it contains a value that is the time of its commit.
  var holdsTime: Bool {
    if case .serverValue(.timestamp) = scalar { return true }
    if case .serverValue(.timestamp) = priority { return true }
    return children.contains { $0.node.holdsTime }
  }
}
