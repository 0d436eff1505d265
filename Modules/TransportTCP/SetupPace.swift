#if TCP
  import NIOCore

  /// The times at which a listener sets up connections, so that those that are there come first.
  ///
  /// One is set up in each ``interval``. That is longer while the turns of the loop are long:
  /// requests of all clients wait for a turn, and a connection costs many times its setup in the
  /// turns that follow. Time without setups is credit for a burst; after a turn that waited for the
  /// disk, those that connect have it.
  struct SetupPace {
    /// The most connections that are set up at once.
    static let share = 16
    /// The interval of a loop with short turns. It is more than a setup costs: a loop that has work
    /// for itself all the time never looks at its sockets.
    static let leastInterval = TimeAmount.microseconds(500)
    /// The interval of a loop whose turns are long for whatever reason, such as other processes.
    static let mostInterval = TimeAmount.milliseconds(2)
    /// The most that one turn counts for: one that waits for the disk says little about the next.
    private static let mostLateness: Int64 = 4_000_000
    /// The share of one turn in the mean.
    private static let weight: Int64 = 8

    /// The time up to which the credit is used. Credit grows by one connection in each interval
    /// after it. It lies in the past by less than ``share`` + 1 intervals after each
    /// ``take(_:at:)``.
    private var used: NIODeadline
    /// The mean time by which the loop woke up too late, in nanoseconds: an exponential mean over
    /// about ``weight`` wakeups.
    private var lateness: Int64 = 0

    /// A pace without credit.
    init(at now: NIODeadline) { used = now }

    /// The time between two setups at present.
    var interval: TimeAmount {
      min(Self.leastInterval + .nanoseconds(lateness), Self.mostInterval)
    }

    /// The time at which the next connection may be set up.
    var next: NIODeadline { used + interval }

    /// Notes the time at which the loop came to a wakeup that was asked for.
    mutating func noteWakeup(at now: NIODeadline, for due: NIODeadline) {
      let late = min(max(0, (now - due).nanoseconds), Self.mostLateness)
      lateness += (late - lateness) / Self.weight
    }

    /// Takes the credit for at most `count` connections, and returns how many may be set up now.
    ///
    /// - Parameters:
    ///   - count: The connections that wait.
    ///   - now: The time of the loop.
    /// - Returns: 0...``share``.
    mutating func take(_ count: Int, at now: NIODeadline) -> Int {
      let interval = interval.nanoseconds
      let credit = max(0, (now - used).nanoseconds) / interval
      let taken = min(Int64(count), credit, Int64(Self.share))
      let kept = min(credit, Int64(Self.share)) - taken
      // A part of an interval is not lost, unless there is more credit than may be kept.
      used =
        credit > Int64(Self.share)
        ? now - .nanoseconds(kept * interval) : used + .nanoseconds(taken * interval)
      return Int(taken)
    }
  }
#endif
