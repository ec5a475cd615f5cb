PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
PORT ?= 8000
export SWIFT

.DEFAULT_GOAL := help
.PHONY: help demo test install deb check bench corpus containment encryption bounds fidelity enumerate fuzz torture allocations soak streams object-store transfer fleet stores mutants coverage docs docs-serve clean

help: ## shows this list
	@sed -n 's/^\([a-z-]*\):[a-z ]* ## \(.*\)/  make \1|\2/p' Makefile | awk -F '|' '{ printf "%-17s %s\n", $$1, $$2 }'

demo: ## moves containers from one place to another, and an app from Android to iOS, step by step
	@Scripts/demo

test: ## runs everything that CI runs, FILTER=Import only the tests whose names match
	@Scripts/test $${FILTER:+"$$FILTER"}

install: ## installs migrate, one binary, its completions and manual pages beneath $(DESTDIR)$(PREFIX)
	Scripts/install-dependencies build
	products=$$(Scripts/build-release migrate) && Scripts/install-files "$$products/migrate" "$(DESTDIR)$(PREFIX)"

deb: ## builds a Debian package, .build/packages/migrate_*.deb
	@Scripts/package-deb

check: ## runs format lint, strict builds, all tests with sanitizers, the documentation build
	@Scripts/install-dependencies test
	@Scripts/check

bench: ## measures migrate against every installed archiver, and what an extension costs
	@Scripts/bench

fidelity: ## proves the round trip on large trees of this machine and on a container of oddities
	@Scripts/prove round-trip
	@Scripts/prove odd-container

enumerate: ## tries every bit, every length and every moment at which a source can change
	@Scripts/enumerate

corpus: ## runs odd and hostile archives through migrate and other readers, CORPUS=directories
	@Scripts/prove corpus $(CORPUS)

containment: ## imports while directories become links to outside, T=60 seconds
	@Scripts/prove-containment $(T)

encryption: ## moves large encrypted archives between migrate and age, both ways, N=5120 megabytes
	@Scripts/prove encryption $(if $(N),--megabytes $(N))

bounds: ## measures the memory that archives take which try to take much
	@Scripts/prove bounds

fuzz: ## looks for inputs that break the readers, T=60 seconds each
	@Scripts/fuzz $(T)

torture: ## fails every call of exports and imports in every way, S=1 (every S-th point)
	@Scripts/prove torture $(if $(S),--step $(S))

allocations: ## fails every allocation of an operation, POINTS=100 of each that are spread evenly
	@Scripts/prove allocations $(if $(POINTS),--points $(POINTS))

fleet: ## moves N=10000 small containers while runs are killed, and compares every tree, WITH=parallel|slurm
	@Scripts/prove fleet $(if $(N),--jobs $(N)) $(if $(WITH),--with $(WITH))

object-store: ## kills uploads to an S3 server at random bytes, K=120
	@Scripts/prove object-store $(if $(K),--kills $(K))

transfer: ## kills transfers over ssh at random bytes, K=250, and finishes them
	@Scripts/prove transfer $(if $(K),--kills $(K))

streams: ## kills exports into a command at random bytes, K=1000 of each kind
	@Scripts/prove streams $(if $(K),--kills $(K))

stores: ## migrates stores while apps wait, kills migrations and tries random schemas, SEED=1 repeats the choices
	@Scripts/prove stores $(if $(SEED),--seed $(SEED))

soak: ## mixes operations, kills and faults at random, T=3600 seconds, SEED=1 repeats the choices
	@Scripts/prove soak $(if $(T),--seconds $(T)) $(if $(SEED),--seed $(SEED))

mutants: ## turns off one guard or comparison at a time, N=40, and says which no test of its module notices
	@Scripts/mutants $(N)

coverage: ## runs the unit tests and prints how many lines of each module they reach
	@Scripts/install-dependencies test
	@Scripts/coverage

docs: ## builds the documentation into .build/docs
	@Scripts/check docs
	@echo "built .build/docs; 'make docs-serve' serves it"

docs-serve: docs ## serves the documentation, PORT=8000
	@echo "http://localhost:$(PORT)/ (Control-C ends it)"
	@python3 -m http.server --directory .build/docs --bind 127.0.0.1 $(PORT)

clean: ## removes everything that was built
	rm -rf .build Benchmarks/.build Examples/*/.build
	@if [ -e .demo ]; then chmod -R u+rwX .demo && rm -rf .demo; fi
