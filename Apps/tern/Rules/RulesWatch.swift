/// Decides when a rules file is worth reading again. Knows no file and no time: it is shown what
/// the file looks like, again and again.
struct RulesWatch: Sendable {
  enum Step: Equatable { case nothing, read, reportGone }

  /// What was read last.
  private var known: FileMark?
  /// What the last look showed; `nil` when nothing was there.
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
    // Whoever writes a file is not done at once: it is read when two looks show the same.
    guard mark == seen, mark != known else { return .nothing }
    known = mark
    return .read
  }
}
