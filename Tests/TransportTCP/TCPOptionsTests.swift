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

    #if TLS
      @Test("an invalid certificate file is named before any connection is tried")
      func files() {
        var options = TCPOptions(port: 1)
        options.tls = TLSOptions()
        for (file, reason) in [
          ("/no/roots.pem", "/no/roots.pem: there is no such file"),
          ("/dev/null", "/dev/null holds no certificate in PEM"),
        ] {
          options.tls?.roots = file
          #expect(throws: TransportError.invalidOption(name: "tls.roots", reason: reason)) {
            try TCPPlugin.open(options)
          }
        }
      }

    #else
      @Test("a build without TLS says so, and which trait it lacks")
      func unbuilt() {
        var options = TCPOptions(port: 1)
        options.tls = TLSOptions()
        #expect(throws: TransportError.notBuilt(kind: "tls", trait: "TLS")) {
          try TCPPlugin.open(options)
        }
      }
    #endif

    @Test("a transport that ends while it calls does not wait for the answer")
    func endingWhileCalling() async throws {
      // An address of documentation: no server answers, or no route leads there.
      var options = TCPOptions(host: "192.0.2.1", port: 9)
      options.connectTimeoutSeconds = 1
      let transport = try TCPPlugin.open(options)
      let call = Task { try await transport.connect { _ in Nobody() } }
      await Task.yield()
      await transport.shutdown()
      await #expect(throws: TransportError.self) { try await call.value }
    }

    private final class Nobody: LinkHandler {
      func linkDidReceive(_ frames: [[UInt8]]) {}
      func linkDidClose(_ reason: LinkClosure) {}
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
