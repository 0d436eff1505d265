/// The limits on the size of a rules file and on the work of one decision.
///
/// The limits on the file are checked when it is loaded, so that judging needs no other bound
/// than its steps. See `Docs/Formats/tree-rules.md`, section 6, for what a step is worth.
public struct RulesLimits: Hashable, Sendable {
  /// The most bytes of a rules file.
  public var fileBytes = 1 << 20
  /// The most levels of objects in the file; data is at most 32 deep.
  ///
  /// A capture or key of the file uses one level, and so do the object at the top and the member
  /// `rules`.
  public var fileDepth = 64
  /// The most levels of one expression; long chains of `&&` and `||` are one level.
  public var expressionDepth = 100
  /// The most characters a pattern consumes, counted repetitions written out.
  ///
  /// A pattern's table takes up to the square of this number in bits: 128 KiB at the limit.
  public var patternPositions = 1_024
  /// The most bytes the tables of all patterns take together.
  public var patternTableBytes = 16 << 20
  /// The most problems reported about one file.
  ///
  /// Further problems are dropped without a notice.
  public var problems = 100

  /// The most steps one rule may take; then it is false.
  ///
  /// A rule that reaches it counts as false, and the next rule on the way is asked.
  public var stepsPerRule = 1_000_000
  /// The most steps all rules of one request may take; then the request is denied.
  ///
  /// Reaching it ends the request at once: no later rule can grant.
  public var stepsPerRequest = 10_000_000
  /// The most bytes of a string that an expression makes.
  public var stringBytes = 10 * 1024 * 1024

  /// The most rules that one explanation shows; of more that were asked, the latest are.
  public static let explainedRules = 64
  /// The most bytes of the text of one explanation; of more, its end is shown.
  public static let explanationBytes = 16_384
  /// The most refusals that are explained to an operator in one second.
  public static let explanationsPerSecond = 20

  /// The most denials of which a log is told anything in one second.
  public static let denialsPerSecond = 100
  /// The number of denials of one address that are told one by one, in a row.
  public static let denialBurst = 20
  /// The time after which one more denial of an address is told, in milliseconds.
  public static let denialMilliseconds: Int64 = 10_000
  /// The most addresses whose denials are sampled each by itself.
  public static let denialAddresses = 1_024
  /// The most counts of omitted denials that are told at once, one address a line.
  public static let denialSummaries = 20
  /// The most characters of a part of a rule that are printed in one line.
  public static let printedRuleCharacters = 2_000
  /// The most characters of a path that are printed.
  public static let printedPathCharacters = 200

  /// The limits a server starts with.
  public static let standard = RulesLimits()

  /// The limits a server starts with, to be changed one by one.
  public init() {}
}
