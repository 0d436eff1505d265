public import TernCore
public import TernSync

/// The batches that wait for the server, and those it rejected.
public struct DocumentQueueStatus: Hashable, Sendable {
  /// In the order they were made.
  public let pending: WriteList<PendingDocumentBatch>
  /// In the order they were made.
  public let rejected: WriteList<RejectedDocumentBatch>
}

/// A batch that the server has not answered yet.
public struct PendingDocumentBatch: Hashable, Sendable, Identifiable {
  /// Grows with every batch of this run.
  public let id: UInt64
  /// The writes, in order.
  public let mutations: [DocumentMutation]
  /// Names it on this device, also after a restart, as ``RejectedDocumentBatch/id`` does if it is
  /// rejected; `nil` until it is durable.
  public let row: UInt64?
  /// True when it survives the end of the program.
  public var isDurable: Bool { row != nil }
}

/// A batch that the server rejected. It was taken back here, and is kept until it is sent again
/// or given up.
public struct RejectedDocumentBatch: Hashable, Sendable, Identifiable {
  /// The row of the queue that has it.
  public let id: UInt64
  /// The writes, in order.
  public let mutations: [DocumentMutation]
  /// The reason; its status is the name of a `DocumentStatus.Code`.
  public let reason: Rejection

  package init(id: UInt64, mutations: [DocumentMutation], reason: Rejection) {
    self.id = id
    self.mutations = mutations
    self.reason = reason
  }
}

extension Documents {
  /// The pending and rejected batches, now and whenever they change.
  public var queue: ListenSequence<DocumentQueueStatus, Never> {
    let session = session
    return ListenSequence(newest: { box in
      let id = await session.observeQueue(box)
      return { session.submit { $0.stopObserving(id) } }
    })
  }

  /// The pending and rejected batches.
  public var queueStatus: DocumentQueueStatus {
    get async { await session.queueStatus }
  }

  /// The batches the server has not answered, in the order they were made.
  public var pendingWrites: [PendingDocumentBatch] {
    get async { Array(await session.queueStatus.pending) }
  }

  /// The batches the server rejected, oldest first.
  public var rejectedWrites: [RejectedDocumentBatch] {
    get async { Array(await session.queueStatus.rejected) }
  }

  /// Sends a rejected batch again: as it was, or with other writes in its place.
  ///
  /// - Returns: When the batch is durable again on this device.
  /// - Throws: ``DocumentsError/queue(_:)`` with `QueueError.noSuchWrite(id:)` when it
  /// was
  ///   sent again or given up before.
  @discardableResult
  public func retry(
    _ rejected: RejectedDocumentBatch, as edited: [DocumentMutation]? = nil
  ) async throws(DocumentsError) -> DocumentWrite {
    try await write(edited ?? rejected.mutations, insteadOf: rejected.id)
  }

  /// Gives a rejected batch up.
  public func discard(_ rejected: RejectedDocumentBatch) async throws(DocumentsError) {
    let answer = Promise<QueueResult>()
    await session.discard(row: rejected.id) { answer.resolve($0) }
    if case .failed(let error) = await answer.value() { throw .queue(error) }
  }
}
