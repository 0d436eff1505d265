import TernCore
import TernQuery
import TernSecurity
import TernStorage
import TernTreeEngine
import TernTreeWire

extension ServerMachine {
  /// Starts a listen: its data first, unless the client has them, then the answer.
  mutating func listen(
    _ listen: TreeListen, _ call: ServerCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let query = listen.query.normalized
    if let refusal = try refusal(of: listen.path, query, call, batch) {
      return respond(refusal, to: call, &batch)
    }
    if !query.loadsAllData, listen.tag == nil {
      let text = "A filtered listen needs a tag."
      return respond(.init(.failed, detail: text), to: call, &batch)
    }
    let session = call.session
    guard session.groups.count < options.limits.listens else {
      let text = "This session listens to \(options.limits.listens) queries already."
      return respond(.init(.failed, detail: text), to: call, &batch)
    }
    let group = call.namespace.listens.group(of: query, at: listen.path)
    var warnings: [String] = []
    do throws(StorageError) {
      if try leavesData(of: group, for: listen, call, batch) {
        warnings.append(TreeResponse.largeData)
      } else if try !pushData(of: group, to: listen, call, &batch) {
        call.namespace.listens.removeIfEmpty(group)
        return respond(tooBig, to: call, &batch)
      }
    } catch {
      call.namespace.listens.removeIfEmpty(group)
      guard error.isCorruption else { throw error }
      return respond(.init(.failed, detail: Self.damageText), to: call, &batch)
    }
    group.add(session.slot, tag: listen.tag)
    session.groups[ObjectIdentifier(group)] = group
    // The window is kept here all the same; the client says to its programmer what is missing.
    let isIndexed = query.loadsAllData || isIndexed(query, at: listen.path, in: call.namespace)
    if !isIndexed { warnings.append(TreeResponse.noIndex) }
    respond(.listening(warnings: warnings), to: call, &batch)
  }

