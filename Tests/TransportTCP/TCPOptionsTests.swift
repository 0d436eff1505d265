import Foundation
import TernTransport
import TernTransportTCP
import Testing

@Suite("TCP options") struct TCPOptionsTests {
  @Test("what the configuration leaves out has a standard value")
  func standards() throws {
    let options = try JSONDecoder().decode(TCPOptions.self, from: Data(#"{"port": 1}"#.utf8))
    #expect(options == TCPOptions(port: 1))
    #expect(options.frameLimitBytes == 64 << 20)
  }

  #if TCP
    @Test("a value outside its range is refused by name")
    func ranges() {
      var options = TCPOptions(port: 70_000)
      #expect(throws: TransportError.self) { try TCPPlugin.open(options) }
      options = TCPOptions(host: "")
      #expect(throws: TransportError.invalidOption(name: "host", reason: "it is empty")) {
        try TCPPlugin.open(options)
      }
    }
  #else
    @Test("a build without the trait says so")
    func notBuilt() {
      #expect(throws: TransportError.notBuilt(kind: "tcp", trait: "TCP")) {
        try TCPPlugin.open(TCPOptions())
      }
    }
  #endif
}
