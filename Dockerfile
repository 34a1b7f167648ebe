# The service as a container: `docker build -t bourse .`; docs/production.md tells how to run it.
# The Debian of both stages must be the same: the binary is linked against its C library.
ARG RUST=1.94
ARG DEBIAN=trixie

FROM rust:${RUST}-slim-${DEBIAN} AS build
WORKDIR /build
COPY .cargo .cargo
COPY Cargo.toml Cargo.lock bourse.default.toml ./
COPY crates crates
COPY bench bench
COPY contracts/artifacts contracts/artifacts
# The caches stay between builds, so the binary must leave them before this step ends.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/build/target \
    cargo build --profile shipped --locked -p bourse \
    && install -D -m 0755 target/shipped/bourse /out/bourse \
    && strip /out/bourse

FROM debian:${DEBIAN}-slim
# What other machines' certificates are checked with.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && install -d -m 0700 -o 10001 -g 10001 /var/lib/bourse
COPY --from=build /out/bourse /usr/local/bin/bourse
# A number, so that whoever runs it can see that this is not root without looking into the image.
USER 10001:10001
ENV BOURSE_SERVER__LISTEN=0.0.0.0:4010 \
    BOURSE_STORAGE__DATA=/var/lib/bourse
WORKDIR /var/lib/bourse
VOLUME /var/lib/bourse
EXPOSE 4010
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 CMD ["bourse", "health"]
ENTRYPOINT ["bourse"]
CMD ["serve"]
