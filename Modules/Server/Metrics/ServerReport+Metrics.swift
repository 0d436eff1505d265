import TernLedger
import TernTransport

extension ServerReport {
  /// The figures of the server, of which no text is made yet.
  ///
  /// Names and labels are part of the interface for operators: dashboards and alerts refer to them.
  /// Source: Docs/Formats/admin.md.
  var metrics: MetricsText {
    var text = MetricsText()
    addClients(to: &text)
    addRequests(to: &text)
    addBatches(to: &text)
    addMemory(to: &text)
    addCaches(to: &text)
    addSystem(to: &text)
    return text
  }

  private var figures: ServerMetrics { server.metrics }

  /// Adds figures of connections, sessions and listens.
  ///
  /// Open connections are reported for every protocol that was ever used, so that a figure goes to
  /// 0 rather than vanish.
  private func addClients(to text: inout MetricsText) {
    let opened = figures.connectionsOpened.sorted { $0.key < $1.key }
    text.add(
      .counter, "tern_connections_opened_total", "Connections that were opened.", by: "protocol",
      opened.map { ($0.key, $0.value) })
    text.add(
      .counter, "tern_connections_closed_total", "Connections that have ended.",
      figures.connectionsClosed)
    text.add(
      .gauge, "tern_connections", "Open connections with a session.", by: "protocol",
      opened.map { ($0.key, server.links.openByProtocol[$0.key, default: 0]) })
    let sessions = sessions
    text.add(
      .gauge, "tern_sessions", "Open sessions; fresh ones have said nothing yet.", by: "model",
      [("tree", sessions.tree), ("documents", sessions.documents), ("fresh", sessions.fresh)])
    text.add(
      .gauge, "tern_listens", "Listens of sessions.", by: "model",
      [("tree", sessions.treeListens), ("documents", sessions.documentListens)])
    text.add(
      .gauge, "tern_queries", "Distinct queries that are listened to.", by: "model",
      [("tree", sessions.treeQueries), ("documents", sessions.documentQueries)])
    text.add(
      .gauge, "tern_ready", "1 when the server is ready for clients.",
      server.readiness.reasons.isEmpty ? 1 : 0)
  }

  private func addRequests(to text: inout MetricsText) {
    text.add(
      .counter, "tern_requests_total", "Requests that were decided.", by: "model",
      [
        ("tree", figures.treeRequests), ("documents", figures.documentRequests),
        ("direct", figures.directRequests),
      ])
    text.add(
      "tern_request_duration_seconds", "Time from a request's arrival to its answer.", unit: 1e-6,
      by: "model",
      [
        ("tree", figures.treeTime), ("documents", figures.documentTime),
        ("direct", figures.directTime),
      ])
    let models = [("tree", figures.treeWrites), ("documents", figures.documentWrites)]
    text.add(
      .counter, "tern_writes_total", "Writes by their outcome.", by: ("model", "outcome"),
      models.flatMap { model, writes in
        writes.outcomes.map { (model, $0.name, $0.count) }
      })
    text.add(
      .counter, "tern_denials_total", "Requests that rules or credentials denied.",
      figures.denials)
    text.add(
      .counter, "tern_rate_limited_total", "Requests above the rate of their client.",
      figures.rateLimited)
    text.add(
      .counter, "tern_slow_requests_total", "Requests that took more than 0.1 s to decide.",
      figures.slowRequests)
    text.add(
      .counter, "tern_events_total", "Changes told to listeners.", by: "model",
      [("tree", figures.treeEvents), ("documents", figures.documentEvents)])
    text.add(
      .counter, "tern_frames_total", "Frames of sessions.", by: "direction",
      [("in", figures.framesIn), ("out", figures.framesOut)])
    text.add(
      .counter, "tern_bytes_total", "Bytes of frames of sessions.", by: "direction",
      [("in", figures.bytesIn), ("out", figures.bytesOut)])
  }

