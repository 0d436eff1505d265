import Synchronization

/// A rate-limited report of denials: a client that is denied again and again must neither fill a
/// log nor make the server judge everything twice.
public final class DenialLog: Sendable {
  private let onDenial: @Sendable (RulesExplanation) -> Void
  /// Hears of denials that are not told; `nil` tells all of them.
  private let onOmitted: (@Sendable (OmittedDenials) -> Void)?
  private let sampler = Mutex(DenialSampler())

  /// A log that writes what it is told.
  ///
  /// - Parameters:
  ///   - onDenial: Receives what the rules said to each denial. Beyond
  ///     ``RulesLimits/explanationsPerSecond`` it receives which rule denied and nothing more.
  ///   - onOmitted: Receives the number of denials of one address that `onDenial` was not told:
  ///     beyond ``RulesLimits/denialBurst``, one in ``RulesLimits/denialMilliseconds`` is. Counts
  ///     are told with a later denial. Without it, `onDenial` receives all.
  public init(
    onDenial: @escaping @Sendable (RulesExplanation) -> Void,
    onOmitted: (@Sendable (OmittedDenials) -> Void)? = nil
  ) {
    self.onDenial = onDenial
    self.onOmitted = onOmitted
  }

  /// Tells of a denial as much as its address has left at `now`, in milliseconds since 1970.
  ///
  /// The lock is released before `explain` runs, so a slow explanation delays no other denial's
  /// decision.
  ///
  /// - Parameters:
  ///   - verdict: The denial.
  ///   - address: The address of the request's origin.
  ///   - now: Milliseconds since 1970.
  ///   - explain: Judges the request again with a trace; called only for a denial that is
  ///     explained.
  func tell(
    _ verdict: RulesVerdict, of address: String, at now: Int64,
    explaining explain: () throws(RulesDataError) -> RulesExplanation
  ) throws(RulesDataError) {
    let address = onOmitted == nil ? nil : address
    let decision = sampler.withLock { $0.take(address, at: now) }
    for summary in decision.summaries { onOmitted?(summary) }
    switch decision.detail {
    case .explained: onDenial(try explain())
    case .brief: onDenial(RulesExplanation(verdict: verdict, findings: [], omittedCount: 0))
    case .omitted: break
    }
  }
}
