import TernSync
public import Tracing

extension TernServer {
  /// Lets a tracer have a span `tern.write` of every write from now on, with `tern.write.wait`,
  /// `.judge`, `.commit` (unless nothing was stored) and `.tell` in it; `nil` ends that. They are
  /// made when the way is over, on the server's executor: the tracer must not block.
  public func trace(with tracer: (any Tracer)?) {
    guard let tracer else { return traceWrites(nil) }
    traceWrites { WriteSpans(of: $0).start(with: tracer) }
  }

  /// Lets a function have the way of every write from now on; `nil` for none.
  package func traceWrites(_ sink: (@Sendable (WriteTrace) -> Void)?) {
    (writeTrace, metrics.tracesWrites) = (sink, sink != nil)
  }
}

/// The writes of batches that are followed.
enum FollowedWrites {
  /// The writes of a batch with their arrivals; before what arrived is forgotten.
  static func arrivals(
    of plan: ServerPlan, at server: isolated TernServer
  ) -> [(write: TracedWrite, received: Int64)] {
    if plan.writes.isEmpty || server.writeTrace == nil { return [] }
    return plan.writes.compactMap { write in
      let received: Int64? =
        switch write.origin {
        case .frame(let slot, let ordinal): server.links.known(slot)?.arrivals.peek(ordinal)
        case .direct(let ticket): server.requests.arrival(of: ticket)
        }
      return received.map { (write, $0) }
    }
  }

  /// Tells of writes whose way is over.
  static func tell(
    _ writes: [(write: TracedWrite, received: Int64)], _ times: BatchTimes,
    at server: isolated TernServer
  ) {
    guard let writeTrace = server.writeTrace, !writes.isEmpty else { return }
    let told = server.microseconds()
    let epoch = server.ambient.millisecondsSinceEpoch() * 1_000 - told
    for (write, received) in writes {
      var isDirect = false
      if case .direct = write.origin { isDirect = true }
      writeTrace(
        WriteTrace(
          model: write.model, outcome: write.outcome, isDirect: isDirect, received: received,
          batch: times, told: told, epoch: epoch))
    }
  }
}

/// The spans of a write's way; no path, value or identity is told in them.
private struct WriteSpans {
  private let trace: WriteTrace

  init(of trace: WriteTrace) { self.trace = trace }

  func start(with tracer: some Tracer) {
    let span = tracer.startSpan(
      "tern.write", context: .topLevel, ofKind: .server, at: instant(trace.received))
    span.attributes["tern.model"] = trace.model.rawValue
    span.attributes["tern.outcome"] = trace.outcome
    span.attributes["tern.direct"] = trace.isDirect
    let times = trace.batch
    var steps = [
      ("wait", trace.received, times.begun), ("judge", times.begun, times.judged),
    ]
    if let committed = times.committed { steps.append(("commit", times.judged, committed)) }
    steps.append(("tell", times.committed ?? times.judged, trace.told))
    for (name, start, end) in steps {
      tracer.startSpan("tern.write." + name, context: span.context, at: instant(start))
        .end(at: instant(end))
    }
    span.end(at: instant(trace.told))
  }

  private func instant(_ microseconds: Int64) -> UptimeInstant {
    UptimeInstant(nanosecondsSinceEpoch: UInt64(clamping: (trace.epoch + microseconds) * 1_000))
  }
}

/// A moment of the server's uptime.
private struct UptimeInstant: TracerInstant {
  let nanosecondsSinceEpoch: UInt64

  static func < (left: UptimeInstant, right: UptimeInstant) -> Bool {
    left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch
  }
}
