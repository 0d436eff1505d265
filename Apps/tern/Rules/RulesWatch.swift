/// Decides when a rules file is worth reading again. Knows no file and no time: it is shown what
/// the file looks like, again and again.
struct RulesWatch: Sendable {
  enum Step: Equatable { case nothing, read, reportGone }

  /// The state of the file that was read last.
  private var known: FileMark?
  /// The state of the file at the last look; `nil` when there was none.
  private var seen: FileMark?

  /// - Parameter mark: What the file looked like when it was read.
  init(_ mark: FileMark?) {
    known = mark
    seen = mark
  }

  /// Takes the next look.
  mutating func look(_ mark: FileMark?) -> Step {
    defer { seen = mark }
    guard let mark else { return seen == nil ? .nothing : .reportGone }
    // Writing a file takes time: it is read when two looks show the same.
    guard mark == seen, mark != known else { return .nothing }
    known = mark
    return .read
  }
}
