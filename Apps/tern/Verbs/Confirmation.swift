import ArgumentParser
import TernCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The confirmation of a command that destroys data.
struct ConfirmationFlag: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Do not ask before data are destroyed.")
  var yes = false

  /// Asks on a terminal. Without one, what would destroy a whole database needs `--yes`.
  ///
  /// - Parameters:
  ///   - deed: What would be done, in the infinitive: "remove everything at /rooms".
  ///   - path: Where.
  /// - Throws: ``Failure``: the answer was no, or there is no terminal to ask on.
  func confirm(_ deed: String, at path: TreePath) throws(Failure) {
    if yes { return }
    guard isatty(0) == 1, isatty(2) == 1 else {
      guard path.isRoot else { return }
      throw Failure(.usage, "this would \(deed), the whole database; give --yes to do it")
    }
    _ = writeBytes(
      Array("\(deed.prefix(1).uppercased() + deed.dropFirst())? [y/N] ".utf8), to: 2, within: -1)
    let answer = readLine()?.lowercased() ?? ""
    guard answer == "y" || answer == "yes" else { throw Failure(.failed, "nothing was changed") }
  }
}
