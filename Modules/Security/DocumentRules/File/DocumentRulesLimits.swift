/// The limits of rules for documents: on the size of a file, and on the work of one decision.
///
/// Source: firestore reference, sections 6.1, 6.2, 6.4 and 6.6.
public enum DocumentRulesLimits {
  /// The most bytes of a rules file.
  public static let sourceBytes = 262_144
  /// The most levels of nested expressions, the innermost operand included; chains of `&&` and
  /// `||` are one level, a map is two.
  public static let expressionDepth = 99
  /// The most functions on one chain of calls.
  public static let callDepth = 21
  /// The most levels of nesting of an evaluation: those of the functions that an expression calls,
  /// and of the bindings that it uses, included. A stack of 1 MiB suffices for them, also without
  /// optimization.
  public static let evaluationDepth = 160
  /// The most parameters of a function.
  public static let parameters = 7
  /// The most `let` bindings of a function.
  public static let bindings = 19
  /// The most `match` blocks around an `allow`, the outermost included.
  public static let matchDepth = 11
  /// The most captures of one path, from the outermost `match` block on.
  public static let captures = 20
  /// The most segments of one path, from the outermost `match` block on.
  public static let pathSegments = 100
  /// The most problems reported about one file.
  public static let problems = 100

  /// The most expressions that one operation evaluates; the next one denies the request.
  public static let expressions = 1_000
  /// The most documents that the rules of one operation read.
  public static let documentsPerOperation = 10
  /// The most documents that the rules of one request with several operations, or of one query,
  /// read.
  public static let documentsPerRequest = 20

  /// The most bytes of a text that an expression makes.
  public static let textBytes = 4 << 20
  /// The most elements of a list that an expression makes.
  public static let listElements = 1 << 20
  /// The most steps of comparing paths of `match` blocks for one operation.
  public static let matchSteps = 100_000
  /// The most instructions of one regular expression.
  public static let patternInstructions = 10_000
  /// The most instructions of all literal regular expressions of a file; equal ones count once.
  public static let patternInstructionsPerFile = 250_000
  /// The most bytes of one regular expression.
  public static let patternBytes = 16_384
  /// The most levels of groups of one regular expression.
  public static let patternDepth = 100
  /// The most repetitions that one quantifier of a regular expression counts.
  public static let patternRepetitions = 1_000
  /// The most steps of the regular expressions of one operation.
  public static let patternSteps = 4_000_000
  /// The most bytes of a path that a denial or a log shows.
  public static let printedPathBytes = 1_000
}
