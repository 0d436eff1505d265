/// The 16 words of 32 bits that a hash folds in at once, stored in place.
///
/// The standard library's array of a fixed size asks for newer systems than an application of ours.
struct WordBlock {
  private typealias Words = (
    UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32,
    UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32
  )

  private var words: Words = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

  /// The word at an index, of which the lowest four bits count.
  ///
  /// Reading changes nothing; it is mutating so that the words are read where they are.
  subscript(index: Int) -> UInt32 {
    // Safe: the tuple is 16 words and nothing else, and the index is less than 16.
    @inline(__always)
    mutating get {
      unsafe withUnsafeMutablePointer(to: &words) { words in
        unsafe words.withMemoryRebound(to: UInt32.self, capacity: 16) { unsafe $0[index & 15] }
      }
    }
    @inline(__always)
    set {
      unsafe withUnsafeMutablePointer(to: &words) { words in
        unsafe words.withMemoryRebound(to: UInt32.self, capacity: 16) {
          unsafe $0[index & 15] = newValue
        }
      }
    }
  }
}
