import Synchronization
import TernLedger
import TernStorage

/// The reads of both models that go on beside the server's executor.
///
/// Each has a thread and a snapshot of its own once it has begun. As few at once read as there are
/// ``ServerLimits/reads``; the others wait for their turn, which comes by what their address has
/// cost so far: a read pauses after a slice of rows when others wait.
///
/// States of a read: waiting, running, paused, ended. `running` counts the reads that hold a turn,
/// `begun` those with a thread and a snapshot. A paused read keeps both, which is why the number of
/// begun reads is limited for each address and in all.
///
/// No lock is held while a read works or its end is delivered.
final class ReadPool: Sendable {
  /// Receives a read that has ended, on any thread.
  typealias Delivery = @Sendable (ReadJob) -> Void

  /// The reads of one address.
  private struct Client {
    /// Those that have not begun, in order.
    var waiting: [ReadJob] = []
    /// Those that pause, in order.
    var paused: [ReadJob] = []
    /// The number of those that have begun.
    var begun = 0

    var isIdle: Bool { waiting.isEmpty && paused.isEmpty }
  }

  /// The reads by address, and the order of turns.
  ///
  /// `turns` has an address in it while that has waiting or paused reads.
  private struct State {
    var clients: [String: Client] = [:]
    var turns = TurnOrder<String>()
    var tasks: [ObjectIdentifier: Task<Void, Never>] = [:]
    /// All reads that have not ended, and the receivers of their ends.
    var jobs: [ObjectIdentifier: (job: ReadJob, deliver: Delivery)] = [:]
    var running = 0
    var isEnded = false
  }

  /// The most reads of one address that have begun and not ended.
  static let begunPerAddress = 4
  /// The most reads that have begun and not ended: each keeps a thread and a snapshot.
  static let begunInAll = 16
  /// The most reads of one address that have not ended.
  static let waitingPerAddress = 2_048
  /// The most reads that have not ended.
  static let waitingInAll = 16_384
  /// The rows of a turn: some milliseconds.
  static let sliceRows = 2_048
  /// The longest time of a read, in milliseconds: its snapshot keeps what is overwritten and
  /// deleted meanwhile on the disk.
  static let readMilliseconds: Int64 = 60_000

  private let ledger: any Ledger
  private let atOnce: Int
  private let uptime: @Sendable () -> Int64
  private let state = Mutex(State())

  init(_ ledger: any Ledger, _ limits: ServerLimits, uptime: @escaping @Sendable () -> Int64) {
    self.ledger = ledger
    atOnce = max(1, limits.reads)
    self.uptime = uptime
  }

  /// The number of reads that have not ended.
  var count: Int { state.withLock { $0.jobs.count } }

  /// Lets reads begin.
  ///
  /// A read that finds the queue full is delivered at once, with that reason.
  ///
  /// - Parameter deliver: Receives each of them when it has ended, on any thread.
  func begin(_ jobs: [ReadJob], deliver: @escaping Delivery) {
    for job in jobs where !add(job, deliver) {
      job.reject(.queue)
      deliver(job)
    }
  }

  private func add(_ job: ReadJob, _ deliver: @escaping Delivery) -> Bool {
    state.withLock { state in
      let client = state.clients[job.address, default: Client()]
      let held = client.waiting.count + client.begun
      guard !state.isEnded, state.jobs.count < Self.waitingInAll, held < Self.waitingPerAddress
      else { return false }
      state.jobs[ObjectIdentifier(job)] = (job, deliver)
      state.clients[job.address, default: Client()].waiting.append(job)
      state.turns.enqueue(job.address)
      schedule(&state)
      return true
    }
  }

  /// Gives turns while there are threads for them.
  private func schedule(_ state: inout State) {
    var blocked: [String] = []
    while state.running < atOnce, let address = state.turns.next() {
      guard let job = take(of: address, &state) else {
        blocked.append(address)
        continue
      }
      state.running += 1
      if state.clients[address]?.isIdle == false { state.turns.enqueue(address) }
      if state.tasks[ObjectIdentifier(job)] == nil {
        state.tasks[ObjectIdentifier(job)] = Task(executorPreference: ExportQueue()) {
          await self.run(job)
        }
      } else {
        job.resume()
      }
    }
    for address in blocked where state.clients[address]?.isIdle == false {
      state.turns.enqueue(address)
    }
  }

  /// Takes the next read of an address: a new one while few have begun, so that a short one gets
  /// its first turn soon.
  private func take(of address: String, _ state: inout State) -> ReadJob? {
    guard var client = state.clients[address] else { return nil }
    defer { state.clients[address] = client }
    let mayBegin =
      client.begun < Self.begunPerAddress && state.tasks.count < Self.begunInAll
    if mayBegin, !client.waiting.isEmpty {
      client.begun += 1
      return client.waiting.removeFirst()
    }
    return client.paused.isEmpty ? nil : client.paused.removeFirst()
  }

  /// Runs a read on its own thread, and delivers its end once: a value, a failure, a rejection or a
  /// cancellation.
  private func run(_ job: ReadJob) async {
    let deadline = uptime() + Self.readMilliseconds
    do throws(LedgerError) {
      if !job.isCancelled {
        try await ledger.read { snapshot throws(StorageError) in
          job.run(over: snapshot.reader, at: snapshot.version, slice: Self.sliceRows) { rows in
            self.pause(job, after: rows)
            if self.uptime() <= deadline { return true }
            job.reject(.time)
            return false
          }
        }
      }
    } catch {
      if case .storage(let error) = error { job.fail(error) } else { job.fail(.abandoned) }
    }
    end(job)
  }

  /// Lets others have a turn, when some wait.
  private func pause(_ job: ReadJob, after rows: Int) {
    let hasPaused = state.withLock { state in
      state.turns.charge(job.address, rows * ServerBatch.stepsPerRow)
      if state.turns.isEmpty || job.isCancelled { return false }
      state.clients[job.address, default: Client()].paused.append(job)
      state.running -= 1
      state.turns.enqueue(job.address)
      schedule(&state)
      return true
    }
    if hasPaused { job.wait() }
  }

  private func end(_ job: ReadJob) {
    let deliver = state.withLock { state in
      state.running -= 1
      state.tasks[ObjectIdentifier(job)] = nil
      let known = state.jobs.removeValue(forKey: ObjectIdentifier(job))
      state.clients[job.address]?.begun -= 1
      if let client = state.clients[job.address], client.isIdle, client.begun == 0 {
        state.clients[job.address] = nil
      }
      schedule(&state)
      return known?.deliver
    }
    deliver?(job)
  }

  /// Ends all reads, and waits until none of them reads the store.
  ///
  /// Waiting reads are dropped without delivery: the server that would receive them is stopping.
  func endAll() async {
    let (jobs, tasks) = state.withLock { state in
      state.isEnded = true
      let waiting = state.clients.values.flatMap(\.waiting)
      for address in state.clients.keys { state.clients[address]?.waiting = [] }
      for job in waiting { state.jobs[ObjectIdentifier(job)] = nil }
      return (state.jobs.values.map(\.job), Array(state.tasks.values))
    }
    for job in jobs { job.cancel() }
    for task in tasks { await task.value }
  }
}
