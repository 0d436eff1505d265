// Firebase's modules pass Foundation on, and code for them relies on it.

@_exported public import Foundation
