/// The results of the cases of one file.
public struct SpecReport: Sendable {
  /// The result of one case.
  public enum Verdict: Equatable, Sendable {
    case passed
    /// With what was expected and what happened instead.
    case failed(String)
    /// With the reason.
    case skipped(String)
  }

  /// One case of a file.
  public struct Entry: Sendable {
    public let name: String
    public let verdict: Verdict

    public init(name: String, verdict: Verdict) {
      self.name = name
      self.verdict = verdict
    }

    /// True when the case was tried and failed.
    public var isFailed: Bool {
      if case .failed = verdict { true } else { false }
    }

    /// One line of the report; a failure adds its details below.
    public var line: String {
      switch verdict {
      case .passed: "passed   \(name)"
      case .failed(let details): "FAILED   \(name)\n\(details)"
      case .skipped(let reason): "skipped  \(name): \(reason)"
      }
    }
  }

  /// The cases in the order of the file.
  public let entries: [Entry]

  public init(_ entries: [Entry]) {
    self.entries = entries
  }

  /// The number of cases that passed.
  public var passedCount: Int { entries.count { $0.verdict == .passed } }

  /// The number of cases that failed.
  public var failedCount: Int { entries.count(where: \.isFailed) }

  /// The number of cases that were not tried.
  public var skippedCount: Int {
    entries.count { if case .skipped = $0.verdict { true } else { false } }
  }

  /// The closing line.
  public var summary: String {
    "\(passedCount) passed, \(failedCount) failed, \(skippedCount) skipped"
  }
}

/// A file of recorded cases that cannot be read as one; the text says where and why.
public struct SpecError: Error, CustomStringConvertible {
  public let description: String

  public init(_ description: String) {
    self.description = description
  }
}
