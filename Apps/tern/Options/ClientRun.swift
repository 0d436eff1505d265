import TernClient
import TernCore
import TernSync

/// A client while one command uses it.
struct ClientRun: Sendable {
  let tern: TernDatabase
  /// True when writes survive the command.
  let isDurable: Bool
  let timeout: Duration
  let news: ConnectionNews

  /// The outcome of a write before the command had to end.
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
  /// The same where a part will do: it is there at once, if the machine is not busy.
  private static let partPatience = Duration.seconds(2)

  /// The result of a query, once; from the cache when the server does not answer in time.
  ///
  /// - Parameter takesParts: Whether a part that this device knows is better than nothing; the
  ///   snapshot says whether it is one.
  /// - Throws: ``Failure``: refused, or unreachable when the cache does not have all of it.
  func read(
    _ query: some TreeQuerying, takesParts: Bool = false
  ) async throws(Failure) -> TreeSnapshot {
    let read: @Sendable () async -> Result<TreeSnapshot, ReadError> = {
      do throws(ReadError) { return .success(try await query.get()) } catch {
        return .failure(error)
      }
    }
    switch await firstAnswer(isDurable ? .inTime(timeout) : .reachable(nil), read) {
    case .success(let snapshot): return snapshot
    case .failure(.offline) where takesParts && isDurable: break
    case .failure(let error): throw failure(about: error)
    case nil: break
    }
    // A server that greets and then is silent leaves what is known here.
    guard isDurable else { throw news.failure }
    let patience = takesParts ? Self.partPatience : Self.cachePatience
    let cached: TreeSnapshot?? = await firstAnswer(.inTime(patience)) {
      guard takesParts else { return try? await query.once() }
      var known = query.snapshots().makeAsyncIterator()
      return try? await known.next()
    }
    guard let cached, let cached, cached.isComplete || cached.exists else { throw news.failure }
    return cached
  }

  /// The failure of a command that has printed only a part, because the server is away.
  var partFailure: Failure {
    let failure = news.failure
    return Failure(
      failure.code, "\(failure.message); incomplete: this is what is known on this device")
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
    /// After the time limit, or when the given connection turns out to be offline; `nil` is the
    /// tree's.
    case reachable(ListenSequence<ConnectionState, Never>?)
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
