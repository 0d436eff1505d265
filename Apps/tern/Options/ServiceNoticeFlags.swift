import ArgumentParser
import TernServer

/// The flags for the notice of a server that accepts no requests.
struct ServiceNoticeFlags: ParsableArguments {
  @Option(help: ArgumentHelp("Send all clients to another server.", valueName: "host"))
  var movedTo: String?

  @Option(help: ArgumentHelp("Tell all clients not to come back, and why.", valueName: "reason"))
  var closed: String?

  func validate() throws {
    guard movedTo == nil || closed == nil else {
      throw ValidationError("give --moved-to or --closed, not both")
    }
    if let movedTo, !Self.isHost(movedTo) {
      throw ValidationError("--moved-to needs a host, such as db2.example.com:9000")
    }
  }

  /// `nil` for a server that serves.
  var farewell: ServiceNotice? {
    if let movedTo { return .moved(host: movedTo) }
    return closed.map { .closed(reason: $0) }
  }

  /// A name or an address, and perhaps a port; it stands in a header.
  private static func isHost(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
          UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
          true
        default: false
        }
      }
  }
}
