public import TernCore
import TernSync
import TernTreeReplica

/// A write that is durable on this device.
public struct TreeWriteHandle: Sendable {
  private let promise: WritePromise
  /// A caller that waits for a verdict needs the connection that it comes over.
  private let session: TreeSession?

  /// Waits until the write is durable.
  init(_ promise: WritePromise, of session: TreeSession? = nil) async throws(WriteError) {
    self.promise = promise
    self.session = session
    switch await promise.stored.value() {
    case .success: return
    case .failure(let error): throw error
    }
  }

  /// Waits for the server's verdict; without a connection, until there is one.
  ///
  /// - Throws: ``AcknowledgementError``. A cancelled wait does not take the write back.
  public func acknowledged() async throws(AcknowledgementError) {
    try Self.check(await promise.end.value(ifCancelled: .waitCancelled), within: .zero)
  }

  /// Waits for the server's verdict, but not longer than `limit`.
  ///
  /// - Throws: ``AcknowledgementError``; ``AcknowledgementError/timedOut(after:)`` leaves the write
  ///   in the queue, to be sent when there is a connection.
  public func acknowledged(within limit: Duration) async throws(AcknowledgementError) {
    let end = await promise.end.value(
      ifCancelled: .waitCancelled, within: limit, on: session?.clock ?? ContinuousClock(),
      late: .waitExpired)
    try Self.check(end, within: limit)
  }

  private static func check(_ end: WriteEnd, within limit: Duration) throws(AcknowledgementError) {
    switch end {
    case .accepted: return
    case .rejected(let rejection): throw .rejected(rejection)
    case .purged: throw .purged
    case .closed: throw .closed
    case .notStored(let error): throw .notStored(error)
    case .waitCancelled: throw .cancelled
    case .waitExpired: throw .timedOut(after: limit)
    }
  }
}

// Every write is seen by this client's listeners at once, and returns when it is durable here.

extension TreeReference {
  /// Replaces everything at and below this place; an empty node removes it.
  ///
  /// ```swift
  /// try await room.set(["title": "Hi", "open": true, "since": .timestamp])
  /// ```
  @discardableResult
  public func set(
    _ node: TreeNode, priority: TreeScalar? = nil
  ) async throws(WriteError) -> TreeWriteHandle {
    try await write(.set(path, priority == nil ? node : node.withPriority(priority)))
  }

  /// Replaces everything at and below this place by an encoded value.
  @discardableResult
  public func set(from value: some Encodable) async throws(WriteError) -> TreeWriteHandle {
    let node: TreeNode
    do throws(TreeCodingError) {
      node = try TreeEncoder().encode(value)
    } catch {
      throw .coding(error.at(description))
    }
    return try await set(node)
  }

  /// Replaces what is at several paths below this place, all or none; an empty node removes.
  ///
  /// ```swift
  /// try await root.update(["posts/7": post, "users/ann/posts/7": true, "drafts/7": .empty])
  /// ```
  @discardableResult
  public func update(_ values: [String: TreeNode]) async throws(WriteError) -> TreeWriteHandle {
    let merge: TreeMerge
    do throws(TreeError) {
      var entries: [TreeMerge.Entry] = []
      for (text, node) in values {
        entries.append(TreeMerge.Entry(path: try TreePath(writable: text), node: node))
      }
      merge = try TreeMerge(entries)
    } catch {
      throw .invalid(error)
    }
    return try await write(.merge(path, merge))
  }

  /// Removes everything at and below this place.
  @discardableResult
  public func remove() async throws(WriteError) -> TreeWriteHandle { try await set(.empty) }

  /// Adds an encoded value as a child under a new name that sorts after those made before.
  @discardableResult
  public func push(
    from value: some Encodable
  ) async throws(WriteError) -> (reference: TreeReference, write: TreeWriteHandle) {
    let reference = await newChild()
    return (reference, try await reference.set(from: value))
  }

  /// Adds a child under a new name that sorts after those made before.
  @discardableResult
  public func push(
    _ node: TreeNode
  ) async throws(WriteError) -> (reference: TreeReference, write: TreeWriteHandle) {
    let reference = await newChild()
    return (reference, try await reference.set(node))
  }

  /// Sets or clears the priority of what is here; nothing happens where nothing is.
  @discardableResult
  public func setPriority(_ priority: TreeScalar?) async throws(WriteError) -> TreeWriteHandle {
    try await write(.set(path.appending(.priority), priority.map { TreeNode($0) } ?? .empty))
  }

  /// Adds to the number here, on the server: increments of many clients never get lost.
  @discardableResult
  public func increment(by delta: TreeScalar = 1) async throws(WriteError) -> TreeWriteHandle {
    try await set(.increment(by: delta))
  }

  private func write(_ write: TreeWrite) async throws(WriteError) -> TreeWriteHandle {
    if let problem { throw .invalid(problem) }
    do throws(TreeError) { try write.validateForStoring() } catch { throw .invalid(error) }
    return try await TreeWriteHandle(await session.write(write), of: session)
  }
}

extension TreeNode {
  /// The time at which the server commits the write, in milliseconds since 1970.
  public static var timestamp: TreeNode { TreeNode(.serverValue(.timestamp)) }

  /// The number that is there when the server commits the write, plus this one.
  public static func increment(by delta: TreeScalar) -> TreeNode {
    TreeNode(.serverValue(.increment(delta)))
  }
}