  /// Adds figures of batches, commits and the ledger.
  ///
  /// The figures of the ledger are missing while it cannot be asked, for example during a failure
  /// of the store.
  private func addBatches(to text: inout MetricsText) {
    text.add(
      .counter, "tern_commits_total", "Commits that were made durable.", figures.commits)
    text.add(
      .counter, "tern_failed_batches_total", "Batches that the store failed.",
      figures.failedBatches)
    text.add(
      "tern_batch_inputs", "Inputs that were decided together.", [("", figures.batchInputs)])
    text.add(
      "tern_batch_commits", "Commits that were made durable together.",
      [("", figures.batchCommits)])
    text.add(
      "tern_plan_duration_seconds", "Time to decide a batch.", unit: 1e-6,
      [("", figures.planTime)])
    text.add(
      "tern_store_duration_seconds", "Time to store a batch, its sync included.", unit: 1e-6,
      [("", figures.storeTime)])
    if let ledger = outside.ledger {
      text.add(.gauge, "tern_version", "The newest commit.", Double(ledger.version))
      text.add(
        .gauge, "tern_log_first_version", "The oldest commit of the log.",
        Double(ledger.firstVersion))
      text.add(.gauge, "tern_log_bytes", "The bytes of the log of commits.", ledger.logBytes)
      text.add(.gauge, "tern_journal_bytes", "The bytes of the journal.", ledger.journalBytes)
      text.add(
        .gauge, "tern_journal_rows", "The rows that wait in the journal.", ledger.journalRows)
    }
  }

  private func addMemory(to text: inout MetricsText) {
    text.add(
      .gauge, "tern_client_memory_bytes", "Memory held for clients.", by: "use",
      memoryUses.map { ($0.name, $0.bytes) })
    text.add(
      .gauge, "tern_client_memory_limit_bytes", "The most memory held for clients.",
      server.budget.limitBytes)
    text.add(
      .gauge, "tern_queue_length", "Lengths of queues.", by: "queue",
      queues.map { ($0.name, $0.length) })
    text.add(
      .gauge, "tern_queue_limit", "Limits of queues.", by: "queue",
      queues.compactMap { queue in queue.limit.map { (queue.name, $0) } })
  }

  private func addCaches(to text: inout MetricsText) {
    if server.caches.isEmpty { return }
    text.add(
      .counter, "tern_cache_hits_total", "Lookups that a cache has answered.", by: "cache",
      server.caches.map { ($0.name, $0.hits) })
    text.add(
      .counter, "tern_cache_misses_total", "Lookups that a cache has not answered.", by: "cache",
      server.caches.map { ($0.name, $0.misses) })
  }

  /// Adds figures of the process and the store's disk.
  ///
  /// Figures with the prefix `process_` have the names that Prometheus gives them for every
  /// program.
  private func addSystem(to text: inout MetricsText) {
    text.add(
      .gauge, "tern_uptime_seconds", "Time since the start.", Double(server.uptime) / 1_000)
    let system = outside.system
    if let bytes = system.storeBytes {
      text.add(.gauge, "tern_store_bytes", "The bytes of the store's files.", bytes)
    }
    if let bytes = system.freeBytes {
      text.add(.gauge, "tern_store_free_bytes", "Bytes that the store's disk has left.", bytes)
    }
    if let bytes = system.residentBytes {
      text.add(.gauge, "process_resident_memory_bytes", "Resident memory.", bytes)
    }
    if let count = system.descriptors {
      text.add(.gauge, "process_open_fds", "Open descriptors.", count)
    }
    if let count = system.descriptorLimit {
      text.add(.gauge, "process_max_fds", "The most descriptors.", count)
    }
    if let seconds = system.cpuSeconds {
      text.add(.counter, "process_cpu_seconds_total", "Processor time.", seconds)
    }
  }
}

extension ServerMetrics.Writes {
  /// The counts by outcome.
  var outcomes: [(name: String, count: Int)] {
    [
      ("accepted", accepted), ("rejected", rejected), ("denied", denied), ("stale", stale),
      ("repeated", repeated), ("unavailable", unavailable),
    ]
  }
}
