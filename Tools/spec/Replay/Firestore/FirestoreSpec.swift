import Foundation
public import TernCore

/// Recorded behavior of Cloud Firestore, replayed group by group.
///
/// A group lives in a file of its own and is listed in ``groups``.
public enum FirestoreSpec {
  /// The groups, in the order in which they run.
  public static var groups: [any FirestoreSpecGroup.Type] {
    [
      FirestoreRulesGroup.self,
      BackendQueriesSpec.self,
      ListenSpec.self,
      BloomSpec.self,
      ConformanceSpec.self,
      PipelinesSpec.self,
    ]
  }

  /// Replays groups of cases.
  ///
  /// - Parameters:
  ///   - folder: The folder with the recordings, `spec/firestore`.
  ///   - names: The groups to replay; all of them when empty.
  ///   - served: Groups that need a server, behind the others.
  ///   - onReport: Receives each group's name and report as soon as the group has run.
  /// - Throws: ``SpecError`` for an unknown group or a recording that cannot be read.
  public static func replay(
    _ folder: FirestoreRecordings, groups names: [String],
    served: [any FirestoreSpecGroup.Type] = [],
    onReport: (String, SpecReport) -> Void
  ) async throws {
    let groups = Self.groups + served
    for name in names where !groups.contains(where: { $0.name == name }) {
      let known = groups.map { $0.name }.joined(separator: ", ")
      throw SpecError("unknown group \(name); known: \(known)")
    }
    for group in groups where names.isEmpty || names.contains(group.name) {
      onReport(group.name, try await group.replay(folder))
    }
  }
}

/// One group of recorded cases.
public protocol FirestoreSpecGroup {
  /// The name of the group on the command line.
  static var name: String { get }

  /// Replays the group's cases, in the order of their files.
  static func replay(_ recordings: FirestoreRecordings) async throws -> SpecReport
}

/// The folder of recordings.
public struct FirestoreRecordings: Sendable {
  /// The path of the folder.
  public let path: String

  /// Names the folder.
  public init(path: String) { self.path = path }

  /// Returns the contents of a file.
  ///
  /// - Parameter name: The path below the folder, such as `rules/compile.json`.
  public func json(_ name: String) throws -> JSONValue {
    guard let contents = FileManager.default.contents(atPath: path + "/" + name) else {
      throw SpecError("cannot read \(path)/\(name)")
    }
    return try JSONValue(parsing: [UInt8](contents))
  }

  /// Returns the elements of a file that holds an array.
  public func cases(_ name: String) throws -> [JSONValue] {
    guard case .array(let cases) = try json(name) else {
      throw SpecError("\(name) is no array of cases")
    }
    return cases
  }
}
