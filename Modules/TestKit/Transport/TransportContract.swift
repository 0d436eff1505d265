/// The promises of every transport, as a list of named checks.
///
/// ```swift
/// @Test(arguments: TransportContract.checks)
/// func holds(check: TransportCheck) async throws { try await check.run(on: myFixture) }
/// ```
public enum TransportContract {
  /// All checks.
  public static var checks: [TransportCheck] {
    frameChecks + closingChecks + pressureChecks + openingChecks
  }

  /// A frame whose bytes depend on its number and place, so that any mix-up shows.
  static func frame(_ number: Int, bytes: Int) -> [UInt8] {
    var frame = [UInt8](repeating: 0, count: bytes)
    for index in frame.indices {
      frame[index] = UInt8(truncatingIfNeeded: number &* 31 &+ index &* 7 &+ index >> 8)
    }
    return frame
  }
}
