# Attacca. `make help` lists what there is.
#
#   PREFIX=/usr/local DESTDIR=      where `make install` puts things
#   FUZZ_SECONDS=1800               how long each fuzzer runs
#   SUITES="…"                      only these suites of `make test`, e.g. "AttaccaCoreTests gapless"

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 1800
SUITES ?=

SWIFT_BUILD = swift build -c release --static-swift-stdlib
RELEASE = .build/release
PROGRAMS = $(RELEASE)/attacca $(RELEASE)/attacca-player
INSTALL ?= install

.DEFAULT_GOAL := build
.PHONY: build run test lint bench fuzz soak check-long install uninstall clean help

## build: the release programs, with the Swift runtime inside
build:
	@scripts/setup build
	$(SWIFT_BUILD) --product attacca
	$(SWIFT_BUILD) --product attacca-player

## run: build, make the demo album, play it
run:
	@scripts/setup run
	$(SWIFT_BUILD) --product attacca
	$(SWIFT_BUILD) --product attacca-player
	@scripts/make-demo .media/demo
	$(RELEASE)/attacca play --no-resume .media/demo

## test: everything, with a time per suite
test:
	@scripts/test $(SUITES)

## lint: format, scripts, man page, and the rules of the house
lint:
	@scripts/lint

## bench: beside the players that are installed; fails when a bar does not hold
bench:
	@scripts/setup bench
	@$(MAKE) --no-print-directory build
	@scripts/with-pulse Benchmarks/run

## fuzz: every fuzzer for FUZZ_SECONDS
fuzz:
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz

## soak: the long variants of the system tests
soak:
	@ATTACCA_LONG=1 scripts/test --system

## check-long: all tests under the sanitizers, then the long variants
check-long:
	@scripts/setup test
	@scripts/make-media .media/test
	ASAN_OPTIONS=detect_leaks=0 swift test --sanitize=address --scratch-path .build/asan
	swift test --sanitize=thread --scratch-path .build/tsan
	@ATTACCA_LONG=1 scripts/test

# Only built when missing, so that `sudo make install` builds nothing as root.
$(PROGRAMS):
	@$(MAKE) --no-print-directory build

## install: programs, man page and completions under DESTDIR and PREFIX
install: $(PROGRAMS)
	$(INSTALL) -D -m 755 $(RELEASE)/attacca "$(DESTDIR)$(PREFIX)/bin/attacca"
	$(INSTALL) -D -m 755 $(RELEASE)/attacca-player "$(DESTDIR)$(PREFIX)/libexec/attacca/attacca-player"
	$(INSTALL) -D -m 644 man/attacca.1 "$(DESTDIR)$(PREFIX)/share/man/man1/attacca.1"
	$(INSTALL) -D -m 644 completions/attacca.bash "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/attacca"
	$(INSTALL) -D -m 644 completions/_attacca "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_attacca"
	$(INSTALL) -D -m 644 completions/attacca.fish "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/attacca.fish"

## uninstall: takes away what install put there
uninstall:
	rm -f "$(DESTDIR)$(PREFIX)/bin/attacca" "$(DESTDIR)$(PREFIX)/libexec/attacca/attacca-player" \
	  "$(DESTDIR)$(PREFIX)/share/man/man1/attacca.1" \
	  "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/attacca" \
	  "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_attacca" \
	  "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/attacca.fish"
	-rmdir "$(DESTDIR)$(PREFIX)/libexec/attacca" 2>/dev/null

## clean: everything that was built or generated
clean:
	rm -rf .build .media

## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): /\1\t/p' Makefile | awk -F '\t' '{ printf "  make %-12s %s\n", $$1, $$2 }'
