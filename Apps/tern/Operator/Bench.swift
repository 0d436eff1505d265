import ArgumentParser
import Synchronization
import TernClient
import TernCore
import TernSync

/// `tern bench`: how fast a server is, from here.
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure a server: writes, reads, and how fast changes reach listeners.",
    discussion: """
      Clients of this program work at once, each waiting for one answer before it goes on. They \
      write below a new child of --at, where nothing may be yet, and remove it at the end. Times \
      are those of a client: network, rules, disk and all. Percentiles: half of the answers came within p50, 99 of 100 within p99.
      """)

  /// One kind of work.
  enum Load: String, ExpressibleByArgument, CaseIterable {
    case writes, reads, fanout
  }

  @Argument(help: "writes, reads, fanout; all of them if none is given.") var loads: [Load] = []

  @Option(help: ArgumentHelp("Clients at once, up to 256.", valueName: "count")) var clients = 8
  @Option(help: ArgumentHelp("How long each kind lasts.", valueName: "time"))
  var duration = TimeArgument(seconds: 5)
  @Option(help: ArgumentHelp("Bytes of a value.", valueName: "size")) var size: SizeArgument?
  @Option(help: ArgumentHelp("A place in the tree that nothing else uses.", valueName: "path"))
  var at = Self.place
  /// The usual place, below which several benchmarks may run, and one that was killed leaves data.
  private static let place = "tern-bench"

  @OptionGroup var client: ClientFlags

  func validate() throws {
    guard (1...256).contains(clients) else {
      throw ValidationError("--clients is a number from 1 to 256")
    }
    guard duration.seconds > 0 else { throw ValidationError("--duration must be at least 1") }
    guard size?.bytes ?? 1 > 0, size?.bytes ?? 1 <= 1 << 20 else {
      throw ValidationError("--size is at most 1 MiB")
    }
  }

  func run() async throws {
    guard try !tern.path(at).isRoot else {
      throw Failure(.usage, "--at is a place of its own, not the whole database")
    }
    var runs: [ClientRun] = []
    var place: TreeReference?
    do {
      for _ in 0..<clients { runs.append(try await client.open()) }
      guard let first = runs.first, await first.connect() else {
        throw runs.first?.news.failure ?? Failure.unreachable
      }
      try await first.checkUnused(at, exceptBelow: Self.place)
      let fresh = try await first.reference(at).newChild()
      place = fresh
      for load in loads.isEmpty ? Load.allCases : loads {
        try await measure(load, at: fresh.path, runs)
      }
      _ = try await first.settle(try await fresh.remove())
    } catch {
      if let place, let removal = try? await place.remove() {
        _ = try? await runs.first?.settle(removal)
      }
      let failure = runs.first?.failure(about: error) ?? Failure(about: error)
      await Self.close(runs)
      throw failure
    }
    await Self.close(runs)
  }

  private static func close(_ runs: [ClientRun]) async {
    for run in runs { await run.tern.close() }
  }

  private func measure(_ load: Load, at path: TreePath, _ runs: [ClientRun]) async throws {
    let bench = BenchRun(
      path: path.text, bytes: size?.bytes ?? 32, end: ContinuousClock.now + duration.duration)
    let start = ContinuousClock.now
    let times: [Duration] =
      switch load {
      case .writes: try await bench.all(runs) { try await bench.write($0, number: $1) }
      case .reads: try await bench.reads(runs)
      case .fanout: try await bench.fanOut(runs)
      }
    tell(load, BenchFigures(times, over: start.duration(to: .now)))
  }

  private func tell(_ load: Load, _ figures: BenchFigures) {
    let name = load == .fanout ? "events" : load.rawValue
    guard client.json else {
      return printLine(
        "\(load.rawValue): \(figures.count) in \(figures.seconds) s, \(figures.perSecond) \(name)/s, "
          + "ms: p50 \(figures[0.5]), p95 \(figures[0.95]), p99 \(figures[0.99]), "
          + "max \(figures[1])")
    }
    printLine(
      jsonLine([
        "load": .string(load.rawValue), "count": .integer(Int64(figures.count)),
        "seconds": .double(figures.seconds), "perSecond": .integer(Int64(figures.perSecond)),
        "p50": .double(figures[0.5]), "p95": .double(figures[0.95]),
        "p99": .double(figures[0.99]), "max": .double(figures[1]),
      ]))
  }
}