  /// Whether the data of a listen are left to be read some other way, as its client allows.
  private func leavesData(
    of group: ListenGroup, for listen: TreeListen, _ call: ServerCall,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Bool {
    guard listen.leavesLargeData, group.window == nil else { return false }
    let reader = batch.reader
    return try call.namespace.rows.node(
      at: listen.path, limitBytes: options.limits.wholeReadBytes, in: Snapshot(reader)) == nil
  }

  private var tooBig: TreeResponse {
    .init(.tooBig, detail: "The data are larger than \(options.limits.answerBytes) bytes.")
  }

  static let damageText = "What is stored here is damaged."

  /// Sends what the group shows now, whole or in ranges; nothing when the client has it.
  ///
  /// - Returns: `false` when that is too much to send.
  private func pushData(
    of group: ListenGroup, to listen: TreeListen, _ call: ServerCall, _ batch: inout ServerBatch
  ) throws(StorageError) -> Bool {
    let id = ObjectIdentifier(group)
    let slot = call.session.slot
    if listen.hash.isEmpty, var push = batch.initialPushes[id] {
      batch.add(.send(slot: slot, push.frame(for: listen.tag)))
      batch.initialPushes[id] = push
      return true
    }
    if let shown = group.shownHash, shown == listen.hash { return true }
    guard let node = try data(of: group, in: call.namespace, batch) else { return false }
    if listen.hash.isEmpty {
      if node.isEmpty { return true }
    } else {
      // Many clients come back at once, most of them with what the others have.
      let hash = group.shownHash ?? node.hash
      group.shownHash = hash
      if hash == listen.hash { return true }
    }
    if let ranges = listen.compoundHash.flatMap({ node.rangeMerges(for: $0) }) {
      let push = TreePush(
        path: listen.path, ranges, tag: listen.tag, version: batch.version)
      batch.add(.send(slot: slot, TreeServerMessage.rangeMerge(push).encode()))
      return true
    }
    var frame = PushFrame(.put(TreePush(path: listen.path, node, version: batch.version)))
    if frame.plain.count > options.limits.answerBytes { return false }
    batch.add(.send(slot: slot, frame.frame(for: listen.tag)))
    batch.initialPushes[id] = frame
    return true
  }

  /// Reads what a group shows; fills the window of a filtered one. `nil` when that is too much.
  private func data(
    of group: ListenGroup, in namespace: Namespace, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> TreeNode? {
    let reader = batch.reader
    let path = group.node.path
    guard var window = group.window else {
      return try namespace.rows.node(
        at: path, limitBytes: options.limits.readBytes, in: Snapshot(reader))
    }
    if group.isLoaded {
      return try window.shown(at: path, of: namespace.rows, in: Snapshot(reader))
    }
    let node = try window.load(path, of: namespace.rows, in: Snapshot(reader))
    group.window = window
    group.isLoaded = true
    return node
  }

  /// Ends a listen.
  mutating func unlisten(
    _ path: TreePath, _ query: TreeQuery, _ call: ServerCall, _ batch: inout ServerBatch
  ) {
    let listens = call.namespace.listens
    if let group = listens.existingGroup(of: query.normalized, at: path) {
      remove(call.session, from: group, in: call.namespace)
    }
    respond(.init(.ok), to: call, &batch)
  }

  func remove(_ session: Session, from group: ListenGroup, in namespace: Namespace) {
    group.remove(session.slot)
    session.groups[ObjectIdentifier(group)] = nil
    namespace.listens.removeIfEmpty(group)
  }

  /// Reads once.
  func get(
    _ path: TreePath, _ query: TreeQuery, _ call: ServerCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if let refusal = try refusal(of: path, query, call, batch) {
      return respond(refusal, to: call, &batch)
    }
    guard isIndexed(query, at: path, in: call.namespace) else {
      let text = Self.indexText(query, at: path)
      return respond(.init(.failed, detail: text), to: call, &batch)
    }
    let rows = call.namespace.rows
    let reader = batch.reader
    do throws(StorageError) {
      let node: TreeNode
      if query.loadsAllData {
        let limit = options.limits.readBytes
        guard let whole = try rows.node(at: path, limitBytes: limit, in: Snapshot(reader)) else {
          return respond(tooBig, to: call, &batch)
        }
        node = whole
      } else {
        var window = QueryWindow(query)
        node = try window.load(path, of: rows, in: Snapshot(reader))
      }
      let answer = TreeResponse.data(node)
      let isTooBig = answer.payload.count > options.limits.answerBytes
      respond(isTooBig ? tooBig : answer, to: call, &batch)
    } catch {
      guard error.isCorruption else { throw error }
      respond(.init(.failed, detail: Self.damageText), to: call, &batch)
    }
  }

  /// Why a client may not read; `nil` when it may.
  func refusal(
    of path: TreePath, _ query: TreeQuery, _ call: ServerCall, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> TreeResponse? {
    if path.isInfo { return .init(.failed, detail: "Only the client itself knows \(path).") }
    let limit = TreeLimits.storedPathBytes
    if path.byteCount > limit {
      return .init(.failed, detail: TreeError.pathTooLong(path, limitBytes: limit).text)
    }
    return try denial(of: path, query, call, batch).map {
      .init(.permissionDenied, detail: $0.text)
    }
  }

  /// Why the authorizer lets a client not read; `nil` when it does.
  func denial(
    of path: TreePath, _ query: TreeQuery, _ call: ServerCall, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> AccessRefusal? {
    try readRefusal(
      of: path, query, by: call.session.requester(in: call.namespace), call.namespace, batch)
  }

  /// Returns the authorizer's denial of a read; `nil` when the requester may read.
  func readRefusal(
    of path: TreePath, _ query: TreeQuery, by requester: Requester, _ namespace: Namespace,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> AccessRefusal? {
    let reading = TreeReading(namespace.rows, batch.reader)
    let denial = authorizer(of: namespace).readRefusal(
      path, query, by: requester, now: batch.now, in: reading.state)
    try reading.finish()
    return denial
  }
}

extension PushFrame {
  /// The frame for a listen with that tag, or with none.
  fileprivate mutating func frame(for tag: Int64?) -> [UInt8] {
    if let tag { return frame(tag: tag) }
    return plain
  }
}
