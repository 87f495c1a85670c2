# The front door. CMake does the work: see CMakeLists.txt and CMakePresets.json.
#
#   make run     install what is missing, build, serve with a small demo
#   make test    install what is missing, build, run every test
#   make help    the rest

PREFIX ?= /usr/local

.PHONY: all build run test flaky asan tsan races tsan-races bench bench-keep eval fuzz fuzzers cov format tidy check-style \
	install deb deb-fresh tarball image site fresh train crash crash-tasks kills cluster disk endurance memory soak import-large clean help

all: build

build:                 ## build/clew, optimised
	@cmake --preset release >/dev/null
	@cmake --build build

run:                   ## build and serve on 127.0.0.1:2539 with a small demo
	@tools/setup build
	@$(MAKE) --no-print-directory build
	@exec build/clew serve --demo

test:                  ## every test; ends with "N passed, N failed"
	@tools/setup build test
	@$(MAKE) --no-print-directory asan
	@cmake --preset release >/dev/null
	@cmake --build build --target all api-tests
	@$(MAKE) --no-print-directory tsan-races
	@tools/run-tests build-asan:unit build:api build-tsan:races build:tidy

flaky:                 ## every test FLAKY_RUNS (20) times, under load too
	@tools/setup build test
	@cmake --preset release >/dev/null
	@cmake --build build --target all tests api-tests
	@tools/run-flaky build:unit build:api

# A folder of a time when another compiler was used is made anew.
with_clang = cmake --preset $(1) $$(grep -qs '^CLEW_CLANG:.*=ON' build-$(1)/CMakeCache.txt || echo --fresh)

asan:                  ## build with AddressSanitizer and UBSan in build-asan
	@$(call with_clang,asan) >/dev/null
	@cmake --build build-asan --target all tests

tsan:                  ## unit tests under ThreadSanitizer
	@cmake --preset tsan >/dev/null
	@cmake --build build-tsan --target all tests
	@tools/run-tests build-tsan:unit

races: tsan-races      ## ThreadSanitizer where threads meet; part of make test
	@tools/run-tests build-tsan:races

tsan-races:
	@cmake --preset tsan >/dev/null
	@cmake --build build-tsan --target races

bench:                 ## measure, an hour at most; BENCHES="cost recall": a part
	@tools/setup build test
	@cmake --preset release >/dev/null
	@cmake --build build --target all benches
	@tools/run-benches build $(BENCHES)

bench-keep:            ## keep the figures of the last run as bench/last.tsv
	@tools/run-benches --keep build

eval:                  ## score it on the public sets in SETS (../shared/bench)
	@tools/setup build
	@$(MAKE) --no-print-directory build
	@tools/eval build $${SETS:-../shared/bench}

fuzz:                  ## each target for FUZZ_SECONDS (60), or all for FUZZ_TOTAL
	@tools/setup build test
	@$(MAKE) --no-print-directory fuzzers
	@tools/run-fuzzers build-fuzz

fuzzers:
	@$(call with_clang,fuzz) >/dev/null
	@cmake --build build-fuzz --target fuzzers

cov:                   ## line coverage of the unit tests
	@tools/setup build test dev
	@cmake --preset cov >/dev/null
	@cmake --build build-cov --target all tests
	@tools/run-tests build-cov:unit
	@gcovr --root . --filter src/ build-cov --print-summary | tail -n 3

format:                ## clang-format everything
	@git ls-files '*.c' '*.h' | xargs clang-format -i

tidy:                  ## clang-tidy over src/; part of make test
	@tools/tidy

check-style:           ## layers and rooms, banned calls, widths, lengths
	@tools/check-style

install: build         ## into PREFIX (/usr/local), under DESTDIR
	@cmake --install build --prefix $(PREFIX)

deb: build             ## build/clew_VERSION_ARCH.deb, and the library's
	@tools/make-deb build

deb-fresh: deb         ## prove the packages in a bare Debian 12 (root)
	@tools/setup dev
	@tools/fresh deb

tarball: build         ## build/clew-VERSION-ARCH.tar.gz: unpack and run
	@cmake --build build --target clew-portable >/dev/null
	@tools/make-tarball build

image: tarball         ## build/clew-VERSION-ARCH.oci.tar and build/image, for containers
	@tools/make-image build

site:                  ## build/site: the documentation as pages
	@mkdir -p build
	@tools/make-site build

fresh:                 ## prove run and test in a bare Debian 12 (root)
	@tools/setup build dev
	@tools/fresh

train:                 ## train models/reader.bin anew in DATA (a GPU, PyTorch)
	@tools/train-reader $(DATA)

clean:                 ## remove every build folder
	rm -rf build build-*

help:
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

crash:                 ## kill the server 100 times under load, on both stores
	@tools/setup build test
	@$(MAKE) --no-print-directory build
	@cd tests/node && CLEW_BIN=$(CURDIR)/build/clew CRASH_KILLS=$${CRASH_KILLS:-100} node --test crash.test.mjs

kills:                 ## kill two processes KILLS (1000) times, each store 40 min
	@tools/setup build test
	@$(MAKE) --no-print-directory build
	@cd tests/node && CLEW_BIN=$(CURDIR)/build/clew KILLS=$${KILLS:-1000} KILLS_MINUTES=$${KILLS_MINUTES:-40} node --test kills.test.mjs

cluster:               ## Patroni, pgbouncer, haproxy and clew on loopback, parts killed
	@tools/setup build cluster
	@$(MAKE) --no-print-directory build
	@CLEW_BIN=$(CURDIR)/build/clew node tests/cluster/run.mjs

endurance:             ## mixed load for ENDURE_MINUTES (30) on each store
	@tools/setup build test
	@$(MAKE) --no-print-directory build
	@cd tests/node && CLEW_BIN=$(CURDIR)/build/clew ENDURE_MINUTES=$${ENDURE_MINUTES:-30} node --test endurance.test.mjs

memory:                ## fail every allocation of every call in turn, both stores
	@tools/setup build test
	@$(call with_clang,asan) >/dev/null
	@cmake --build build-asan --target t_api_memory
	@CLEW_TEST_EVERY_ALLOCATION=yes build-asan/tests/t_api_memory 2>&1 | grep -v ' error api failed '

disk:                  ## the disk is full from each single step on, both stores
	@tools/setup build test
	@$(MAKE) --no-print-directory build
	@cmake --build build --target full_disk
	@cd tests/node && CLEW_BIN=$(CURDIR)/build/clew DISK_STEPS=all node --test disk.test.mjs

import-large:          ## a ChatGPT zip of IMPORT_MB (200) MB, broken off, resumed
	@tools/setup build test
	@$(MAKE) --no-print-directory build
	@cd tests/node && CLEW_BIN=$(CURDIR)/build/clew IMPORT_MB=$${IMPORT_MB:-200} node --test import-large.test.mjs

soak:                  ## 10,000 hostile texts into contexts, counted for real
	@tools/setup build test
	@$(MAKE) --no-print-directory build
	@cd tests/node && CLEW_BIN=$(CURDIR)/build/clew CONTEXT_SIZES=$${CONTEXT_SIZES:-10000} node --test context-size.test.mjs

crash-tasks:           ## kill the server 50 times while tasks run, on both stores
	@tools/setup build test
	@$(MAKE) --no-print-directory build
	@cd tests/node && CLEW_BIN=$(CURDIR)/build/clew CRASH_KILLS=$${CRASH_KILLS:-50} node --test crash-tasks.test.mjs
