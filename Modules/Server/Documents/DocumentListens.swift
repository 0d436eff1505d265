import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// The targets of listen calls, and the pushes to them.
struct DocumentListens {
  let limits: ServerLimits
  let registry: DatabaseRegistry
  /// The indexes that queries need; `nil` for none.
  let indexes: DocumentIndexCatalogs?
  let longReads: LongReads

  /// That of now: a read may be finished under other rules than it was begun.
  var judge: DocumentJudge { registry.judge }

  /// Adds or removes a target of a listen call.
  func listen(
    _ request: DocumentListenRequest, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    let stream = call.stream ?? registry.open(call)
    call.stream = stream
    call.pulse.lastTold = batch.uptime
    switch request {
    case .remove(let target):
      database.unlisten(target, on: stream)
      call.cancelReadings(of: target)
      call.release(target)
      tell(.target(WatchTargetChange(.removed(nil), targets: [target])), call, database, &batch)
    case .add(let asked):
      guard let target = named(asked, stream, call, database, &batch) else { return }
      do throws(StorageError) {
        try add(target, stream, call, database, &batch)
      } catch {
        // Nothing was told yet, and the other targets go on.
        refuse(target.id, try DocumentStatus(damage: error), call, &batch)
      }
    }
  }

  /// Returns the target with the id it has on the stream; none when that is not possible.
  ///
  /// Source: firestore server reference, section 2.10.
  ///
  /// Clients choose ids from 1; id 0 asks the server to choose. A stream on which the server has
  /// chosen one takes no id of the client's any more.
  private func named(
    _ target: WatchTarget, _ stream: Int, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: inout ServerBatch
  ) -> WatchTarget? {
    if target.id == 0 {
      repeat { call.assignedTarget += 1 } while isUsed(call.assignedTarget, stream, call, database)
      return target.named(call.assignedTarget)
    }
    if target.id < 0 || call.assignedTarget > 0 {
      let text = "Target id \(target.id) is invalid on this stream."
      registry.finish(call, DocumentStatus(.invalidArgument, text), &batch)
      return nil
    }
    if !isUsed(target.id, stream, call, database) { return target }
    database.unlisten(target.id, on: stream)
    call.cancelReadings(of: target.id)
    // The target that was there is gone as well.
    let text = "Target ID already exists: \(target.id)"
    refuse(target.id, DocumentStatus(.alreadyExists, text), call, &batch)
    return nil
  }

  /// Returns true when a target of that id is watched on a stream, or is being read.
  private func isUsed(
    _ target: Int32, _ stream: Int, _ call: DocumentCall, _ database: OpenDatabase
  ) -> Bool {
    database.watch.subject(of: target, on: stream) != nil
      || call.readings.contains { $0.target == target }
  }

  private func add(
    _ target: WatchTarget, _ stream: Int, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    let target = executable(target, call, database)
    // A limit of the stream, which is checked before anything is read.
    if let refusal = database.watch.refusal(of: target, on: stream) {
      return refuse(target.id, refusal, call, &batch)
    }
    let verdict = try verdict(on: target.subject, call.requester(in: database), database, batch)
    if let refusal = verdict.refusal {
      return refuse(target.id, DocumentStatus(denial: refusal), call, &batch)
    }
    if case .query(let watched) = target.subject,
      let need = indexes?.need(of: DocumentQuery(watched), in: database)
    {
      tell(.target(WatchTargetChange(.added, targets: [target.id])), call, database, &batch)
      return refuse(target.id, need, call, &batch)
    }
    guard call.link.targetCount + call.readings.count < limits.listens else {
      let text = "A link watches \(limits.listens) targets already."
      return refuse(target.id, DocumentStatus(.resourceExhausted, text), call, &batch)
    }
    let dependencies = verdict.dependencies ?? []
    let weight = DocumentWeight.bytes(of: target) + DocumentWeight.bytes(of: dependencies)
    guard call.charge(weight, for: target.id) else {
      return refuse(target.id, Self.tooManyTargets, call, &batch)
    }
    let opening = try batch.read(nil) { reader throws(StorageError) in
      try database.watch.listen(target, on: stream, in: reader)
    }
    if let opening {
      return try begin(opening, of: target, dependencies, weight, call, database, &batch)
    }
    try prefetch(target, corrects: false, attempt: 0, call, database, &batch)
  }

  /// The times a first snapshot is read for a target whose documents change meanwhile.
  private static let prefetches = 8
  /// The largest multiple of the rows of a portion that bring a first snapshot up to date.
  private static let mostPortions = 64

