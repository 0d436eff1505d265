#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension StorageLocation {
  /// Returns true when the folder holds the file `name`.
  package func holds(_ name: String) -> Bool { unsafe access(folder + "/" + name, F_OK) == 0 }
}
