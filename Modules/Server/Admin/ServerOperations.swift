package import TernCore
package import TernLedger
import TernStorage
import TernSync
import TernTransport

/// The operations of a server for those who run it. Callable from any thread.
package struct ServerOperations: Sendable {
  let server: TernServer

  /// The operations of a server.
  package init(of server: TernServer) { self.server = server }

  /// The readiness as of now, asked on the server's executor.
  package var readiness: ServerReadiness {
    get async { await ServerReport.read(server) { $0.server.readiness } }
  }

  /// The figures, to be written in the text format of Prometheus by the caller. The server's
  /// executor only tells its numbers.
  package func metricsText() async -> MetricsText {
    let outside = await ServerReport.Outside.read(server)
    var text = await ServerReport.read(server, outside) { $0.metrics }
    server.surroundings.moreFigures?(&text)
    return text
  }

  /// The status for operators. Source: Docs/Formats/admin.md, section 4.
  package func status(connections limit: Int) async -> [JSONValue.Member] {
    let outside = await ServerReport.Outside.read(server)
    return await ServerReport.read(server, outside) { $0.status(connections: limit) }
  }

  /// The open connections, those that hold most first.
  package func connections(limit: Int) async -> [JSONValue.Member] {
    await ServerReport.read(server) { $0.connections(limit: limit) }
  }

  /// Ends a connection; `false` when there is none of that id.
  package func closeConnection(_ id: String) async -> Bool {
    await OperatorSteps.closeConnection(id, at: server)
  }

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
    let sessions = await ServerReport.read(server) { $0.sessionsByTree }
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
  ///
  /// - Parameter requester: A request of the operator. The node that decides, which may be another
  ///   one, judges its credential.
  package func removeDatabase(_ name: String, for requester: DirectRequest) async -> DirectAnswer {
    await ask(.removeDatabase, of: name, for: requester)
  }

  /// Removes the rules that a database of documents was given for itself, if any.
  ///
  /// - Parameters:
  ///   - name: The resource name, `projects/P/databases/D`.
  ///   - requester: As for ``removeDatabase(_:for:)``.
  package func removeDocumentRules(
    of name: String, for requester: DirectRequest
  ) async -> DirectAnswer {
    await ask(.removeDocumentRules, of: name, for: requester)
  }

  private func ask(
    _ operation: DirectRequest.Operation, of name: String, for requester: DirectRequest
  ) async -> DirectAnswer {
    var request = requester
    (request.namespace, request.operation) = (name, operation)
    let asked = request
    return await withCheckedContinuation { done in
      Task { await server.ask(asked) { done.resume(returning: $0) } }
    }
  }

  /// Prepares for the end: no further client is accepted, what has arrived is decided and answered,
  /// and all clients are told to connect again. ``TernServer/stop()`` follows.
  ///
  /// The order: no new connections, no more reading from links, everything that arrived is decided,
  /// then all clients are told and their links closed. Clients send again what was not
  /// acknowledged.
  ///
  /// - Parameter grace: The longest time that this takes; what is not done by then is given up.
  package func drain(within grace: Duration) async {
    guard let listeners = await OperatorSteps.beginLeaving(server) else { return }
    for listener in listeners { await listener.close() }
    let deadline = server.uptime() + grace.milliseconds
    await wait(until: deadline) { await OperatorSteps.isIdle(server) }
    await OperatorSteps.letAllGo(server)
    await wait(until: deadline) { await server.linkCount == 0 }
  }

  /// Waits for a condition, up to a deadline.
  ///
  /// Polls every 5 ms on the injected clock, because draining has no single event to wait for.
  private func wait(until deadline: Int64, _ isDone: () async -> Bool) async {
    while await !isDone(), server.uptime() < deadline {
      do { try await server.ambient.clock.sleep(for: .milliseconds(5)) } catch { return }
    }
  }
}

/// Steps of an operator's commands that take place on the server's executor.
private enum OperatorSteps {
  static func closeConnection(_ id: String, at server: isolated TernServer) -> Bool {
    guard let state = server.links.link(named: id), state.reason == nil else { return false }
    server.perform(server.batches.machine.sessions.farewells(.closedByOperator, to: state.slot))
    server.close(state, .closedByOperator)
    return true
  }

  /// Reads nothing more. A client sends again what is still under way.
  ///
  /// - Returns: The listeners to close; `nil` when the server leaves already or has ended.
  static func beginLeaving(_ server: isolated TernServer) -> [any TransportListener]? {
    guard server.end == nil, !server.surroundings.isDraining else { return nil }
    server.surroundings.isDraining = true
    for state in server.links.all { state.leave() }
    return exchange(&server.listeners, with: [])
  }

  /// Returns true when nothing waits to be decided or answered.
  static func isIdle(_ server: isolated TernServer) -> Bool {
    !server.isDraining && server.inbox.isEmpty && server.requests.count == 0
      && server.exports.isIdle && server.part.shards?.exports.isIdle != false
      && server.links.all.allSatisfy { $0.behind.isEmpty && $0.requests == 0 }
  }

  static func letAllGo(_ server: isolated TernServer) {
    let reason = SessionEnd.serverStopped("the server stops; connect again")
    server.perform(server.batches.machine.sessions.farewells(reason))
    server.closeAll(reason)
  }
}