  /// Reads the first snapshot of a target beside the server's executor.
  ///
  /// - Parameters:
  ///   - corrects: True once the client's count of documents may have been found to differ; the
  ///     read then includes what corrects it.
  ///   - attempt: The number of readings before this one: what has changed meanwhile was too much,
  ///     and may be eight times as much after each.
  private func prefetch(
    _ target: WatchTarget, corrects: Bool, attempt: Int, _ call: DocumentCall,
    _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard attempt < Self.prefetches else {
      // A stream that begins anew does so after a pause.
      let text = "The documents of target \(target.id) change faster than they can be read."
      return registry.finish(call, DocumentStatus(.unavailable, text), &batch)
    }
    let authority = database.authority
    // It is judged again when it is added.
    let read = LongRead<WatchPrefetch>(judgedBy: [], at: nil) { reader throws(StorageError) in
      let prefetch = try authority.prefetch(target, corrects: corrects, in: reader)
      return (prefetch, bytes: prefetch.byteCount)
    } finish: { prefetch, _ in
      prefetch
    }
    let id = WatchPrefetchID(target, corrects: corrects)
    try longReads.begin(read, of: call, for: target.id, isBeside: true, &batch) {
      outcome, batch throws(StorageError) in
      switch outcome {
      // A client takes the end of a target for good; a stream it opens again after a pause, which
      // is the longest after this code.
      case .failure(let status) where status.code == .unavailable:
        registry.finish(call, DocumentStatus(.resourceExhausted, status.message), &batch)
      case .failure(let status): refuse(target.id, status, call, &batch)
      case .success(let prefetch):
        try add(target, prefetch, attempt: attempt, call, database, &batch)
      }
    }
    if let reading = call.readings.last { database.prefetches.add(reading.job, as: id, of: call) }
  }

  /// Adds a target whose first snapshot was read ahead.
  ///
  /// - Parameter attempt: The number of readings before the one that was made.
  private func add(
    _ target: WatchTarget, _ prefetch: WatchPrefetch, attempt: Int, _ call: DocumentCall,
    _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard let stream = call.stream else { return }
    // What its permission rests on may have changed meanwhile.
    let verdict = try verdict(on: target.subject, call.requester(in: database), database, batch)
    if let refusal = verdict.refusal {
      return refuse(target.id, DocumentStatus(denial: refusal), call, &batch)
    }
    let dependencies = verdict.dependencies ?? []
    let weight = DocumentWeight.bytes(of: target) + DocumentWeight.bytes(of: dependencies)
    guard call.charge(weight, for: target.id) else {
      return refuse(target.id, Self.tooManyTargets, call, &batch)
    }
    let portions = min(1 << (3 * attempt), Self.mostPortions)
    let opening = try batch.read(nil, portions: portions) { reader throws(StorageError) in
      try database.watch.listen(target, on: stream, prefetch, in: reader)
    }
    if let opening {
      return try begin(opening, of: target, dependencies, weight, call, database, &batch)
    }
    // Its client holds another number of documents than it should, or much has changed.
    let corrects = target.expectedCount != nil
    try self.prefetch(target, corrects: corrects, attempt: attempt + 1, call, database, &batch)
  }

  /// Begins to tell a call about a target.
  private func begin(
    _ opening: WatchOpening, of target: WatchTarget, _ dependencies: Set<DocumentKey>,
    _ weight: Int, _ call: DocumentCall, _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard let stream = call.stream else { return }
    try tell(opening, of: target, weight, stream, call, database, &batch)
    let subscriber = WatchSubscriber(stream: stream, target: target.id)
    if database.watch.subject(of: target.id, on: stream) != nil {
      database.dependencies.set(dependencies, of: subscriber)
    }
  }

  static var tooManyTargets: DocumentStatus {
    DocumentStatus(
      .resourceExhausted,
      "The targets of this address or user hold their share of the server's memory.")
  }

