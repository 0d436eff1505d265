public import Foundation

/// Placeholders that the server fills in when a write commits.
public enum ServerValue {
  /// The time of the commit: milliseconds since 1970, by the server's clock.
  public static func timestamp() -> [AnyHashable: Any] {
    [".sv": "timestamp"]
  }

  /// The number that is there plus `delta`; `delta` alone where no number is.
  public static func increment(_ delta: NSNumber) -> [AnyHashable: Any] {
    [".sv": ["increment": delta]]
  }
}
