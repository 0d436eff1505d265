import TernCore
import TernQuery

/// One location of the tree.
///
/// - Note: `@unchecked` as its superclass is; sound because what it adds is immutable.
public final class DatabaseReference: DatabaseQuery, @unchecked Sendable {
  init(database: Database, path: TreePath, problem: DatabaseError? = nil) {
    super.init(database: database, path: path, query: .all, problem: problem)
  }

  /// The last segment of the path; `nil` at the top.
  public var key: String? { path.last?.text }

  /// The location above; `nil` at the top.
  public var parent: DatabaseReference? {
    path.parent.map { DatabaseReference(database: database, path: $0, problem: problem) }
  }

  /// The top of the tree.
  public var root: DatabaseReference { DatabaseReference(database: database, path: .root) }

  /// The location at `pathString` below this one.
  ///
  /// What does not follow the rules of keys is no location: every use of it fails with
  /// ``DatabaseError/invalid(_:)``. Firebase's own SDK ends the program.
  public func child(_ pathString: String) -> DatabaseReference {
    if problem != nil { return self }
    do throws(TreeError) {
      return descendant(try TreePath(pathString))
    } catch {
      return DatabaseReference(
        database: database, path: path,
        problem: .invalid("\"\(pathString)\" is not a path: \(error)"))
    }
  }

  /// A child with a new unique key that sorts after the keys made before it.
  public func childByAutoId() -> DatabaseReference {
    descendant(TreePath.root.appending(database.nextKey()))
  }

  /// The address of the location.
  public var url: String {
    path.keys.reduce(database.address) { $0 + "/" + DatabaseReference.escaped($1.text) }
  }

  func descendant(_ path: TreePath) -> DatabaseReference {
    DatabaseReference(database: database, path: self.path.appending(path), problem: problem)
  }

  /// Percent-encodes everything but ASCII letters, digits, `-`, `_` and `~`.
  private static func escaped(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    var escaped = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        escaped += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
    return escaped
  }
}

extension DatabaseReference: CustomDebugStringConvertible {
  /// The address of the location. A method, as Firebase declares it.
  public func description() -> String { url }

  public var debugDescription: String { url }
}

extension DatabaseReference {
  /// Ends the connection of the default database: ``Database/goOffline()``.
  public static func goOffline() { Database.database().goOffline() }

  /// Allows the default database a connection again: ``Database/goOnline()``.
  public static func goOnline() { Database.database().goOnline() }
}

extension DatabaseReference: Equatable {
  public static func == (left: DatabaseReference, right: DatabaseReference) -> Bool {
    left.database === right.database && left.path == right.path && left.problem == right.problem
  }
}
