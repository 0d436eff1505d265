import Foundation
import TernPostgresTesting
import Testing

@testable import tern

/// The clients that Google ships for Python, played against a node that does not lead.
enum StockClients {
  private static let python = place("../../../.build/python/bin/python")
  static let areInstalled = FileManager.default.isExecutableFile(atPath: python)

  private static func place(_ path: String) -> String {
    // Not standardized: a link to a program is followed then, and Python looks beside itself.
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: path).path
  }

  /// Plays a script of at least 80 cases.
  ///
  /// - Parameter followers: The value of `ledger.followers`.
  static func play(_ script: String, followers: String) async throws {
    try await withCluster(followers: followers, arguments(of: script)) { cluster, follower in
      try await play(script, cluster, at: follower)
    }
  }

  /// The arguments of servers that a script needs.
  static func arguments(of script: String) -> [String] {
    script == "cases.py" ? ["--rules", place("../Admin/rules.json")] : []
  }

  /// Plays a script of at least 80 cases at one node.
  static func play(_ script: String, _ cluster: ClusterUnderTest, at node: Int) async throws {
    let played = try ChildProcess(
      python, [place("../Admin/\(script)"), "127.0.0.1:\(cluster.port(of: node))"])
    let code = await played.exitCode(within: .seconds(300))
    if code == nil { played.killNow() }
    _ = await played.output.line(within: patience) { _ in false }
    let lines = played.output.history
    #expect(lines.filter { $0.hasPrefix("FAILED") } == [])
    #expect(lines.count { $0.hasPrefix("ok ") } >= 80, "\(played.errors.history.suffix(20))")
    #expect(code == 0)
  }
}
