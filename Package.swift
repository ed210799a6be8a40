// swift-tools-version: 6.2
import Foundation
import PackageDescription

// CI sets ATTACCA_STRICT=1: a warning is then an error. Fuzz targets are built only when asked for,
// because they replace `main` and need the sanitizer's runtime.
let strict = Context.environment["ATTACCA_STRICT"] == "1"
let fuzzing = Context.environment["ATTACCA_FUZZ"] == "1"

let swift: [SwiftSetting] =
  [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
  + (strict ? [.treatAllWarnings(as: .error)] : [])
  + (fuzzing ? [.unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"])] : [])

func target(_ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil) -> Target {
  .target(name: name, dependencies: dependencies, path: path, swiftSettings: swift)
}

/// The folder, if a target has it.
func present(_ folder: String, in target: String) -> [String] {
  FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/\(target)/\(folder)") ? [folder] : []
}

func test(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(
    name: name, dependencies: dependencies + ["TestSupport"], path: "Tests/\(name)",
    exclude: present("Fixtures", in: "Tests/\(name)"),
    swiftSettings: swift)
}

var targets: [Target] = [
  // System libraries: Debian's -dev packages.
  .systemLibrary(
    name: "CFFmpeg", path: "Sources/Support/CFFmpeg", pkgConfig: "libavformat libavcodec libswresample libavutil"),
  // libpulse is linked by its module map: its .pc file carries compiler flags that SwiftPM warns about.
  .systemLibrary(name: "CPulse", path: "Sources/Support/CPulse"),
  .systemLibrary(name: "CEBUR128", path: "Sources/Support/CEBUR128"),
  .systemLibrary(name: "CMalloc", path: "Sources/Support/CMalloc"),

  target("POSIXKit", ["CMalloc"], path: "Sources/Support/POSIXKit"),
  target("AttaccaCore"),
  target("AttaccaEngine", ["AttaccaCore", "POSIXKit", "CFFmpeg", "CEBUR128"]),
  target("AttaccaAudio", ["AttaccaCore", "POSIXKit", "CPulse"]),
  target("Attacca", ["AttaccaCore", "AttaccaEngine", "AttaccaAudio", "POSIXKit"]),
  .executableTarget(name: "AttaccaPlayer", dependencies: ["Attacca", "POSIXKit"], swiftSettings: swift),
  .executableTarget(name: "AttaccaCLI", dependencies: ["POSIXKit"], swiftSettings: swift),

  target("TestSupport", ["AttaccaCore", "POSIXKit"], path: "Tests/TestSupport"),
  test("POSIXKitTests", ["POSIXKit"]),
  test("AttaccaCoreTests", ["AttaccaCore"]),
  test("AttaccaEngineTests", ["AttaccaEngine"]),
  test("AttaccaAudioTests", ["AttaccaAudio"]),
  test("AttaccaTests", ["Attacca"]),
  test("AttaccaPlayerTests", ["AttaccaPlayer", "Attacca"]),
]

if fuzzing {
  targets.append(target("FuzzSupport", ["AttaccaCore"], path: "Fuzz/Support"))
  for (name, dependencies) in [
    ("TrimFuzz", ["AttaccaCore", "AttaccaEngine"]), ("TagFuzz", ["AttaccaCore", "AttaccaEngine"]),
    ("DecodeFuzz", ["AttaccaCore", "AttaccaEngine", "CFFmpeg"]),
  ] as [(String, [Target.Dependency])] {
    targets.append(
      .executableTarget(
        name: name, dependencies: dependencies + ["FuzzSupport"], path: "Fuzz/\(name)",
        exclude: present("corpus", in: "Fuzz/\(name)"),
        swiftSettings: swift + [.unsafeFlags(["-parse-as-library"])],
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address"])]))
  }
}

let package = Package(
  name: "Attacca",
  products: [
    .library(name: "Attacca", targets: ["Attacca"]),
    .executable(name: "attacca", targets: ["AttaccaCLI"]),
    .executable(name: "attacca-player", targets: ["AttaccaPlayer"]),
  ],
  targets: targets
)
