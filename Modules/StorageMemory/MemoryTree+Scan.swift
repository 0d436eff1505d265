import TernStorage

extension MemoryTree {
  /// Appends the rows of `scan` to `page` until it is full or the range ends.
  func fill(_ page: inout RowPage, from scan: borrowing Scan) {
    let range = scan.range
    let upper = range.upper ?? []
    // Safe: the bounds and `root`, which holds all pages below, outlive the call.
    unsafe range.lower.withUnsafeBytes { lower in
      unsafe upper.withUnsafeBytes { upper in
        let bounds = unsafe MemoryBounds(
          lower: lower, upper: range.upper == nil ? nil : upper)
        _ =
          unsafe scan.isReversed
          ? root.fillReversed(&page, bounds) : root.fill(&page, bounds)
      }
    }
    extendLifetime(root)
  }
}

/// The bounds of a scan, where they still matter.
///
/// A bound is dropped on the way down, once a subtree lies wholly inside it, so that most rows are
/// appended without a comparison.
@unsafe
struct MemoryBounds {
  var lower: UnsafeRawBufferPointer?
  var upper: UnsafeRawBufferPointer?
}

extension MemoryPage {
  /// Appends rows in order; `false` when the page is full or the range has ended.
  fileprivate func fill(_ page: inout RowPage, _ bounds: MemoryBounds) -> Bool {
    guard !isLeaf else { return unsafe fillRows(&page, bounds) }
    var bounds = unsafe bounds
    let first = if let lower = unsafe bounds.lower { unsafe childIndex(lower) } else { 0 }
    let last = if let upper = unsafe bounds.upper { unsafe childIndex(upper) } else { count - 1 }
    guard first <= last else { return false }
    for index in first...last {
      let inner = unsafe MemoryBounds(
        lower: bounds.lower, upper: index == last ? bounds.upper : nil)
      let goesOn = unsafe child(index)._withUnsafeGuaranteedRef { unsafe $0.fill(&page, inner) }
      if !goesOn { return false }
      unsafe bounds.lower = nil
    }
    return true
  }

  private func fillRows(_ page: inout RowPage, _ bounds: MemoryBounds) -> Bool {
    var index = if let lower = unsafe bounds.lower { unsafe lowerBound(lower) } else { 0 }
    let end = if let upper = unsafe bounds.upper { unsafe lowerBound(upper) } else { count }
    while index < end {
      if page.isFull { return false }
      unsafe page.append(
        key: Span(_unsafeBytes: key(index)), value: Span(_unsafeBytes: value(index)))
      index += 1
    }
    return true
  }

  /// Appends rows against the order; `false` when the page is full.
  fileprivate func fillReversed(_ page: inout RowPage, _ bounds: MemoryBounds) -> Bool {
    guard !isLeaf else { return unsafe fillRowsReversed(&page, bounds) }
    var bounds = unsafe bounds
    let first = if let lower = unsafe bounds.lower { unsafe childIndex(lower) } else { 0 }
    let last = if let upper = unsafe bounds.upper { unsafe childIndex(upper) } else { count - 1 }
    guard first <= last else { return false }
    for index in (first...last).reversed() {
      let inner = unsafe MemoryBounds(
        lower: index == first ? bounds.lower : nil, upper: bounds.upper)
      let goesOn = unsafe child(index)._withUnsafeGuaranteedRef {
        unsafe $0.fillReversed(&page, inner)
      }
      if !goesOn { return false }
      unsafe bounds.upper = nil
    }
    return true
  }

  private func fillRowsReversed(_ page: inout RowPage, _ bounds: MemoryBounds) -> Bool {
    let start = if let lower = unsafe bounds.lower { unsafe lowerBound(lower) } else { 0 }
    var index = if let upper = unsafe bounds.upper { unsafe lowerBound(upper) } else { count }
    while index > start {
      if page.isFull { return false }
      index -= 1
      unsafe page.append(
        key: Span(_unsafeBytes: key(index)), value: Span(_unsafeBytes: value(index)))
    }
    return true
  }
}
