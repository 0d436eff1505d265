import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTreeEngine
import TernTreeWire

// Requests without a session: the same authorizer, the same commits, the same pushes.
extension ServerMachine {
  /// Decides a direct request.
  mutating func decide(
    _ request: DirectRequest, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    if let farewell = options.farewell { return .refused(.sentAway(farewell)) }
    guard Namespace.isValid(request.namespace, limitBytes: options.limits.namespaceBytes) else {
      return .refused(.invalid("There can be no database of that name."))
    }
    let identity: Identity
    do throws(AuthenticationError) {
      identity = try self.identity(of: request, batch)
    } catch {
      return .refused(.unauthenticated(error.text))
    }
    if let excess = count(request, by: identity, batch) { return .refused(.tooMany(excess)) }
    guard hasRoom(for: request.operation) else { return .refused(.unavailable(Self.fullText)) }
    let asked = DirectCall(
      namespace: namespaceOrTransient(request.namespace),
      requester: Requester(
        identity, isLocal: request.isLocal, namespace: request.namespace,
        address: request.address),
      sizeLimit: request.sizeLimit)
    return try decide(request.operation, asked, &batch)
  }

  private mutating func decide(
    _ operation: DirectRequest.Operation, _ asked: DirectCall, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    switch operation {
    case .read(let path, let query): return try read(path, query, asked, batch)
    case .readOrExport(let path):
      return try read(path, .all, asked, batch, limitBytes: options.limits.wholeReadBytes)
    case .review(let path):
      return try refusal(of: path, .all, asked, batch).map { .refused($0) } ?? .done
    case .mayWrite(let path, let isPush):
      let name = names.next(milliseconds: batch.now, randomBits: randomBits)
      return try certainRefusal(of: isPush ? path.appending(name) : path, asked, batch)
    case .names(let path, let previous, let limit):
      return try names(path, after: previous, limit, asked, batch)
    case .write(let write, let expectedHash):
      return try self.write(write, expectedHash: expectedHash, asked, &batch)
    case .push(let path, let node): return try push(node, below: path, asked, &batch)
    case .readRules, .setRules, .readSetting, .set, .databases, .readRevocations, .revoke:
      guard asked.requester.identity == .administrator else { return .refused(.permissionDenied()) }
      return try manage(operation, asked.namespace, &batch)
    }
  }

  private func identity(
    of request: DirectRequest, _ batch: borrowing ServerBatch
  ) throws(AuthenticationError) -> Identity {
    guard let credential = request.credential else { return .anonymous }
    return try recognize(credential, batch).identity
  }

  private func read(
    _ path: TreePath, _ query: TreeQuery, _ call: DirectCall, _ batch: borrowing ServerBatch,
    limitBytes: Int? = nil
  ) throws(StorageError) -> DirectAnswer {
    if let refusal = try refusal(of: path, query, call, batch) { return .refused(refusal) }
    let reader = batch.reader
    let rows = call.namespace.rows
    do throws(StorageError) {
      if query.loadsAllData {
        let limit = limitBytes ?? options.limits.memoryBytes / 4
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
    _ path: TreePath, after previous: TreeKey?, _ limit: Int?, _ call: DirectCall,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    // Rules see what is asked for: keys, in their order, from one on, and so many of them.
    let query = TreeQuery(
      order: .key, start: previous.map { TreeBound(.string($0.text), isInclusive: false) },
      limit: limit.map { TreeLimit(.first, $0) })
    if let refusal = try refusal(of: path, query, call, batch) { return .refused(refusal) }
    let reader = batch.reader
    let rows = call.namespace.rows
    if let leaf = try rows.scalar(at: path, in: Snapshot(reader)) { return .node(TreeNode(leaf)) }
    let most = min(limit ?? .max, Self.mostNames(in: options.limits.answerBytes))
    let names = try rows.childKeys(of: path, after: previous, limit: most, in: Snapshot(reader))
    if names.count == most, most < limit ?? .max {
      return .refused(.tooBig(limitBytes: options.limits.answerBytes))
    }
    return .names(names)
  }

  /// How many names an answer may hold: a short one, with what stands around it, takes 16 bytes.
  private static func mostNames(in bytes: Int) -> Int { bytes / 16 }

  /// Why somebody may not read; `nil` when they may.
  private func refusal(
    of path: TreePath, _ query: TreeQuery, _ call: DirectCall, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DirectRefusal? {
    if path.isInfo { return .invalid("Only a client itself knows \(path).") }
    let denial = try readRefusal(of: path, query, by: call.requester, call.namespace, batch)
    if let denial { return .permissionDenied(denial) }
    return isIndexed(query, at: path, in: call.namespace)
      ? nil : .invalid(Self.indexText(query, at: path))
  }

  private mutating func write(
    _ write: TreeWrite, expectedHash: String?, _ call: DirectCall, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    let verdict = try verdict(
      on: write, expectedHash, call.requester, nil, call.namespace, &batch,
      sizeLimit: call.sizeLimit)
    switch verdict {
    case .accepted(let resolved):
      return .written(try shown(write, resolved, call, batch))
    case .refused(.failed, Self.damageText): return .refused(.damaged)
    case .refused(.dataStale, _):
      // The data are shown only to those who may read them.
      let now = try read(write.path, .all, call, batch)
      if case .node(let node) = now { return .stale(node) }
      return now
    case .denied(let denial): return .refused(.permissionDenied(denial))
    case .refused(_, let detail): return .refused(.invalid(detail))
    }
  }

  /// Returns a write as its writer is shown it: the result of an increment tells what was stored,
  /// so a requester that may not read there is shown the increment alone.
  private func shown(
    _ write: TreeWrite, _ resolved: TreeWrite, _ call: DirectCall,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> TreeWrite {
    for entry in write.assignments where entry.node.containsServerValues {
      let node = entry.path.namesPriority ? entry.path.parent ?? .root : entry.path
      if try readRefusal(of: node, .all, by: call.requester, call.namespace, batch) != nil {
        return write.resolvingServerValues(now: batch.now) { _ in .empty }
      }
    }
    return resolved
  }

  /// Whether a write is denied whatever its data are.
  private func certainRefusal(
    of path: TreePath, _ call: DirectCall, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    let reading = TreeReading(call.namespace.rows, batch.reader)
    let denial = authorizer(of: call.namespace).preliminaryRefusal(
      ofWriting: [path], by: call.requester, now: batch.now, in: reading.state)
    try reading.finish()
    return denial.map { .refused(.permissionDenied($0)) } ?? .done
  }

  private mutating func push(
    _ node: TreeNode, below path: TreePath, _ call: DirectCall, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    let name = names.next(milliseconds: batch.now, randomBits: randomBits)
    let write = TreeWrite.set(path.appending(name), node)
    let answer = try self.write(write, expectedHash: nil, call, &batch)
    if case .written(.set(_, let node)) = answer { return .pushed(name, node) }
    return answer
  }
}

/// Who asks for what, without a session.
private struct DirectCall {
  let namespace: Namespace
  let requester: Requester
  /// How much a write says that it may change.
  let sizeLimit: WriteSizeLimit?
}

extension AuthenticationError {
  /// What the client is told.
  var text: String {
    switch self {
    case .invalid(let reason), .expired(let reason): reason
    }
  }
}
