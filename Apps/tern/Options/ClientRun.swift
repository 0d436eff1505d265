import TernClient
import TernCore
import TernSync

/// A client while one command uses it.
struct ClientRun: Sendable {
  let tern: Tern
  /// Whether writes survive the command.
  let isDurable: Bool
  let timeout: Duration
  let news: ConnectionNews

  /// What became of a write before the command had to end.
  enum Verdict: Sendable {
    case acknowledged
    /// It is on this device, and will be sent by a later command.
    case queued
  }

  /// The place at a path.
  func reference(_ text: String) throws(Failure) -> TreeReference {
    tern.tree[try path(text)]
  }

  /// Waits for the server's verdict on a write.
  ///
  /// - Throws: ``Failure``: refused, or unreachable when nothing is kept.
  func settle(_ write: TreeWriteHandle) async throws(Failure) -> Verdict {
    switch await firstAnswer({ await Self.answer(write) }) {
    case .success: return .acknowledged
    case .failure(let error): throw failure(about: error)
    case nil:
      guard isDurable else { throw news.failure }
      return .queued
    }
  }

  /// The result of a query, once.
  ///
  /// - Throws: ``Failure``: refused, or unreachable when the cache does not have all of it.
  func read(_ query: some TreeQuerying) async throws(Failure) -> TreeSnapshot {
    let read: @Sendable () async -> Result<TreeSnapshot, ReadError> = {
      do throws(ReadError) { return .success(try await query.get()) } catch {
        return .failure(error)
      }
    }
    let answer = isDurable ? await read() : await firstAnswer(read)
    switch answer {
    case .success(let snapshot): return snapshot
    case .failure(let error): throw failure(about: error)
    case nil: throw news.failure
    }
  }

  /// Puts an error into words; a server that is away with the reason.
  func failure(about error: any Error) -> Failure {
    let failure = Failure(about: error)
    return failure == .unreachable ? news.failure : failure
  }

  private static func answer(
    _ write: TreeWriteHandle
  ) async -> Result<Void, AcknowledgementError> {
    do throws(AcknowledgementError) { return .success(try await write.acknowledged()) } catch {
      return .failure(error)
    }
  }

  /// What `work` answers; `nil` when the server turns out to be away, or the time is over.
  ///
  /// - Parameter connection: Which connection tells; `nil` is the tree's.
  func firstAnswer<R: Sendable>(
    over connection: Delivery<ConnectionState, Never>? = nil,
    _ work: @escaping @Sendable () async -> R
  ) async -> R? {
    let answer = Promise<R?>()
    let tasks = [
      Task { answer.resolve(await work()) },
      Task {
        try? await ContinuousClock().sleep(for: timeout)
        answer.resolve(nil)
      },
      Task {
        for await state in connection ?? tern.tree.connection where state == .waiting {
          answer.resolve(nil)
        }
      },
    ]
    defer { for task in tasks { task.cancel() } }
    return await answer.value()
  }
}
