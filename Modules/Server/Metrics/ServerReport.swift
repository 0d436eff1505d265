import TernDocumentAuthority
import TernLedger
import TernTransport

/// The readiness of a server.
package struct ServerReadiness: Sendable, Equatable {
  /// `serving`, `following`, `standby`, `draining`, `closed` or `stopped`.
  package var state: String
  /// The reasons why clients had better go elsewhere; empty when there is none. They name no
  /// address, and may be told to every client.
  package var reasons: [String]
  /// The reasons for operators: of a node that stands by they name the leader, or the error of the
  /// shared log.
  package var details: [String]
  /// The reason why a node that leads does not get on with its duties besides commits; clients need
  /// not go elsewhere.
  package var trouble: String?

  /// A batch that takes longer than this means that the server is behind.
  static let behindMilliseconds: Int64 = 5_000

  /// Of several states, the last one counts.
  ///
  /// - Parameters:
  ///   - busyTime: The time in milliseconds since inputs wait, or since the latest batch.
  ///   - standby: The part of a node that serves no clients.
  ///   - following: The part of a node that serves them from its copy.
  ///   - unreached: The milliseconds for which no link to the leader has worked; `nil` while one
  ///     does.
  init(
    _ space: DiskSpace, _ busyTime: Int64, isClosed: Bool, isDraining: Bool, isStopped: Bool,
    standby: LedgerStanding? = nil, following: LedgerStanding? = nil,
    unreached: Int64? = nil
  ) {
    (state, reasons) = ("serving", [])
    if space != .ample { reasons.append("disk full") }
    if busyTime > Self.behindMilliseconds { reasons.append("behind") }
    if let standby {
      let leader = standby.leader == nil ? "no other node leads" : "another node leads"
      (state, reasons) = ("standby", ["the node stands by; \(leader)"])
    }
    if let following {
      state = "following"
      let age = following.copyAge ?? 0
      if age > Self.behindMilliseconds { reasons.append("the copy is \(age) ms old") }
      if let error = following.clockError { reasons.append("the clock is \(abs(error)) ms off") }
      if let time = unreached, following.leader != nil {
        reasons.append("the node that leads was not reached for \(time) ms")
      }
    }
    if isClosed { (state, reasons) = ("closed", ["closed"]) }
    if isDraining { (state, reasons) = ("draining", ["draining"]) }
    if isStopped { (state, reasons) = ("stopped", ["stopped"]) }
    let detail = state == "standby" ? standby : nil
    details = detail.map { ["\($0.reason); \($0.lag) batches behind"] } ?? reasons
  }
}

/// Reads the parts of a server for its operator. On the server's executor.
struct ServerReport {
  let server: ServerParts
  let outside: Outside

  /// The parts that are read.
  struct ServerParts {
    let batches: BatchRunner
    let links: LinkTable
    let memory: MemoryGuard
    let exports: ExportTable
    let budget: MemoryBudget
    let metrics: ServerMetrics
    let surroundings: ServerSurroundings
    let readiness: ServerReadiness
    let uptime: Int64
    let now: Int64
    /// The inputs and the direct requests that wait.
    let waiting: (inputs: Int, requests: Int)
    /// The caches that are there, by name.
    let caches: [(name: String, hits: Int, misses: Int)]
  }

  var limits: ServerLimits { server.batches.parts.options.limits }

  /// The number of sessions by the name of the tree's database that they have open.
  var sessionsByTree: [String: Int] {
    var counts: [String: Int] = [:]
    for namespace in server.batches.machine.tree.namespaces.values {
      counts[namespace.name] = namespace.sessionCount
    }
    return counts
  }

  /// The sessions by what they speak, with their listens.
  var sessions: Sessions {
    var sessions = Sessions()
    for session in server.batches.machine.sessions.all {
      if let link = session.documents {
        sessions.documents += 1
        sessions.documentListens += link.targetCount
      } else if session.namespace != nil {
        sessions.tree += 1
        sessions.treeListens += session.listens.count
      } else {
        sessions.fresh += 1
      }
    }
    for namespace in server.batches.machine.tree.namespaces.values {
      sessions.treeQueries += namespace.listens.groupCount
    }
    for database in server.batches.machine.documents.registry.used {
      sessions.documentQueries += database.watch.groupCount
    }
    return sessions
  }

  struct Sessions {
    var tree = 0
    var documents = 0
    var fresh = 0
    var treeListens = 0
    var documentListens = 0
    var treeQueries = 0
    var documentQueries = 0
  }

  /// The queues of the server: name, length, limit.
  var queues: [(name: String, length: Int, limit: Int?)] {
    [
      ("inbox", server.waiting.inputs, nil),
      ("direct", server.waiting.requests, limits.directRequests),
      ("exports", server.exports.count, limits.exports),
      ("slowed", server.memory.slowedCount, nil),
      ("unsent", server.memory.unsentCount, nil),
      ("held", server.links.held.count, nil),
    ]
  }

  /// Named once: a name made of a case costs more than the figure.
  private static let memoryUseNames = MemoryBudget.Use.allCases.map { (use: $0, name: "\($0)") }

  /// The bytes held for clients, by their purpose.
  var memoryUses: [(name: String, bytes: Int)] {
    Self.memoryUseNames.map { ($0.name, server.budget.usedBytes(for: $0.use)) }
  }
}
