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
    switch await firstAnswer(.reachable(nil), { await Self.answer(write) }) {
    case .success: return .acknowledged
    case .failure(let error): throw failure(about: error)
    case nil:
      guard isDurable else { throw news.failure }
      return .queued
    }
  }

  /// The time a read has for the cache when the server has not answered in time.
  static let cachePatience = Duration.milliseconds(200)

  /// The result of a query, once; from the cache when the server does not answer in time.
  ///
  /// - Throws: ``Failure``: refused, or unreachable when the cache does not have all of it.
  func read(_ query: some TreeQuerying) async throws(Failure) -> TreeSnapshot {
    let read: @Sendable () async -> Result<TreeSnapshot, ReadError> = {
      do throws(ReadError) { return .success(try await query.get()) } catch {
        return .failure(error)
      }
    }
    switch await firstAnswer(isDurable ? .inTime(timeout) : .reachable(nil), read) {
    case .success(let snapshot): return snapshot
    case .failure(let error): throw failure(about: error)
    case nil: break
    }
    // A server that greets and then is silent leaves what is known here.
    let cached: TreeSnapshot?? =
      isDurable
      ? await firstAnswer(.inTime(Self.cachePatience)) { try? await query.once() } : nil
    guard let cached, let cached else { throw news.failure }
    return cached
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

  /// The deadline of a call.
  enum Bound: Sendable {
    /// When the time is over, or the server turns out to be away, as a connection tells; `nil` is
    /// the tree's.
    case reachable(Delivery<ConnectionState, Never>?)
    /// The end of this time.
    case inTime(Duration)
  }

  /// Returns the answer of `work`, or `nil` when it gives up.
  func firstAnswer<R: Sendable>(
    _ bound: Bound, _ work: @escaping @Sendable () async -> R
  ) async -> R? {
    let answer = Promise<R?>()
    var limit = timeout
    if case .inTime(let time) = bound { limit = time }
    var tasks = [
      Task { answer.resolve(await work()) },
      Task { [limit] in
        try? await ContinuousClock().sleep(for: limit)
        answer.resolve(nil)
      },
    ]
    if case .reachable(let connection) = bound {
      tasks.append(
        Task {
          for await state in connection ?? tern.tree.connection where state == .waiting {
            answer.resolve(nil)
          }
        })
    }
    defer { for task in tasks { task.cancel() } }
    return await answer.value()
  }
}
