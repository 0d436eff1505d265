import TernCommitLog
import TernLedger
import TernStorage

@testable import TernSharedLedger

/// The truth about a ``ClusterWorld``, by the log alone, and what writers were told.
struct WorldModel {
  private struct Writer {
    /// The last sequence with a known outcome.
    var acknowledged: UInt64 = 0
    /// The last sequence that was sent.
    var sent: UInt64 = 0
    /// By sequence.
    var versions: [UInt64: Version] = [:]
    var sizes: [UInt64: Int] = [:]
  }

  /// The state that the log leads to at one position.
  private struct Place {
    var id: UInt128 = 0
    var version: Version = 0
    var contents: [[UInt8]: [UInt8]] = [:]
    /// By writer, the last sequence that was committed.
    var sequences: [Int: UInt64] = [:]
  }

  var violations: [String] = []
  var summary = WorldSummary()
  /// Writers with a write under way.
  var busy: Set<Int> = []
  /// The newest version that was acknowledged.
  private(set) var newest: Version = 0
  private(set) var position: UInt64 = 0
  private(set) var version: Version = 0
  private var writers: [Int: Writer] = [:]
  private var contents: [[UInt8]: [UInt8]] = [:]
  private var sequences: [Int: UInt64] = [:]
  private var places = [Place()]
  private var seen: [CommitID: Version] = [:]
  private var leaders: [LogEpoch: String] = [:]
  private var epoch = LogEpoch.none
  private var assembler = BatchAssembler()

  private static func rows(of contents: [[UInt8]: [UInt8]]) -> [Row] {
    contents.map { Row(key: $0.key, value: $0.value) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  // MARK: - Writers

  func pending(of writer: Int) -> Int {
    guard let state = writers[writer] else { return 0 }
    return Int(state.sent - state.acknowledged)
  }

  /// The write that many behind the first one without an answer.
  mutating func write(of writer: Int, behind: UInt64, size: Int) -> Commit {
    var state = writers[writer, default: Writer()]
    let sequence = state.acknowledged + 1 + behind
    state.sent = max(state.sent, sequence)
    // A write that is sent again is the same write.
    let size = state.sizes[sequence] ?? size
    state.sizes[sequence] = size
    writers[writer] = state
    let value = [UInt8](repeating: UInt8(truncatingIfNeeded: sequence), count: size)
    let claim = IdempotencyKey(
      id: CommitID(stream: UInt128(writer + 1), sequence: sequence),
      payloadHash: sequence &* 31, acknowledged: state.acknowledged > 3 ? state.acknowledged - 3 : 0
    )
    var mutations: [Mutation] = [
      .put(key: Array("last/\(writer)".utf8), value: value),
      .put(key: Array("all/\(writer)/\(sequence)".utf8), value: [1]),
    ]
    if sequence % 7 == 0 {
      mutations.insert(.remove(KeyRange(prefix: Array("all/\(writer)/".utf8))), at: 0)
    }
    return Commit(
      claim: claim, mutations: mutations, record: Array("\(writer)/\(sequence)".utf8),
      outcome: [UInt8(truncatingIfNeeded: sequence)])
  }

  mutating func receive(_ results: [CommitResult], for commits: [Commit], by writer: Int) {
    for (result, commit) in zip(results, commits) {
      guard let claim = commit.claim else { continue }
      let sequence = claim.id.sequence
      switch result {
      case .committed(let version), .duplicate(let version, _):
        if let known = writers[writer]?.versions[sequence], known != version {
          violations.append("\(claim.id) was answered with \(known) and with \(version)")
        }
        if case .duplicate(_, let outcome) = result, outcome != commit.outcome {
          violations.append("\(claim.id) was answered with another outcome")
        }
        if seen[claim.id] != version {
          let found = seen[claim.id].map(String.init) ?? "none"
          violations.append("\(claim.id) is acknowledged as \(version), the log has \(found)")
        }
        writers[writer]?.versions[sequence] = version
        let last = writers[writer]?.acknowledged ?? 0
        writers[writer]?.acknowledged = max(last, sequence)
        newest = max(newest, version)
        summary.acknowledged += 1
      default: violations.append("\(claim.id) was answered with \(result)")
      }
    }
  }

  // MARK: - The log

  /// The log gave a node the lease, or confirmed an append to it.
  mutating func noteAppend(in epoch: LogEpoch, by node: String) {
    if let other = leaders[epoch], other != node {
      violations.append("\(other) and \(node) both lead in epoch \(epoch)")
    }
    leaders[epoch] = node
  }

  /// Applies batches of the log.
  mutating func add(_ batches: [LogBatch]) {
    for batch in batches {
      defer {
        places.append(
          Place(id: batch.id, version: version, contents: contents, sequences: sequences))
      }
      position = batch.position.number
      summary.batches += 1
      if batch.epoch < epoch { violations.append("epoch \(batch.epoch) appends after \(epoch)") }
      epoch = batch.epoch
      let whole: ReplicatedBatch?
      do throws(LedgerError) { whole = try assembler.add(batch) } catch {
        violations.append("\(error)")
        continue
      }
      guard let whole else { continue }
      if whole.versionBefore != version {
        violations.append("batch \(position) follows on \(whole.versionBefore), not on \(version)")
      }
      for commit in whole.commits { apply(commit) }
    }
  }

  private mutating func apply(_ commit: Commit) {
    version += 1
    if let id = commit.claim?.id {
      if let other = seen[id] { violations.append("\(id) is committed as \(other) and \(version)") }
      seen[id] = version
      sequences[Int(id.stream) - 1] = id.sequence
    }
    for mutation in commit.mutations {
      switch mutation {
      case .put(let key, let value): contents[key] = value
      case .remove(let range): contents = contents.filter { !range.contains($0.key.span) }
      }
    }
  }

  /// Compares a copy with the log: its rows are those of its place, and it knows the writers'
  /// last writes.
  mutating func compare(_ copy: EmbeddedLedger, of node: String, at mark: ReplicaMark) {
    guard mark.position < UInt64(places.count) else {
      return violations.append("\(node) has position \(mark.position), the log \(position)")
    }
    let place = places[Int(mark.position)]
    if let id = mark.id, id != place.id {
      violations.append("\(node) has another batch at position \(mark.position)")
    }
    do throws(LedgerError) {
      let (version, rows, known) = try copy.read { snapshot throws(StorageError) in
        let rows = try snapshot.scan(KeyRange(from: [LedgerLimits.firstOwnByte]))
        var known: [Int: UInt64] = [:]
        for writer in place.sequences.keys.sorted() {
          known[writer] = try snapshot.stream(UInt128(writer + 1))?.last
        }
        return (snapshot.version, rows, known)
      }
      if version != place.version {
        violations.append("\(node) is at \(version), the log there at \(place.version)")
      }
      if rows != Self.rows(of: place.contents) {
        violations.append("\(node) has other rows than the log at position \(mark.position)")
      }
      for (writer, sequence) in place.sequences.sorted(by: { $0.key < $1.key })
      where known[writer] ?? 0 < sequence {
        violations.append("\(node) does not know write \(sequence) of writer \(writer)")
      }
    } catch {
      violations.append("\(node) cannot be read: \(error)")
    }
  }
}

/// The counts of a run.
struct WorldSummary: Equatable, Sendable {
  var acknowledged = 0
  var failures = 0
  var terms = 0
  var reads = 0
  var restarts = 0
  var batches = 0
  var comparisons = 0
  /// The leaders that stepped down because an operator asked.
  var handOvers = 0
}
