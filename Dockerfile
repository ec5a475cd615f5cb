# Builds migrate with Swift's official image, and makes a small image that runs it.
# The page "Running on a Mac" shows how to use both.

FROM swift:6.3-bookworm AS develop
RUN apt-get update && apt-get install -y --no-install-recommends make
WORKDIR /migration
COPY Scripts/install-dependencies Scripts/
RUN Scripts/install-dependencies test
RUN useradd --create-home --shell /bin/bash developer

FROM develop AS build
COPY . .
RUN make install DESTDIR=/out PREFIX=/usr

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        libexpat1 libsqlite3-0 libssl3 libxxhash0 libzstd1 openssh-client zlib1g \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /out /
RUN useradd --create-home migrate
USER migrate
WORKDIR /data
ENTRYPOINT ["migrate"]
