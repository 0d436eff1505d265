#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Ends the program with a code that scripts can read.
func exit(code: Int32) -> Never { exit(code) }
