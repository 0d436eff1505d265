import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTransport
import TernTreeAuthority
import TernTreeRows
import TernTreeWire

/// Decides requests without a session: the same authorizer, the same commits, the same pushes.
///
/// It serves REST, streaming, the console and other nodes. A request has no session, so it brings
/// its credential, and identity and rules are found out for it alone.
struct DirectService {
  let context: ServerContext
  /// Names what is pushed.
  ///
  /// One generator for the whole server, so that names sort in the order of the requests also
  /// within a millisecond.
  private var names = PushIDGenerator()

  init(_ context: ServerContext) { self.context = context }

  private var limits: ServerLimits { context.options.limits }

  /// Decides a direct request.
  ///
  /// The checks come in the order of their cost and of what they reveal: redirect, name of the
  /// database, role of the node, credential, rate, disk, rights.
  ///
  /// - Parameters:
  ///   - ticket: The number under which the answer is delivered.
  ///   - rates: Counts the request against its address and its user.
  /// - Returns: `nil` when the answer takes a read that goes on beside the server's executor;
  ///   ``finish(_:_:_:_:_:)`` has it.
  mutating func decide(
    _ request: DirectRequest, _ ticket: UInt64, _ rates: inout RateTable,
    _ tree: inout TreeService, _ admin: inout AdminService, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer? {
    if let farewell = context.options.farewell, !request.operation.isOfOperator {
      return .refused(.sentAway(farewell))
    }
    guard Namespace.isValid(request.namespace, limitBytes: limits.namespaceBytes),
      limits.allows(database: request.namespace) || request.operation.isForAdministrators
    else {
      return .refused(.invalid("There can be no database of that name."))
    }
    if context.follows, request.operation.isForLeader {
      return .refused(.unavailable(RefusalText.follows))
    }
    let identity: Identity
    do throws(AuthenticationError) {
      identity = try self.identity(of: request, admin, batch)
    } catch {
      return .refused(.unauthenticated(error.text))
    }
    if let excess = rates.count(request, by: identity, at: batch.uptime) {
      return .refused(.tooMany(excess))
    }
    guard batch.diskSpace.allows(request.operation) else {
      return .refused(.unavailable(RefusalText.full))
    }
    let access = access(of: request, identity, &tree, admin)
    if request.operation.isForAdministrators {
      guard identity == .administrator else { return .refused(.permissionDenied()) }
      if case .removeDatabase = request.operation { return try remove(access, &admin, &batch) }
      return try admin.manage(request.operation, access.namespace, &batch)
    }
    switch try decide(request.operation, access, &batch) {
    case .answer(let answer): return answer
    case .read(let path, let subject):
      let read = DirectRead(
        path: path, subject: subject, rows: access.namespace.rows,
        readBytes: readBytes(for: subject, request), answerBytes: limits.answerBytes)
      return try begin(read, for: request, ticket, access, &batch)
    }
  }

  /// Answers a request whose read has ended.
  ///
  /// The rows that were read are charged to the client's address before anything else, also when
  /// the answer is then denied.
  func finish(
    _ job: ReadJob, _ request: DirectRequest, _ tree: inout TreeService,
    _ admin: borrowing AdminService, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    batch.charge(rows: job.rows, of: .address(request.address))
    guard let read = job.direct?.read else { return job.directAnswer }
    let identity: Identity
    // Identity and rules are those of now.
    do throws(AuthenticationError) {
      identity = try self.identity(of: request, admin, batch)
    } catch {
      return .refused(.unauthenticated(error.text))
    }
    let access = access(of: request, identity, &tree, admin)
    if let refusal = try refusal(of: read.path, read.query, access, batch) {
      return .refused(refusal)
    }
    return job.directAnswer
  }

  private func identity(
    of request: DirectRequest, _ admin: borrowing AdminService, _ batch: borrowing ServerBatch
  ) throws(AuthenticationError) -> Identity {
    guard let credential = request.credential else { return .anonymous }
    return try admin.credentials.recognize(credential, batch).identity
  }

  /// Returns the rights of a request in its database.
  ///
  /// A size limit in the request replaces that of the database; `TreeAccess` applies it.
  private func access(
    of request: DirectRequest, _ identity: Identity, _ tree: inout TreeService,
    _ admin: borrowing AdminService
  ) -> TreeAccess {
    let requester = Requester(
      identity, isLocal: request.isLocal, namespace: request.namespace, address: request.address)
    var access = admin.access(to: tree.namespaceOrTransient(request.namespace), as: requester)
    if let limit = request.sizeLimit { access.writeSizeLimit = limit }
    return access
  }

  /// A decision, or the read that its answer takes.
  private enum Reply {
    case answer(DirectAnswer)
    case read(TreePath, DirectRead.Subject)
  }

  /// Decides an operation that clients may request.
  ///
  /// Operations of administrators were handled by the caller. They are listed here, so that a new
  /// operation cannot be forgotten, and denied in case one reaches this point.
  private mutating func decide(
    _ operation: DirectRequest.Operation, _ access: TreeAccess, _ batch: inout ServerBatch
  ) throws(StorageError) -> Reply {
    switch operation {
    case .read(let path, let query): return .read(path, .query(query))
    case .readOrExport(let path): return .read(path, .nodeOrWord)
    case .names(let path, let previous, let limit):
      return .read(path, .names(after: previous, limit: limit))
    case .review(let path):
      return .answer(try refusal(of: path, .all, access, batch).map { .refused($0) } ?? .done)
    case .mayWrite(let paths): return .answer(try access.certainDenial(ofWriting: paths, batch))
    case .mayPush(let path):
      let name = names.next(milliseconds: batch.now, randomBits: context.randomBits)
      return .answer(try access.certainDenial(ofWriting: [path.appending(name)], batch))
    case .write(let write, let expectedHash):
      return try self.write(write, expectedHash: expectedHash, access, &batch)
    case .push(let path, let node): return try push(node, below: path, access, &batch)
    case .readRules, .setRules, .setDocumentRules, .removeDocumentRules, .readRuleCoverage,
      .readSetting, .set, .databases, .readRevocations, .revoke, .rules, .administer,
      .removeDatabase:
      return .answer(.refused(.permissionDenied()))
    }
  }

  // MARK: - Reads

  /// Returns the most bytes of rows that are kept for an answer.
  ///
  /// Large reads exist in two forms: everything or word that it is large, and a query with a bound.
  /// The bound is the smallest of the request's, the limits' and the memory budget's.
  private func readBytes(for subject: DirectRead.Subject, _ request: DirectRequest) -> Int {
    if case .nodeOrWord = subject { return limits.wholeReadBytes }
    let most = limits.readBytes(within: context.budget.limitBytes)
    return request.wholeBytes.map { min($0, most) } ?? most
  }

  /// Reads at once what takes few rows, else beside the server's executor.
  ///
  /// Nothing is merged with the answer, so it may be that of any moment behind the request.
  /// Source: Docs/Decisions/0064.
  ///
  /// - Returns: The answer, or `nil` when a job was added to the batch; `finish` then gets its
  ///   result.
  private func begin(
    _ read: DirectRead, for request: DirectRequest, _ ticket: UInt64, _ access: TreeAccess,
    _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer? {
    if let refusal = try refusal(of: read.path, read.query, access, batch) {
      return .refused(refusal)
    }
    do throws(StorageError) {
      let answer = try batch.read(nil) { reader throws(StorageError) in
        try read.answer(in: reader).0
      }
      if let answer { return answer }
    } catch {
      guard error.isCorruption else { throw error }
      return .refused(.damaged)
    }
    // Requests are charged to the address alone, as while they arrive.
    let charge = ReadCharge(context.budget, address: request.address, user: nil)
    batch.add(ReadJob(read, for: request, ticket: ticket, charge))
    return nil
  }

  /// Returns the reason a read is denied; `nil` when it is allowed.
  private func refusal(
    of path: TreePath, _ query: TreeQuery, _ access: TreeAccess, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DirectRefusal? {
    if path.isInfo { return .invalid("Only a client itself knows \(path).") }
    let denial = try access.readRefusal(of: path, query, batch)
    if let denial { return .permissionDenied(denial) }
    return access.isIndexed(query, at: path)
      ? nil : .invalid(TreeAccess.indexText(query, at: path))
  }

  /// Decides a write.
  ///
  /// A write whose expected hash does not match is answered with the present data, which Firebase's
  /// clients need for their next attempt. That takes a read with its own check of rights.
  private mutating func write(
    _ write: TreeWrite, expectedHash: String?, _ access: TreeAccess, _ batch: inout ServerBatch
  ) throws(StorageError) -> Reply {
    let verdict = try TreeWriter(access: access).verdict(on: write, expectedHash, nil, &batch)
    switch verdict {
    case .accepted(let resolved):
      return .answer(.written(try shown(write, resolved, access, batch)))
    case .refused(.failed, RefusalText.damaged): return .answer(.refused(.damaged))
    // The data are shown only to those who may read them.
    case .refused(.dataStale, _): return .read(write.path, .stale)
    case .denied(let denial): return .answer(.refused(.permissionDenied(denial)))
    case .refused(_, let detail): return .answer(.refused(.invalid(detail)))
    }
  }

  /// Returns a write as its writer is shown it: the result of an increment tells what was stored,
  /// so a requester that may not read there is shown the increment alone.
  private func shown(
    _ write: TreeWrite, _ resolved: TreeWrite, _ access: TreeAccess,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> TreeWrite {
    for entry in write.assignments where entry.node.containsServerValues {
      let node = entry.path.namesPriority ? entry.path.parent ?? .root : entry.path
      if try access.readRefusal(of: node, .all, batch) != nil {
        return write.resolvingServerValues(now: batch.now) { _ in .empty }
      }
    }
    return resolved
  }

  /// Removes everything of a database; its listeners are told.
  ///
  /// Writes the empty tree at the root, so that listeners and the log see an ordinary write; then
  /// the database's own rules and settings are removed.
  private mutating func remove(
    _ access: TreeAccess, _ admin: inout AdminService, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    var access = access
    access.writeSizeLimit = .unlimited
    guard
      case .answer(let answer) = try write(.set(.root, .empty), expectedHash: nil, access, &batch)
    else { return .refused(.damaged) }
    guard case .written = answer else { return answer }
    admin.forget(access.namespace, &batch)
    return .done
  }

  /// Writes a node under a new name.
  ///
  /// The name comes from the server's clock. A client that repeats the request gets another name:
  /// requests without a session have no number by which a repetition is recognized.
  private mutating func push(
    _ node: TreeNode, below path: TreePath, _ access: TreeAccess, _ batch: inout ServerBatch
  ) throws(StorageError) -> Reply {
    let name = names.next(milliseconds: batch.now, randomBits: context.randomBits)
    let write = TreeWrite.set(path.appending(name), node)
    let reply = try self.write(write, expectedHash: nil, access, &batch)
    if case .answer(.written(.set(_, let node))) = reply { return .answer(.pushed(name, node)) }
    return reply
  }
}

extension DirectRequest.Operation {
  /// True for what an operator asks about the server itself, whatever it serves.
  fileprivate var isOfOperator: Bool {
    switch self {
    case .administer, .removeDatabase: true
    default: false
    }
  }

  /// True for what only the node that leads decides: it changes something that is stored.
  package var isForLeader: Bool {
    switch self {
    case .write, .push, .setRules(_, isTrial: false), .setDocumentRules(_, isTrial: false),
      .removeDocumentRules, .set, .removeDatabase, .revoke:
      true
    case .read, .readOrExport, .review, .mayWrite, .mayPush, .names, .readRules,
      .setRules(_, isTrial: true), .setDocumentRules(_, isTrial: true), .readRuleCoverage,
      .readSetting, .databases, .administer, .readRevocations, .rules:
      false
    }
  }

  /// True for what a client reads that has no session: the newest state.
  ///
  /// A node that follows waits for its copy to be current before it answers these.
  var readsForClient: Bool {
    switch self {
    case .read, .readOrExport, .names, .readRules, .readRuleCoverage, .readSetting, .databases,
      .readRevocations:
      true
    case .write, .push, .setRules, .setDocumentRules, .removeDocumentRules, .set, .removeDatabase,
      .revoke, .review, .mayWrite, .mayPush, .administer, .rules:
      false
    }
  }

  /// True when it is left to administrators.
  var isForAdministrators: Bool {
    switch self {
    case .readRules, .setRules, .setDocumentRules, .removeDocumentRules, .readRuleCoverage,
      .readSetting, .set, .databases, .readRevocations, .revoke, .rules, .administer,
      .removeDatabase:
      true
    case .read, .readOrExport, .review, .mayWrite, .mayPush, .names, .write, .push: false
    }
  }
}

extension AuthenticationError {
  /// The message for the client.
  var text: String {
    switch self {
    case .invalid(let reason), .expired(let reason): reason
    }
  }
}
