import TernCore
import TernLedger
import TernPresence
import TernQuery
import TernSecurity
import TernStorage
import TernTreeAuthority
import TernTreeRows
import TernTreeWire

/// Databases of trees: their requests, and what sessions leave for their end.
///
/// It dispatches requests, and owns the open databases and the onDisconnect operations. Reads are
/// decided by ``TreeListens`` and ``TreeGets``, writes by ``TreeWriter``.
struct TreeService {
  private let context: ServerContext
  /// The databases that sessions have open.
  ///
  /// A database is here while at least one session has it open. Its listens and its knowledge about
  /// paths go with the last session.
  private(set) var namespaces: [ExactText: Namespace] = [:]
  /// The hashes of large nodes, by database.
  ///
  /// Kept across requests without a session: a client that polls a large node with conditional
  /// requests would otherwise hash it each time.
  private(set) var hashes: [ExactText: NodeHashes] = [:]
  /// The writes that sessions leave for their end.
  var disconnects: DisconnectService

  /// The most databases whose hashes are kept while no session has them open.
  ///
  /// At the limit all of them are forgotten; they are a cache, and the next request fills it again.
  private static let hashedDatabases = 64

  init(_ context: ServerContext) {
    self.context = context
    disconnects = DisconnectService(limits: context.options.presence)
  }

  /// Takes up what sessions of the run before left for their end.
  ///
  /// Every session of the former run counts as ended at `uptime`, so its operations wait for the
  /// grace period in which its client may return.
  ///
  /// - Returns: These sessions, with the names of their clients.
  mutating func restore(
    from snapshot: borrowing LedgerSnapshot, uptime: Int64
  ) throws(StorageError) -> [(id: UInt128, origin: SessionOrigin)] {
    try disconnects.operations.restore(from: snapshot, now: uptime)
    return disconnects.operations.due(at: .max).compactMap { id in
      let owner = disconnects.operations.estate(of: id).flatMap { SessionOwner($0.owner) }
      return owner?.origin.map { (id, $0) }
    }
  }

  /// Opens a database for a session.
  mutating func open(_ name: String, for session: Session) {
    let namespace = namespaceOrTransient(name)
    namespaces[namespace.key] = namespace
    namespace.add(session)
    session.namespace = namespace
  }

  /// The open database of that name, else one for a single request.
  ///
  /// Takes constant time and reads nothing. A transient database has no listeners, and is dropped
  /// after the request.
  mutating func namespaceOrTransient(_ name: String) -> Namespace {
    let key = ExactText(name)
    if let namespace = namespaces[key] { return namespace }
    let known = hashes[key] ?? NodeHashes()
    if hashes.count >= Self.hashedDatabases { hashes.removeAll() }
    // Kept from request to request; there is no other one of this database as long as this is used.
    hashes[key] = known
    return Namespace(name, hashes: known)
  }

  /// Removes listens of a session that has ended, as many as the batch has steps for.
  ///
  /// A session may have very many listens. Ending all of them in one batch would keep other clients
  /// waiting, so each call removes what the remaining steps allow, and the caller puts the rest
  /// off.
  ///
  /// - Returns: Whether none is left.
  mutating func clear(_ session: Session, _ batch: inout ServerBatch) -> Bool {
    guard let namespace = session.namespace else { return true }
    session.endRead()
    namespace.underReview[session.slot] = nil
    let groups = session.listens.removeLast(max(0, batch.stepsLeft))
    batch.spend(groups.count)
    for group in groups {
      group.remove(session.slot)
      namespace.listens.removeIfEmpty(group)
    }
    if session.listens.count > 0 { return false }
    namespace.remove(session)
    if namespace.sessionCount == 0 { namespaces[namespace.key] = nil }
    session.namespace = nil
    return true
  }

  /// Goes on with the request of a read that was done beside the server's executor.
  ///
  /// - Parameter job: The read. One that is not the session's present read was cancelled meanwhile,
  ///   and is ignored.
  func finish(
    _ job: ReadJob, _ session: Session, _ admin: borrowing AdminService,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard let pending = session.read, pending.job === job else { return }
    session.read = nil
    // What is kept for it is needed until the end, and longer when it is read once more.
    defer { pending.end() }
    batch.charge(rows: job.rows, of: .slot(job.slot))
    let call = admin.call(pending.number, session, pending.namespace)
    switch pending.purpose {
    case .get(let read, let version):
      try TreeGets(context: context).finish(read, since: version, pending, call, &batch)
    case .listen(let listen, _):
      try TreeListens(context: context).finish(listen, pending, call, &batch)
    }
  }

