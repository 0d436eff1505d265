import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTreeWire

/// Decides listens of sessions: their first data at once when they take few rows, else beside the
/// server's executor.
///
/// A listen is told changes from the place among the commits at which its first data are sent, and
/// these are the data of that place. Source: Docs/Decisions/0065.
///
/// A listen passes three stages. *Admission* checks rules, limits and memory. The *first answer*
/// comes from the cheapest source: an answer of this batch, the client's own copy when hashes
/// agree, a read that others share, a short read on the executor, a long read beside it. *Start*
/// sends it and makes the link a member of the group.
///
/// Admission is undone before a long read and repeated at its end, because identity, rules and
/// memory may change meanwhile.
struct TreeListens {
  let context: ServerContext

  private var limits: ServerLimits { context.options.limits }

  /// A listen that may be, and the memory that it is charged with.
  ///
  /// Until ``start`` or ``undo()`` is called, the client is charged for the listen, and the group
  /// exists without being told to.
  private struct Admission {
    let listen: TreeListen
    let group: ListenGroup
    /// The bytes charged for the listen.
    ///
    /// 0 for a listen that the session has already: repeating it is charged once.
    let bytes: Int
    let call: TreeCall

    /// Undoes it.
    func undo() {
      call.session.charge.remove(bytes)
      call.namespace.listens.removeIfEmpty(group)
    }

    /// Undoes it, and answers with the reason.
    func reject(_ response: TreeResponse, _ batch: inout ServerBatch) {
      undo()
      batch.respond(response, to: call)
    }
  }

  /// Starts a listen: its data first, unless the client has them, then the answer.
  ///
  /// - Parameter listen: The listen as the client sent it. Its query is normalized during
  ///   admission, so that equal queries share a group.
  func begin(
    _ listen: TreeListen, _ call: TreeCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard let admission = try admit(listen, call, &batch) else { return }
    let (listen, group) = (admission.listen, admission.group)
    if let known = batch.initialAnswers.answer(to: listen, of: group) {
      return start(admission, known, &batch)
    }
    if let shown = group.shownHash, shown == listen.hash {
      return start(admission, FirstAnswer(version: batch.version), &batch)
    }
    let read = read(for: admission, batch.version)
    // Its link is held during a read; an input that comes all the same is decided all the same.
    if call.session.read != nil { return try readNow(read, admission, &batch) }
    if let answer = group.presentAnswer(to: listen) {
      return start(admission, answer, &batch, bytesPerStep: TreeReads.sentBytesPerStep)
    }
    // Where a read goes on for others, it takes many rows.
    if group.pendingAnswer != nil { return readBeside(read, admission, attempt: 1, &batch) }
    do throws(StorageError) {
      let version = batch.version
      let answer = try batch.read(nil) { reader throws(StorageError) in
        try read.answer(in: reader, at: version)
      }
      if let answer { return start(admission, answer, &batch) }
    } catch {
      return try fail(error, admission, &batch)
    }
    readBeside(read, admission, attempt: 1, &batch)
  }

  /// Goes on with the listen of a read that has ended.
  ///
  /// `pending.isLast` limits the repetitions: data that change faster than they are read are
  /// finally read on the executor, where nothing can change them.
  func finish(
    _ listen: TreeListen, _ pending: PendingTreeRead, _ call: TreeCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    // Identity and rules are those of now.
    guard let admission = try admit(listen, call, &batch) else { return }
    // Clients take a refusal for the end of their listen: where too many reads wait, it is read at
    // once, as long as that takes.
    if case .rejected(.queue)? = pending.job.outcome {
      return try readNow(read(for: admission, batch.version), admission, &batch)
    }
    switch TreeReads.end(of: pending.job) {
    case .response(let response): admission.reject(response, &batch)
    case .value(let value):
      guard let answer = value as? FirstAnswer, !admission.group.hasOvertaken(answer) else {
        let read = read(for: admission, batch.version)
        if pending.isLast { return try readNow(read, admission, &batch) }
        return readBeside(read, admission, attempt: pending.attempt + 1, &batch)
      }
      admission.group.pendingAnswer?.keep(answer, pending.job.charge)
      start(admission, answer, &batch, bytesPerStep: TreeReads.sentBytesPerStep)
    }
  }

  /// Checks and charges a listen; answers the request when it may not be.
  ///
  /// The order of checks matters: rules come first, so that a client that may not read learns
  /// nothing about limits or indexes. The group is looked up last and removed again if the charge
  /// fails.
  ///
  /// - Returns: `nil` when the request was answered with a rejection.
  private func admit(
    _ listen: TreeListen, _ call: TreeCall, _ batch: inout ServerBatch
  ) throws(StorageError) -> Admission? {
    var listen = listen
    listen.query = listen.query.normalized
    if let refusal = try call.access.refusal(of: listen.path, listen.query, batch) {
      batch.respond(refusal, to: call)
      return nil
    }
    if !listen.query.loadsAllData, listen.tag == nil {
      batch.respond(.init(.failed, detail: "A filtered listen needs a tag."), to: call)
      return nil
    }
    let session = call.session
    guard session.listens.count < limits.listens else {
      let text = "This session listens to \(limits.listens) queries already."
      batch.respond(.init(.failed, detail: text), to: call)
      return nil
    }
    let group = call.namespace.listens.group(of: listen.query, at: listen.path)
    let bytes = session.listens.contains(group) ? 0 : group.listenBytes
    guard session.charge.add(bytes) else {
      call.namespace.listens.removeIfEmpty(group)
      batch.respond(tooMuchMemory(bytes, session.charge), to: call)
      return nil
    }
    return Admission(listen: listen, group: group, bytes: bytes, call: call)
  }

