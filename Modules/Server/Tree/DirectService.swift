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
struct DirectService {
  let context: ServerContext
  /// Names what is pushed.
  private var names = PushIDGenerator()

  init(_ context: ServerContext) { self.context = context }

  private var limits: ServerLimits { context.options.limits }

  /// Decides a direct request.
  mutating func decide(
    _ request: DirectRequest, _ rates: inout RateTable, _ tree: inout TreeService,
    _ admin: inout AdminService, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
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
      identity =
        try request.credential.map { credential throws(AuthenticationError) in
          try admin.credentials.recognize(credential, batch).identity
        } ?? .anonymous
    } catch {
      return .refused(.unauthenticated(error.text))
    }
    if let excess = rates.count(request, by: identity, at: batch.uptime) {
      return .refused(.tooMany(excess))
    }
    guard batch.diskSpace.allows(request.operation) else {
      return .refused(.unavailable(RefusalText.full))
    }
    let requester = Requester(
      identity, isLocal: request.isLocal, namespace: request.namespace, address: request.address)
    var access = admin.access(to: tree.namespaceOrTransient(request.namespace), as: requester)
    if let limit = request.sizeLimit { access.writeSizeLimit = limit }
    if request.operation.isForAdministrators {
      guard identity == .administrator else { return .refused(.permissionDenied()) }
      if case .removeDatabase = request.operation { return try remove(access, &admin, &batch) }
      return try admin.manage(request.operation, access.namespace, &batch)
    }
    if case .read(let path, let query) = request.operation, let limit = request.wholeBytes {
      return try read(path, query, access, batch, limitBytes: limit)
    }
    return try decide(request.operation, access, &batch)
  }

  private mutating func decide(
    _ operation: DirectRequest.Operation, _ access: TreeAccess, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    switch operation {
    case .read(let path, let query): return try read(path, query, access, batch)
    case .readOrExport(let path):
      return try read(path, .all, access, batch, limitBytes: limits.wholeReadBytes)
    case .review(let path):
      return try refusal(of: path, .all, access, batch).map { .refused($0) } ?? .done
    case .mayWrite(let paths): return try access.certainDenial(ofWriting: paths, batch)
    case .mayPush(let path):
      let name = names.next(milliseconds: batch.now, randomBits: context.randomBits)
      return try access.certainDenial(ofWriting: [path.appending(name)], batch)
    case .names(let path, let previous, let limit):
      return try names(path, after: previous, limit, access, batch)
    case .write(let write, let expectedHash):
      return try self.write(write, expectedHash: expectedHash, access, &batch)
    case .push(let path, let node): return try push(node, below: path, access, &batch)
    case .readRules, .setRules, .setDocumentRules, .removeDocumentRules, .readRuleCoverage,
      .readSetting, .set, .databases, .readRevocations, .revoke, .rules, .administer,
      .removeDatabase:
      return .refused(.permissionDenied())
    }
  }

  private func read(
    _ path: TreePath, _ query: TreeQuery, _ access: TreeAccess, _ batch: borrowing ServerBatch,
    limitBytes: Int? = nil
  ) throws(StorageError) -> DirectAnswer {
    if let refusal = try refusal(of: path, query, access, batch) { return .refused(refusal) }
    let reader = batch.reader
    let rows = access.namespace.rows
    do throws(StorageError) {
      if query.loadsAllData {
        let limit = limitBytes ?? context.budget.limitBytes / 4
        if let node = try rows.node(at: path, limitBytes: limit, in: Snapshot(reader)) {
          return .node(node)
        }
        return limitBytes == nil ? .refused(.tooBig(limitBytes: limit)) : .large
      }
      var window = QueryWindow(query)
      return .node(try window.load(path, of: rows, in: Snapshot(reader)))
    } catch {
      guard error.isCorruption else { throw error }
      return .refused(.damaged)
    }
  }

  private func names(
    _ path: TreePath, after previous: TreeKey?, _ limit: Int?, _ access: TreeAccess,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    // Rules see what is asked for: keys, in their order, from one on, and so many of them.
    let query = TreeQuery(
      order: .key, start: previous.map { TreeBound(.string($0.text), isInclusive: false) },
      limit: limit.map { TreeLimit(.first, $0) })
    if let refusal = try refusal(of: path, query, access, batch) { return .refused(refusal) }
    let reader = batch.reader
    let rows = access.namespace.rows
    if let leaf = try rows.scalar(at: path, in: Snapshot(reader)) { return .node(TreeNode(leaf)) }
    let most = min(limit ?? .max, Self.mostNames(in: limits.answerBytes))
    let names = try rows.childKeys(of: path, after: previous, limit: most, in: Snapshot(reader))
    if names.count == most, most < limit ?? .max {
      return .refused(.tooBig(limitBytes: limits.answerBytes))
    }
    return .names(names)
  }

  /// Returns the number of names that fit an answer: a short one, with its separators, takes 16
  /// bytes.
  private static func mostNames(in bytes: Int) -> Int { bytes / 16 }

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

  private mutating func write(
    _ write: TreeWrite, expectedHash: String?, _ access: TreeAccess, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    let verdict = try TreeWriter(access: access).verdict(on: write, expectedHash, nil, &batch)
    switch verdict {
    case .accepted(let resolved):
      return .written(try shown(write, resolved, access, batch))
    case .refused(.failed, RefusalText.damaged): return .refused(.damaged)
    case .refused(.dataStale, _):
      // The data are shown only to those who may read them.
      let now = try read(write.path, .all, access, batch)
      if case .node(let node) = now { return .stale(node) }
      return now
    case .denied(let denial): return .refused(.permissionDenied(denial))
    case .refused(_, let detail): return .refused(.invalid(detail))
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
  private mutating func remove(
    _ access: TreeAccess, _ admin: inout AdminService, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    var access = access
    access.writeSizeLimit = .unlimited
    let answer = try write(.set(.root, .empty), expectedHash: nil, access, &batch)
    guard case .written = answer else { return answer }
    admin.forget(access.namespace, &batch)
    return .done
  }

  private mutating func push(
    _ node: TreeNode, below path: TreePath, _ access: TreeAccess, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    let name = names.next(milliseconds: batch.now, randomBits: context.randomBits)
    let write = TreeWrite.set(path.appending(name), node)
    let answer = try self.write(write, expectedHash: nil, access, &batch)
    if case .written(.set(_, let node)) = answer { return .pushed(name, node) }
    return answer
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
