import TernSync

/// The effects that the machines of both models request.
protocol ClientEffect: Sendable {
  associatedtype Timer: ClientTimer

  static func openLink(_ link: Int, address: Int) -> Self
  static func closeLink(_ link: Int) -> Self
  static func send(_ frame: [UInt8]) -> Self
  static func startTimer(_ timer: Timer, _ delay: Duration) -> Self
  static func stopTimer(_ timer: Timer) -> Self
  static func connectionChanged(_ state: ConnectionState) -> Self
  static func change(_ change: QueueChange, ticket: UInt64, of user: QueueUser) -> Self
  static func credential(_ verdict: CredentialVerdict) -> Self
}

/// The timers of a machine.
protocol ClientTimer: Hashable, Sendable {
  static func connection(_ timer: Connection.Timer) -> Self
}

extension TreeClientEffect: ClientEffect {}
extension TreeTimer: ClientTimer {}
extension DocumentClientEffect: ClientEffect {}
extension DocumentTimer: ClientTimer {}
