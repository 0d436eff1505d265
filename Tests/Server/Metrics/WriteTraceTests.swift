import InMemoryTracing
import Synchronization
import TernCore
import TernLedger
import TernQuery
import TernStorageMemory
import TernSync
import TernTestKit
import TernTransportLoopback
import TernTreeWire
import Testing
import Tracing

@testable import TernServer

@Suite("The way of a write", .timeLimit(.minutes(10))) struct WriteTraceTests {
  private func withServer(
    _ body: (TernServer, RawClient) async throws -> Void
  ) async throws {
    let transport = LoopbackTransport()
    let environment = RuntimeEnvironment(
      millisecondsSinceEpoch: { 1_700_000_000_000 }, clock: RuntimeEnvironment.system.clock,
      randomBits: RuntimeEnvironment.system.randomBits)
    let server = try await TernServer(
      ledger: EmbeddedLedger(store: MemoryStore()) { 0 }, on: transport, ambient: environment)
    try await server.listen(on: transport)
    let client = try await RawClient.connect(transport)
    try await body(server, client)
    await server.stop()
  }

  /// Writes several values together, and waits until nothing of it is under way.
  private func write(_ values: [Int64], _ client: RawClient) async {
    for value in values {
      client.request(.put("a/b", TreeNode(.integer(value)), expectedHash: nil, .none))
    }
    for _ in values { #expect(await client.next()?.brief == "ok") }
    await settle(client)
  }

  /// Waits for an answer of a later batch: spans are made behind the answers of their own.
  private func settle(_ client: RawClient) async {
    client.send(.ping)
    #expect(await client.next()?.brief == "pong")
  }

  @Test("a tracer has one span of each write, with its steps in it, in their order")
  func spans() async throws {
    try await withServer { server, client in
      let tracer = InMemoryTracer()
      await server.trace(with: tracer)
      await write([1, 2, 3], client)
      client.request(.get("a", .all))
      #expect(await client.next()?.brief == "ok")
      await settle(client)

      let spans = tracer.finishedSpans
      let writes = spans.filter { $0.operationName == "tern.write" }
      #expect(writes.count == 3 && tracer.activeSpans.isEmpty)
      for write in writes {
        #expect(write.attributes.get("tern.model") == .string("tree"))
        #expect(write.attributes.get("tern.outcome") == .string("accepted"))
        #expect(write.attributes.get("tern.direct") == .bool(false))
        let steps = spans.filter { $0.parentSpanID == write.spanID }
          .sorted { $0.startInstant.nanosecondsSinceEpoch < $1.startInstant.nanosecondsSinceEpoch }
        #expect(
          Set(steps.map(\.operationName))
            == ["tern.write.wait", "tern.write.judge", "tern.write.commit", "tern.write.tell"])
        #expect(
          steps.first?.startInstant.nanosecondsSinceEpoch
            == write.startInstant.nanosecondsSinceEpoch)
        let last = steps.map(\.endInstant.nanosecondsSinceEpoch).max()
        #expect(last == write.endInstant.nanosecondsSinceEpoch)
        let seconds = write.endInstant.nanosecondsSinceEpoch / 1_000_000_000
        #expect(seconds == 1_700_000_000, "spans are dated by the wall clock")
      }
    }
  }

  @Test("nothing is traced unless it is asked for, and no longer when it was taken back")
  func off() async throws {
    try await withServer { server, client in
      let tracer = InMemoryTracer()
      await write([1], client)
      await server.trace(with: tracer)
      await server.trace(with: nil)
      await write([2], client)
      #expect(tracer.finishedSpans.isEmpty)
    }
  }

  @Test("a rejected write, and one without a session, are told as what they are")
  func outcomes() async throws {
    try await withServer { server, client in
      let told = Mutex<[WriteTrace]>([])
      await server.traceWrites { trace in told.withLock { $0.append(trace) } }
      client.request(.put("a", TreeNode(.integer(1)), expectedHash: "other", .none))
      #expect(await client.next()?.brief == TreeStatus.dataStale.rawValue)
      let request = DirectRequest(
        namespace: "default", isLocal: true,
        .write(.set("c", TreeNode(.integer(1))), expectedHash: nil))
      let answer = await withCheckedContinuation { done in
        server.assumeAsked(request) { done.resume(returning: $0) }
      }
      guard case .written = answer else {
        Issue.record("\(answer)")
        return
      }
      await settle(client)
      let traces = told.withLock { $0 }
      #expect(traces.map(\.outcome) == ["stale", "accepted"])
      #expect(traces.map(\.isDirect) == [false, true])
      #expect(traces.map { $0.batch.committed != nil } == [false, true])
      for trace in traces {
        #expect(trace.received <= trace.batch.begun && trace.batch.begun <= trace.batch.judged)
        #expect((trace.batch.committed ?? trace.batch.judged) <= trace.told)
      }
    }
  }
}

extension TernServer {
  /// Asks from outside of the server's executor.
  fileprivate nonisolated func assumeAsked(
    _ request: DirectRequest, _ answer: @escaping @Sendable (DirectAnswer) -> Void
  ) {
    Task { await ask(request, answer) }
  }
}
