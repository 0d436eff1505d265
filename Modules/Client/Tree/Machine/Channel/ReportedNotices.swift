/// The notices that the developer has received already.
struct ReportedNotices: Sendable {
  /// The most that is remembered; then all of it may be reported once more.
  private static let limit = 1_000
  private var notices: Set<ClientNotice> = []

  /// Returns true when a notice was not reported before.
  mutating func insert(_ notice: ClientNotice) -> Bool {
    if notices.count >= Self.limit { notices.removeAll() }
    return notices.insert(notice).inserted
  }
}