  /// Sends the data that a listen begins with, and the answer; from now on it is told changes.
  ///
  /// - Parameters:
  ///   - answer: The first data, which must be those of the present version.
  ///   - bytesPerStep: The bytes of the frame that count as one step: more for data that were read
  ///     beside the executor, whose reading was charged there.
  private func start(
    _ admission: Admission, _ answer: FirstAnswer, _ batch: inout ServerBatch,
    bytesPerStep: Int = ServerBatch.bytesPerStep
  ) {
    let (listen, group, call) = (admission.listen, admission.group, admission.call)
    if let window = answer.window { group.fill(window) }
    if !group.chargeWindow(orTo: [call.session.charge]) {
      let bytes = ListenGroup.windowBytes(of: answer.childCount)
      return admission.reject(tooMuchMemory(bytes, call.session.charge), &batch)
    }
    if let hash = answer.hash { group.shownHash = hash }
    var warnings: [String] = []
    switch answer.content {
    case .known: break
    case .put(let push):
      send(push.frame, call, &batch, bytesPerStep)
      batch.initialAnswers.keep(answer, of: group)
    case .ranges(let frame): send(frame, call, &batch, bytesPerStep)
    case .left: warnings.append(TreeResponse.largeData)
    case .tooBig: return admission.reject(.tooBig(limitBytes: limits.answerBytes), &batch)
    }
    group.add(call.session.slot, tag: listen.tag)
    call.session.listens.add(group)
    // The window is kept here all the same; the client says to its programmer what is missing.
    let isIndexed =
      listen.query.loadsAllData || call.access.isIndexed(listen.query, at: listen.path)
    if !isIndexed { warnings.append(TreeResponse.noIndex) }
    batch.respond(.listening(warnings: warnings), to: call)
  }

  private func send(
    _ frame: [UInt8], _ call: TreeCall, _ batch: inout ServerBatch, _ bytesPerStep: Int
  ) {
    batch.spend(frame.count / bytesPerStep)
    batch.add(.send(slot: call.session.slot, frame))
  }

  /// The rejection of a listen that could not be charged: to be repeated when it is others that
  /// hold the memory.
  ///
  /// `unavailable` says that a repetition may succeed; `failed` says that the client has to end
  /// other listens first.
  private func tooMuchMemory(_ bytes: Int, _ charge: ListenCharge) -> TreeResponse {
    if charge.isWithinShare(adding: bytes) {
      return .init(.unavailable, detail: "The server's memory is in use. Try again.")
    }
    return .init(
      .failed,
      detail: "The listens of this address or user hold their share of the server's memory.")
  }

  /// Ends a listen.
  ///
  /// Unknown listens are confirmed as well: the client may unlisten after a revocation that it has
  /// not received yet.
  func unlisten(
    _ path: TreePath, _ query: TreeQuery, _ call: TreeCall, _ batch: inout ServerBatch
  ) {
    let listens = call.namespace.listens
    if let group = listens.existingGroup(of: query.normalized, at: path) {
      call.namespace.remove(call.session, from: group)
    }
    batch.respond(.init(.ok), to: call)
  }
}

// MARK: - Reads

extension TreeListens {
  private func read(for admission: Admission, _ version: Version) -> ListenRead {
    let group = admission.group
    return ListenRead(
      listen: admission.listen, rows: admission.call.namespace.rows, version: version,
      window: group.window,
      isLoaded: group.isLoaded, knownHash: group.shownHash,
      readBytes: limits.readBytes(within: admission.call.session.charge.limitBytes),
      wholeReadBytes: limits.wholeReadBytes, answerBytes: limits.answerBytes)
  }

  /// Reads beside the executor; the listen is admitted again at the end.
  ///
  /// Readers of one group share one answer. The first to finish keeps it, and those that begin
  /// later find it without reading.
  ///
  /// - Parameter attempt: 1 for the first read; see ``PendingTreeRead``.
  private func readBeside(
    _ read: ListenRead, _ admission: Admission, attempt: Int, _ batch: inout ServerBatch
  ) {
    let (listen, group) = (admission.listen, admission.group)
    let (shared, version) = group.answerToShare(at: batch.version)
    TreeReads(context: context).begin(
      .listen(listen, group), admission.call, attempt: attempt, &batch
    ) { reader, snapshot throws(StorageError) in
      if let known = shared.answer(to: listen, since: version) {
        return LongReadValue(value: known, bytes: known.bytes)
      }
      let answer = try read.answer(in: reader, at: snapshot)
      return LongReadValue(value: answer, bytes: answer.bytes)
    }
    admission.undo()
  }

  private func readNow(
    _ read: ListenRead, _ admission: Admission, _ batch: inout ServerBatch
  ) throws(StorageError) {
    do throws(StorageError) {
      // Counted: the rows are charged to the client, however many they are.
      let answer = try read.answer(in: batch.counted, at: batch.version)
      start(admission, answer, &batch)
    } catch {
      try fail(error, admission, &batch)
    }
  }

  /// Rejects a listen whose rows are corrupt.
  ///
  /// - Throws: Errors that are not about corrupt rows; they end the batch.
  private func fail(
    _ error: StorageError, _ admission: Admission, _ batch: inout ServerBatch
  ) throws(StorageError) {
    admission.undo()
    guard error.isCorruption else { throw error }
    batch.respond(.init(.failed, detail: RefusalText.damaged), to: admission.call)
  }
}
