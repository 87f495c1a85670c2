# The front door. CMake does the work; see CMakeLists.txt.
.PHONY: all build test asan clean
all: build
build:
	@cmake --preset release >/dev/null && cmake --build build
asan:
	@cmake --preset asan >/dev/null && cmake --build build-asan --target all tests
test: asan
	@tools/run-tests build-asan
clean:
	rm -rf build build-*
