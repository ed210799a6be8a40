@_exported import AttaccaCore
