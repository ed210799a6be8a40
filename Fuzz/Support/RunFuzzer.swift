// SwiftPM makes an executable's entry `<target>_main`, and libFuzzer brings its own `main`: this leads from the one to
// the other. (Both functions take pointers and numbers only, for which Swift's and C's conventions are the same.)

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutableRawPointer,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Runs libFuzzer on `test` with the program's arguments.
public func runFuzzer(
  _ count: CInt, _ arguments: UnsafeMutableRawPointer, _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt {
  var (count, list) = (count, arguments)
  return withUnsafeMutablePointer(to: &list) { runDriver(&count, $0, test) }
}
