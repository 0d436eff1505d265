import TernLedger

/// The nodes that lead the other shards, as the log told last. Lives and is used on the server's
/// executor only.
///
/// The log is asked about a shard at most once at a time, and not again before a pause: a
/// client that opens many links costs it no more.
final class ShardLeaders {
  /// An action with the address of a leader, or with the reason why none is known.
  typealias Use = @Sendable (isolated TernServer, Result<String, Missing>) -> Void

  /// The reason why the leader of a shard is not known.
  struct Missing: Error, Hashable, Sendable {
    let reason: String
  }

  private struct Known {
    let leader: Result<String, Missing>
    /// The uptime, in milliseconds, until which it counts.
    let end: Int64
  }

  /// The time, in milliseconds, for which a leader is taken to lead.
  static let validity: Int64 = 1_000
  /// The pause before the log is asked again for a leader that it did not know.
  static let pause: Int64 = 100

  private let directory: any ShardDirectory
  private var known: [UInt32: Known] = [:]
  private var waiting: [UInt32: [Use]] = [:]
  private var isEnded = false

  init(_ directory: any ShardDirectory) { self.directory = directory }

  /// Calls `use` with the leader of a shard: before this returns when it is known, later else.
  func find(_ shard: UInt32, at server: isolated TernServer, _ use: @escaping Use) {
    if isEnded { return use(server, .failure(Self.stopped)) }
    if let known = known[shard], server.uptime() < known.end { return use(server, known.leader) }
    waiting[shard, default: []].append(use)
    if waiting[shard]?.count == 1 { Task { await Self.look(shard, at: server) } }
  }

  /// Answers what waits for a leader: the server stops.
  func end(at server: isolated TernServer) {
    isEnded = true
    for (_, uses) in exchange(&waiting, with: [:]).sorted(by: { $0.key < $1.key }) {
      for use in uses { use(server, .failure(Self.stopped)) }
    }
  }

  private static let stopped = Missing(reason: "the server stops")

  /// Notes that a leader could not be reached, or has ended a link: the log is asked again soon.
  func doubt(_ address: String, of shard: UInt32, at uptime: Int64) {
    guard let last = known[shard], last.leader == .success(address) else { return }
    known[shard] = Known(leader: last.leader, end: min(last.end, uptime + Self.pause))
  }

  private static func look(_ shard: UInt32, at server: isolated TernServer) async {
    guard let leaders = server.part.shards?.leaders else { return }
    let leader: Result<String, Missing>
    do throws(LedgerError) {
      let address = try await leaders.directory.leader(of: shard)
      leader = address.map { .success($0) } ?? .failure(Missing(reason: "no node leads"))
    } catch {
      // Its own words may name the database that holds the log.
      leader = .failure(Missing(reason: "the shared log cannot be read"))
    }
    let isFound = if case .success = leader { true } else { false }
    let end = server.uptime() + (isFound ? validity : pause)
    leaders.known[shard] = Known(leader: leader, end: end)
    for use in leaders.waiting.removeValue(forKey: shard) ?? [] { use(server, leader) }
  }
}