  /// Answers a request of a session.
  mutating func answer(
    _ request: TreeRequest, _ call: TreeCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if context.follows, request.isForLeader {
      return batch.respond(.init(.unavailable, detail: RefusalText.follows), to: call)
    }
    let listens = TreeListens(context: context)
    let writer = TreeWriter(access: call.access)
    switch request {
    // Reading for a client that is gone would take the time of those that are there.
    case .listen where call.session.isUnreachable, .get where call.session.isUnreachable: break
    case .listen(let listen): try listens.begin(listen, call, &batch)
    case .unlisten(let path, let query, _): listens.unlisten(path, query, call, &batch)
    case .get(let path, let query):
      try TreeGets(context: context).begin(path, query, call, &batch)
    case .put(let path, let node, let hash, let mark):
      try writer.write(.set(path, node), expectedHash: hash, mark, call, &batch)
    case .merge(let path, let merge, let mark):
      try writer.write(.merge(path, merge), expectedHash: nil, mark, call, &batch)
    case .outcomes(let stream, let first, let last):
      try writer.tellOutcomes(stream ?? call.session.stream, first, last, call, &batch)
    case .onDisconnectSet(let path, let node):
      try disconnects.leave(.set(path, node), request, call, &batch)
    case .onDisconnectMerge(let path, let merge):
      try disconnects.leave(.merge(path, merge), request, call, &batch)
    case .onDisconnectCancel(let path): try disconnects.takeBack(path, request, call, &batch)
    case .appCheck, .stats: batch.respond(.init(.ok), to: call)
    // They concern the session, which is not this service's.
    case .auth, .unauth: break
    case .unknown(let action):
      batch.respond(.init(.failed, detail: "Unknown action: \(action)"), to: call)
    }
  }

  /// Lets happen what an ended session left, in one commit that also forgets it; on a full disk as
  /// soon as there is room.
  ///
  /// - Parameters:
  ///   - id: The session that has ended.
  /// - Throws: Storage errors that are not about corrupt rows.
  mutating func fire(
    _ id: UInt128, _ admin: borrowing AdminService, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard let (estate, range) = disconnects.end(id, batch) else { return }
    guard let owner = SessionOwner(estate.owner) else {
      return batch.add(Commit(mutations: [.remove(range)], record: []))
    }
    let namespace = namespaceOrTransient(owner.requester.namespace)
    // Set by tests only: they check that the simulation notices operations that fire twice.
    let keeps = context.options.plantedFault == .keepsFiredOperations
    var mutations: [Mutation] = keeps ? [] : [.remove(range)]
    // Later operations may lie at, above or below earlier ones of other users; what all of them
    // together have changed is one commit and one push.
    var changed = DisconnectTree()
    for (owner, entry) in DeferredOperations(estate).assignments {
      // What is no longer allowed is dropped without a word: its session has ended. So is what
      // meets damage, and what a user left whose credential was revoked; the rest still happens.
      if admin.credentials.isRevoked(owner, batch) { continue }
      let write = TreeWrite.set(entry.path, entry.node)
      do throws(StorageError) {
        let reader = batch.reader
        let resolved = try namespace.authority.resolve(
          write, now: batch.now, in: Snapshot(reader))
        let access = admin.access(to: namespace, as: owner.requester)
        if try access.writeRefusal(of: resolved.assignments, batch) != nil { continue }
        mutations += try namespace.authority.apply(
          resolved, to: batch.changes, knowing: namespace.places)
        changed.leave(resolved)
      } catch {
        if error.isExcess { continue }
        guard error.isCorruption else { throw error }
      }
    }
    let entries = changed.assignments
    if entries.isEmpty { return batch.add(Commit(mutations: mutations, record: [])) }
    let record = TreeRecord(of: entries, in: namespace.rows).encode()
    batch.add(Commit(mutations: mutations, record: record))
    // It is one commit, so it is one push: no listener sees a part of it.
    let whole =
      entries.count == 1
      ? TreeWrite.set(entries[0].path, entries[0].node)
      : TreeWrite.merge(.root, TreeMerge(unchecked: entries))
    try FanOut.deliver(whole, in: namespace, &batch)
  }
}
