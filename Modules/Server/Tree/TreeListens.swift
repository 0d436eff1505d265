import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTreeAuthority
import TernTreeRows
import TernTreeWire

/// Decides reads and listens of sessions.
struct TreeListens {
  let limits: ServerLimits

  /// Starts a listen: its data first, unless the client has them, then the answer.
  func listen(
    _ listen: TreeListen, _ call: TreeCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let query = listen.query.normalized
    if let refusal = try call.access.refusal(of: listen.path, query, batch) {
      return batch.respond(refusal, to: call)
    }
    if !query.loadsAllData, listen.tag == nil {
      let text = "A filtered listen needs a tag."
      return batch.respond(.init(.failed, detail: text), to: call)
    }
    let session = call.session
    guard session.listens.count < limits.listens else {
      let text = "This session listens to \(limits.listens) queries already."
      return batch.respond(.init(.failed, detail: text), to: call)
    }
    let group = call.namespace.listens.group(of: query, at: listen.path)
    let charge = session.listens.contains(group) ? 0 : group.listenBytes
    guard session.charge.add(charge) else {
      call.namespace.listens.removeIfEmpty(group)
      return batch.respond(tooMuchMemory, to: call)
    }
    var warnings: [String] = []
    do throws(StorageError) {
      if try leavesData(of: group, for: listen, call, batch) {
        warnings.append(TreeResponse.largeData)
      } else if let refusal = try pushData(of: group, to: listen, call, &batch) {
        session.charge.remove(charge)
        call.namespace.listens.removeIfEmpty(group)
        return batch.respond(refusal, to: call)
      }
    } catch {
      session.charge.remove(charge)
      call.namespace.listens.removeIfEmpty(group)
      guard error.isCorruption else { throw error }
      return batch.respond(.init(.failed, detail: RefusalText.damaged), to: call)
    }
    group.add(session.slot, tag: listen.tag)
    session.listens.add(group)
    // The window is kept here all the same; the client says to its programmer what is missing.
    let isIndexed = query.loadsAllData || call.access.isIndexed(query, at: listen.path)
    if !isIndexed { warnings.append(TreeResponse.noIndex) }
    batch.respond(.listening(warnings: warnings), to: call)
  }

  /// Returns true when the data of a listen are left out, to be read some other way, as its client
  /// allows.
  private func leavesData(
    of group: ListenGroup, for listen: TreeListen, _ call: TreeCall,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Bool {
    guard listen.leavesLargeData, group.window == nil else { return false }
    let reader = batch.reader
    return try call.namespace.rows.node(
      at: listen.path, limitBytes: limits.wholeReadBytes, in: Snapshot(reader)) == nil
  }

  private var tooBig: TreeResponse {
    .init(.tooBig, detail: "The data are larger than \(limits.answerBytes) bytes.")
  }

  private var tooMuchMemory: TreeResponse {
    .init(
      .failed,
      detail: "The listens of this address or user hold their share of the server's memory.")
  }

  /// Sends what the group shows now, whole or in ranges; nothing when the client has it.
  ///
  /// - Returns: The refusal when that is too much to send, or to keep; else `nil`.
  private func pushData(
    of group: ListenGroup, to listen: TreeListen, _ call: TreeCall, _ batch: inout ServerBatch
  ) throws(StorageError) -> TreeResponse? {
    let id = ObjectIdentifier(group)
    let slot = call.session.slot
    if listen.hash.isEmpty, var push = batch.initialPushes[id] {
      batch.add(.send(slot: slot, push.frame(for: listen.tag)))
      batch.initialPushes[id] = push
      return nil
    }
    if let shown = group.shownHash, shown == listen.hash { return nil }
    guard let node = try data(of: group, in: call.namespace, &batch) else { return tooBig }
    if !group.chargeWindow(showing: node, to: call.session.charge) { return tooMuchMemory }
    if listen.hash.isEmpty {
      if node.isEmpty { return nil }
    } else {
      // Many clients come back at once, most of them with what the others have.
      let hash = group.shownHash ?? node.hash
      group.shownHash = hash
      if hash == listen.hash { return nil }
    }
    if let ranges = listen.compoundHash.flatMap({ node.rangeMerges(for: $0) }) {
      let push = TreePush(
        path: listen.path, ranges, tag: listen.tag, version: batch.version)
      batch.add(.send(slot: slot, TreeServerMessage.rangeMerge(push).encode()))
      return nil
    }
    var frame = PushFrame(.put(TreePush(path: listen.path, node, version: batch.version)))
    if frame.plain.count > limits.answerBytes { return tooBig }
    batch.spend(frame.plain.count / ServerBatch.bytesPerStep)
    batch.add(.send(slot: slot, frame.frame(for: listen.tag)))
    batch.initialPushes[id] = frame
    return nil
  }

  /// Reads what a group shows; fills the window of a filtered one. `nil` when that is too much.
  private func data(
    of group: ListenGroup, in namespace: Namespace, _ batch: inout ServerBatch
  ) throws(StorageError) -> TreeNode? {
    let reader = batch.reader
    let path = group.node.path
    guard var window = group.window else {
      return try namespace.rows.node(
        at: path, limitBytes: limits.readBytes, in: Snapshot(reader))
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
  func unlisten(
    _ path: TreePath, _ query: TreeQuery, _ call: TreeCall, _ batch: inout ServerBatch
  ) {
    let listens = call.namespace.listens
    if let group = listens.existingGroup(of: query.normalized, at: path) {
      call.namespace.remove(call.session, from: group)
    }
    batch.respond(.init(.ok), to: call)
  }

  /// Reads once.
  func get(
    _ path: TreePath, _ query: TreeQuery, _ call: TreeCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if let refusal = try call.access.refusal(of: path, query, batch) {
      return batch.respond(refusal, to: call)
    }
    guard call.access.isIndexed(query, at: path) else {
      let text = TreeAccess.indexText(query, at: path)
      return batch.respond(.init(.failed, detail: text), to: call)
    }
    let rows = call.namespace.rows
    let reader = batch.reader
    do throws(StorageError) {
      let node: TreeNode
      if query.loadsAllData {
        let limit = limits.readBytes
        guard let whole = try rows.node(at: path, limitBytes: limit, in: Snapshot(reader)) else {
          return batch.respond(tooBig, to: call)
        }
        node = whole
      } else {
        var window = QueryWindow(query)
        node = try window.load(path, of: rows, in: Snapshot(reader))
      }
      let answer = TreeResponse.data(node)
      batch.spend(answer.payload.count / ServerBatch.bytesPerStep)
      let isTooBig = answer.payload.count > limits.answerBytes
      batch.respond(isTooBig ? tooBig : answer, to: call)
    } catch {
      guard error.isCorruption else { throw error }
      batch.respond(.init(.failed, detail: RefusalText.damaged), to: call)
    }
  }

}

extension PushFrame {
  /// The frame for a listen with that tag, or with none.
  fileprivate mutating func frame(for tag: Int64?) -> [UInt8] {
    if let tag { return frame(tag: tag) }
    return plain
  }
}
