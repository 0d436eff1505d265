import TernClient
import TernCore
import TernSync

/// The executor of a shell's commands; prints one line for each event.
actor ShellSession {
  let run: ClientRun
  let asJSON: Bool
  private var lastWrite = 0
  private var watches: [TreePath: Task<Void, Never>] = [:]
  var documentWatches: [String: Task<Void, Never>] = [:]
  private var reports: Task<Void, Never>?
  /// Waits for the verdicts that have not come, by the number of their write.
  private var undecided: [Int64: Task<Void, Never>] = [:]
  private var isOffline = false
  private var hasEnded = false

  init(_ run: ClientRun, asJSON: Bool) {
    self.run = run
    self.asJSON = asJSON
  }

  /// Carries a line out; `false` to end.
  func perform(_ line: String) async -> Bool {
    do {
      let command = try ShellCommand(line)
      if command == .exit { return false }
      try await perform(command)
    } catch {
      say("error", ["message": .string(Failure(about: error).message)])
    }
    return true
  }

  private func perform(_ command: ShellCommand) async throws {
    let tree = run.tern.tree
    switch command {
    case .set(let path, let node):
      follow(try await run.reference(path).set(node), "set", try tern.path(path))
    case .update(let path, let values):
      follow(try await run.reference(path).update(values), "update", try tern.path(path))
    case .push(let path, let node):
      let (place, write) = try await run.reference(path).push(node)
      follow(write, "push", place.path)
    case .remove(let path):
      follow(try await run.reference(path).remove(), "remove", try tern.path(path))
    case .get(let path): say(EventText(try await run.reference(path).get()))
    case .watch(let path): watch(try run.reference(path))
    case .unwatch(let path): watches.removeValue(forKey: try tern.path(path))?.cancel()
    case .document(let command): try await perform(command)
    case .pending:
      let batches = await run.tern.documents.queueStatus.pending.count
      say("pending", ["count": .integer(Int64(await tree.pendingWrites.count + batches))])
    case .offline:
      isOffline = true
      await run.goOffline()
    case .online:
      isOffline = false
      await tree.goOnline()
      await run.tern.documents.goOnline()
    case .settle:
      for await status in tree.queue where status.pending.isEmpty { break }
      for await status in run.tern.documents.queue where status.pending.isEmpty { break }
      say("settled")
    case .help: printLine(ShellCommand.helpText)
    case .exit, .nothing: break
    }
  }

  /// Notes that no command follows.
  func endInput() { hasEnded = true }

  /// Ends the shell; at the end of its input only when the writes are decided, or the server is
  /// away.
  ///
  /// - Throws: ``Failure`` with ``Outcome/unreachable``: writes are lost without a verdict.
  func leave() async throws(Failure) {
    if hasEnded, !isOffline, !undecided.isEmpty {
      let verdicts = Array(undecided.values)
      _ = await run.firstAnswer(.reachable(nil)) { for verdict in verdicts { await verdict.value } }
    }
    reports?.cancel()
    for watch in watches.values { watch.cancel() }
    for watch in documentWatches.values { watch.cancel() }
    guard !undecided.isEmpty else { return }
    let count = undecided.count == 1 ? "1 write has" : "\(undecided.count) writes have"
    if run.isDurable {
      printError("tern: \(count) no verdict yet and will be sent later, see: tern pending")
      return
    }
    let reason = isOffline || !hasEnded ? "the shell ended" : run.news.failure.message
    throw Failure(.unreachable, "\(reason); \(count) no verdict, and may be lost without --cache")
  }
}

// MARK: - What happens later

extension ShellSession {
  /// Says that a write is stored, and later what the server said about it.
  private func follow(_ write: TreeWriteHandle, _ verb: String, _ path: TreePath) {
    let number = stored(verb, path.text)
    decide(number) {
      do throws(AcknowledgementError) { try await write.acknowledged() } catch .closed {
        return .none
      } catch {
        return .rejected(error)
      }
      return .acknowledged
    }
  }

  /// A server's verdict on a write; `none` when the client was closed before.
  enum Verdict {
    case acknowledged
    case rejected(any Error)
    case none
  }

  /// Says what the server decides about a write.
  func decide(_ number: Int64, _ verdict: @escaping @Sendable () async -> Verdict) {
    undecided[number] = Task {
      switch await verdict() {
      case .none: return
      case .acknowledged: say("acknowledged", ["number": .integer(number)])
      case .rejected(let error): rejected(number, error)
      }
      undecided[number] = nil
    }
  }

  /// Says that a write is stored, and gives it a number.
  func stored(_ verb: String, _ path: String) -> Int64 {
    lastWrite += 1
    let number = Int64(lastWrite)
    say("stored", ["number": .integer(number), "verb": .string(verb), "path": .string(path)])
    return number
  }

  func rejected(_ number: Int64, _ error: any Error) {
    say(
      "rejected", ["number": .integer(number), "reason": .string(Failure(about: error).message)])
  }

  private func watch(_ place: TreeReference) {
    watches[place.path]?.cancel()
    watches[place.path] = Task {
      do throws(ListenError) {
        for try await change in place.children() {
          say(EventText(change, below: place.path))
        }
      } catch .closed {
        return
      } catch {
        say("error", ["message": .string(Failure(about: error).message)])
      }
    }
  }

  /// Says when the connection changes, from now on.
  func reportConnection() {
    reports = Task {
      for await state in run.tern.tree.connection { say("\(state)") }
    }
  }
}

// MARK: - Saying

extension ShellSession {
  /// Says an event with what belongs to it, in the order given.
  func say(_ name: String, _ details: KeyValuePairs<String, JSONValue> = [:]) {
    guard asJSON else {
      let words = details.map { $0.value.text ?? $0.value.json }
      printLine(([name] + words).joined(separator: " "))
      return
    }
    let members = details.map { JSONValue.Member($0.key, $0.value) }
    printLine(JSONValue.object([JSONValue.Member("event", .string(name))] + members).json)
  }

  private func say(_ event: EventText) {
    printLine(event.line(asJSON: asJSON))
  }
}