  private func tell(
    _ opening: WatchOpening, of target: WatchTarget, _ weight: Int, _ stream: Int,
    _ call: DocumentCall, _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) {
    for change in opening.head { tell(change, call, database, &batch) }
    let pushes = pushes(of: opening, call, database)
    let size = pushes.reduce(0) { $0 + $1.byteCount }
    if size > limits.answerBytes {
      database.unlisten(target.id, on: stream)
      let text = "The result is larger than \(limits.answerBytes) bytes."
      return refuse(target.id, DocumentStatus(.resourceExhausted, text), call, &batch)
    }
    // Its window may have been larger, and then its other subscribers are charged for that.
    let held = opening.group.map { max($0.heldCount, $0.chargedCount) } ?? 0
    let kept = DocumentWeight.bytes(ofWindow: held)
    guard call.charge(weight + kept, for: target.id) else {
      database.unlisten(target.id, on: stream)
      return refuse(target.id, Self.tooManyTargets, call, &batch)
    }
    opening.group?.chargedCount = held
    batch.spend(size / ServerBatch.bytesPerStep)
    for push in pushes { call.send(push.message(for: target.id), &batch) }
    for change in opening.tail { tell(change, call, database, &batch) }
    if opening.end.isEmpty {
      if opening.group != nil { registry.emit(stream) } else { call.release(target.id) }
      return
    }
    let snapshot = try database.watch.snapshot(at: database.readTime, in: batch.reader)
    for change in [snapshot] + opening.end { tell(change, call, database, &batch) }
    call.release(target.id)
  }

  /// Returns the body of an initial snapshot; equal ones are encoded once.
  private func pushes(
    of opening: WatchOpening, _ call: DocumentCall, _ database: OpenDatabase
  ) -> [DocumentPush] {
    let mayLook = judge.allowsEverything(call.requester(in: database), database)
    if !mayLook, opening.body.contains(where: { $0.departed != nil }) {
      let time = database.readTime
      return opening.body.map { DocumentPush($0.withoutDeparted(at: time), database.names) }
    }
    if let id = opening.bodyID, let known = database.bodies[id] { return known }
    let pushes = opening.body.map { DocumentPush($0, database.names) }
    if let id = opening.bodyID {
      if database.bodies.isEmpty { registry.noteBodies(of: database) }
      database.bodies[id] = pushes
    }
    return pushes
  }

  /// Returns the target as it is watched: see ``DocumentJudge/executable(_:_:_:)``.
  private func executable(
    _ target: WatchTarget, _ call: DocumentCall, _ database: OpenDatabase
  ) -> WatchTarget {
    guard case .query(let watched) = target.subject else { return target }
    let query = DocumentQuery(watched)
    let executable = judge.executable(query, call, database)
    if executable == query { return target }
    return WatchTarget(
      id: target.id, subject: .query(executable.target), resume: target.resume,
      expectedCount: target.expectedCount, purpose: target.purpose, isOnce: target.isOnce)
  }

  /// Decides whether a requester may watch a subject.
  func verdict(
    on subject: WatchTarget.Subject, _ requester: Requester, _ database: OpenDatabase,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentVerdict {
    switch subject {
    case .query(let target):
      return try judge.verdict(on: [.list(DocumentQuery(target))], requester, database, batch)
    case .documents(let keys):
      if judge.authorizer(of: database).blanketVerdict(for: requester) == false {
        return DocumentVerdict(refusal: AccessRefusal())
      }
      // Judged one by one, so that no more than one document is in memory.
      var verdict = DocumentVerdict(refusal: nil, dependencies: [])
      for key in Set(keys).sorted() {
        let document = try database.authority.document(key, in: batch.counted)
        let next = try judge.verdict(
          on: [.get(document)], after: verdict.dependencies ?? [], requester, database, batch)
        if next.refusal != nil { return next }
        guard let more = next.dependencies else {
          verdict.dependencies = nil
          continue
        }
        verdict.dependencies?.formUnion(more)
      }
      return verdict
    }
  }

  /// Rejects an added target that cannot be read. Its client takes the target for ended, so one
  /// that was watched under that id ends as well.
  func refuseUnread(
    _ target: Int32, _ status: DocumentStatus, _ call: DocumentCall, _ batch: inout ServerBatch
  ) {
    if let stream = call.stream { call.database?.unlisten(target, on: stream) }
    call.cancelReadings(of: target)
    refuse(target, status, call, &batch)
  }

  /// Ends one target; the stream goes on.
  func refuse(
    _ target: Int32, _ status: DocumentStatus, _ call: DocumentCall, _ batch: inout ServerBatch
  ) {
    call.release(target)
    let change = WatchChange.target(WatchTargetChange(.removed(status), targets: [target]))
    // No name of a document is in it, and so no database is needed.
    call.send(DocumentResponse.listen(change).encode(DocumentNames()), &batch)
  }

  private func tell(
    _ change: WatchChange, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: inout ServerBatch
  ) {
    call.send(DocumentResponse.listen(change).encode(database.names), &batch)
  }
}
