import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTreeWire

/// Decides one-shot reads of sessions: at once when they take few rows, else beside the server's
/// executor.
///
/// The answer is that of a read in the state in which it is sent: a client merges it with what it
/// listens to, and an older one would stay wrong. Source: Docs/Decisions/0064.
struct TreeGets {
  let context: ServerContext

  private var limits: ServerLimits { context.options.limits }

  /// Reads once for a session.
  func begin(
    _ path: TreePath, _ query: TreeQuery, _ call: TreeCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if let refusal = try refusal(of: path, query, call, batch) {
      return batch.respond(refusal, to: call)
    }
    let session = call.session
    let read = TreeRead(
      path: path, query: query, rows: call.namespace.rows, number: call.number,
      readBytes: limits.readBytes(within: session.charge.limitBytes),
      answerBytes: limits.answerBytes)
    // Its link is held during a read; an input that comes all the same is decided all the same.
    if session.read != nil { return try readNow(read, call, &batch) }
    do throws(StorageError) {
      let frame = try batch.read(nil) { reader throws(StorageError) in try read.frame(in: reader) }
      if let frame { return send(frame, call, &batch) }
    } catch {
      return try fail(error, call, &batch)
    }
    readBeside(read, call, attempt: 1, &batch)
  }

  /// Answers the request of a read that has ended.
  ///
  /// - Parameter version: The last commit that was decided when it began.
  func finish(
    _ read: TreeRead, since version: Version, _ pending: PendingTreeRead, _ call: TreeCall,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    // Identity and rules are those of now.
    if let refusal = try refusal(of: read.path, read.query, call, batch) {
      return batch.respond(refusal, to: call)
    }
    switch TreeReads.end(of: pending.job) {
    case .response(let response): batch.respond(response, to: call)
    case .value(let value):
      let shown = pending.job.version
      let writes = call.namespace.recentWrites
      if shown < version || writes.mayHaveChanged(read.path, since: shown) {
        if pending.isLast { return try readNow(read, call, &batch) }
        return readBeside(read, call, attempt: pending.attempt + 1, &batch)
      }
      send(value as? [UInt8], call, &batch, bytesPerStep: TreeReads.sentBytesPerStep)
    }
  }

  /// Returns the rejection of a read; `nil` when it is allowed.
  private func refusal(
    of path: TreePath, _ query: TreeQuery, _ call: TreeCall, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> TreeResponse? {
    if let refusal = try call.access.refusal(of: path, query, batch) { return refusal }
    if call.access.isIndexed(query, at: path) { return nil }
    return TreeResponse(.failed, detail: TreeAccess.indexText(query, at: path))
  }

  private func readBeside(
    _ read: TreeRead, _ call: TreeCall, attempt: Int, _ batch: inout ServerBatch
  ) {
    TreeReads(context: context).begin(
      .get(read, since: batch.version), call, attempt: attempt, &batch
    ) { reader, _ throws(StorageError) in
      let frame = try read.frame(in: reader)
      return LongReadValue(value: frame, bytes: frame?.count ?? 0)
    }
  }

  private func readNow(
    _ read: TreeRead, _ call: TreeCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    do throws(StorageError) {
      // Counted: the rows are charged to the client, however many they are.
      send(try read.frame(in: batch.counted), call, &batch)
    } catch {
      try fail(error, call, &batch)
    }
  }

  private func send(
    _ frame: [UInt8]?, _ call: TreeCall, _ batch: inout ServerBatch,
    bytesPerStep: Int = ServerBatch.bytesPerStep
  ) {
    guard let frame else {
      return batch.respond(.tooBig(limitBytes: limits.answerBytes), to: call)
    }
    batch.spend(frame.count / bytesPerStep)
    batch.add(.send(slot: call.session.slot, frame))
  }

  private func fail(
    _ error: StorageError, _ call: TreeCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard error.isCorruption else { throw error }
    batch.respond(.init(.failed, detail: RefusalText.damaged), to: call)
  }
}
