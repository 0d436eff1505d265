package import TernCore
package import TernLedger
import TernStorage
import TernSync
import TernTransport

/// The operations of a server for those who run it. Callable from any thread.
package struct ServerOperations: Sendable {
  private let server: TernServer

  /// The operations of a server.
  package init(of server: TernServer) { self.server = server }

  /// The readiness as of now, asked on the server's executor.
  package var readiness: ServerReadiness {
    get async { await server.reading(nil) { $0.server.readiness } }
  }

  /// The figures in the text format of Prometheus.
  package func metricsText() async -> MetricsText {
    let statistics = try? await server.ledger.statistics()
    return await server.reading(statistics ?? nil) { $0.metrics }
  }

  /// The status for operators. Source: Docs/Formats/admin.md, section 4.
  package func status(connections limit: Int) async -> [JSONValue.Member] {
    let statistics = try? await server.ledger.statistics()
    return await server.reading(statistics ?? nil) { $0.status(connections: limit) }
  }

  /// The open connections, those that hold most first.
  package func connections(limit: Int) async -> [JSONValue.Member] {
    await server.reading(nil) { $0.connections(limit: limit) }
  }

  /// Ends a connection; `false` when there is none of that id.
  package func closeConnection(_ id: String) async -> Bool { await server.closeConnection(id) }

  /// Lists the databases with stored data, on a thread beside the server's executor.
  ///
  /// - Parameter sizes: True to count what they hold, for two seconds at the most.
  package func storedDatabases(sizes: Bool) async throws(LedgerError) -> [JSONValue] {
    let reading = StoredDatabases(uptime: server.uptime, counts: sizes)
    let ledger = server.ledger
    let read = Task(executorPreference: ExportQueue()) {
      await Self.result(of: reading, from: ledger)
    }
    let databases = try await read.value.get()
    let sessions = await server.reading(nil) { $0.sessionsByTree }
    return databases.map { $0.json(sessions: sessions, sizes: sizes) }
  }

  private static func result(
    of reading: StoredDatabases, from ledger: any Ledger
  ) async -> Result<[StoredDatabase], LedgerError> {
    do throws(LedgerError) {
      return .success(
        try await ledger.read { snapshot throws(StorageError) in try reading.read(in: snapshot) })
    } catch {
      return .failure(error)
    }
  }

  /// Removes a database of the tree: everything in it, and its rules and settings.
  package func removeDatabase(_ name: String) async -> DirectAnswer {
    var request = DirectRequest(namespace: name, isLocal: true, .removeDatabase)
    request.isOperator = true
    let asked = request
    return await withCheckedContinuation { done in
      Task { await server.ask(asked) { done.resume(returning: $0) } }
    }
  }

  /// Prepares for the end: no further client is accepted, what has arrived is decided and answered,
  /// and all clients are told to connect again. ``TernServer/stop()`` follows.
  ///
  /// - Parameter grace: The longest time that this takes; what is not done by then is given up.
  package func drain(within grace: Duration) async {
    guard let listeners = await server.beginLeaving() else { return }
    for listener in listeners { await listener.close() }
    let deadline = server.uptime() + grace.milliseconds
    await wait(until: deadline) { await server.isIdle }
    await server.letAllGo()
    await wait(until: deadline) { await server.linkCount == 0 }
  }

  private func wait(until deadline: Int64, _ isDone: () async -> Bool) async {
    while await !isDone(), server.uptime() < deadline {
      do { try await server.ambient.clock.sleep(for: .milliseconds(5)) } catch { return }
    }
  }
}

extension TernServer {
  /// Reads the parts of the server on its executor.
  func reading<R: Sendable>(
    _ statistics: LedgerStatistics?, _ body: @Sendable (ServerReport) -> R
  ) -> R {
    let busyTime = isDraining || !inbox.isEmpty ? uptime() - lastBatch : 0
    let readiness = ServerReadiness(
      batches.machine.diskSpace, busyTime, isClosed: options.farewell != nil,
      isDraining: surroundings.isDraining, isStopped: end != nil)
    return body(
      ServerReport(
        server: .init(
          batches: batches, links: links, memory: memory, exports: exports, budget: budget,
          metrics: metrics, surroundings: surroundings, readiness: readiness, uptime: uptime(),
          now: ambient.millisecondsSinceEpoch(), waiting: (inbox.count, requests.count)),
        ledger: statistics))
  }

  fileprivate func closeConnection(_ id: String) -> Bool {
    guard let state = links.link(named: id), state.reason == nil else { return false }
    perform(batches.machine.sessions.farewells(.closedByOperator, to: state.slot))
    close(state, .closedByOperator)
    return true
  }

  /// Reads nothing more. A client sends again what is still under way.
  ///
  /// - Returns: The listeners to close; `nil` when the server leaves already or has ended.
  fileprivate func beginLeaving() -> [any TransportListener]? {
    guard end == nil, !surroundings.isDraining else { return nil }
    surroundings.isDraining = true
    for state in links.all { state.leave() }
    return exchange(&listeners, with: [])
  }

  /// True when nothing waits to be decided or answered.
  fileprivate var isIdle: Bool {
    !isDraining && inbox.isEmpty && requests.count == 0 && exports.count == 0
      && links.all.allSatisfy { $0.behind.isEmpty }
  }

  fileprivate func letAllGo() {
    let reason = SessionEnd.serverStopped("the server stops; connect again")
    perform(batches.machine.sessions.farewells(reason))
    closeAll(reason)
  }
}