/// The times of many answers.
struct BenchFigures {
  private let sorted: [Duration]
  let seconds: Double

  init(_ times: [Duration], over time: Duration) {
    sorted = times.sorted()
    seconds = Self.rounded(time / .seconds(1))
  }

  var count: Int { sorted.count }

  var perSecond: Int { seconds > 0 ? Int(Double(count) / seconds) : 0 }

  /// The milliseconds within which a part of the answers came.
  subscript(part: Double) -> Double {
    guard !sorted.isEmpty else { return 0 }
    let index = Int((part * Double(sorted.count)).rounded(.up)) - 1
    return Self.rounded(sorted[min(max(0, index), sorted.count - 1)] / .milliseconds(1))
  }

  private static func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }
}

/// One measurement.
private struct BenchRun: Sendable {
  let path: String
  let bytes: Int
  let end: ContinuousClock.Instant

  private var isOver: Bool { ContinuousClock.now >= end }

  /// Lets every client repeat something until the time is over.
  func all(
    _ runs: [ClientRun], _ work: @escaping @Sendable (ClientRun, Int) async throws -> Void
  ) async throws -> [Duration] {
    try await withThrowingTaskGroup(of: [Duration].self) { group in
      for (number, run) in runs.enumerated() {
        group.addTask {
          var times: [Duration] = []
          while !isOver {
            let start = ContinuousClock.now
            try await work(run, number)
            times.append(start.duration(to: .now))
          }
          return times
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  func write(_ run: ClientRun, number: Int) async throws {
    let place = try run.reference("\(path)/writes/\(number)")
    let text = String(repeating: "x", count: bytes)
    _ = try await run.settle(try await place.set(TreeNode(.string(text))))
  }

  func reads(_ runs: [ClientRun]) async throws -> [Duration] {
    for (number, run) in runs.enumerated() { try await write(run, number: number) }
    return try await all(runs) { run, number in
      _ = try await run.read(try run.reference("\(path)/writes/\(number)"))
    }
  }

  /// The first client writes numbers; the others listen, and say when each came.
  func fanOut(_ runs: [ClientRun]) async throws -> [Duration] {
    let writer = runs[0]
    let place = try writer.reference("\(path)/fanout")
    let sent = SentNumbers()
    let listeners = runs.count > 1 ? Array(runs[1...]) : runs
    return try await withThrowingTaskGroup(of: [Duration].self) { group in
      for run in listeners {
        let listened = try run.reference("\(path)/fanout")
        group.addTask {
          var times: [Duration] = []
          for try await snapshot in listened.values() {
            guard let number = snapshot.node.scalar?.number.map({ Int64($0) }) else { continue }
            if number < 0 { break }
            if let start = sent.time(of: number) {
              times.append(start.duration(to: .now))
            }
          }
          return times
        }
      }
      var number: Int64 = 0
      while !isOver {
        number += 1
        sent.record(number)
        _ = try await writer.settle(try await place.set(TreeNode(.integer(number))))
      }
      _ = try await writer.settle(try await place.set(TreeNode(.integer(-1))))
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }
}

/// The times at which numbers were written.
private final class SentNumbers: Sendable {
  private let times = Mutex<[Int64: ContinuousClock.Instant]>([:])

  func record(_ number: Int64) { times.withLock { $0[number] = .now } }

  func time(of number: Int64) -> ContinuousClock.Instant? { times.withLock { $0[number] } }
}

extension ClientRun {
  /// Checks that a place holds no data: under a value, a child would replace it.
  ///
  /// - Parameter usual: The place that may have children.
  fileprivate func checkUnused(_ path: String, exceptBelow usual: String) async throws {
    let place = try reference(path)
    // A query for one child tells a large place without reading it; it is empty for a value.
    if try await read(place.orderByKey().first(1)).children.isEmpty {
      if try await !read(place).exists { return }
    } else if path == usual {
      return
    }
    throw Failure(
      .usage,
      "something is at /\(place.path.text); give --at a place that nothing uses")
  }
}
