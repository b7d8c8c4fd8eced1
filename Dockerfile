# The image has the program and the Node.js of the tarball, which `npm run package` makes first. No secret is in it:
# the configuration, its secrets and the state are mounted (docs/install.md).
#   docker build --build-arg VERSION=0.1.0 --tag fleetgate .
# Debian of 2026-08-24. A newer one: docker buildx imagetools inspect debian:bookworm-slim
ARG BASE=debian:bookworm-slim@sha256:88200866dfff7ea7f5cbcb6ec7c8a701889efe6fe859fe64d6990e4b07ea4171

FROM ${BASE} AS unpacked
ARG ARCH=amd64
# As it stands in the tarball's name: dist-packages may have several.
ARG VERSION
ADD dist-packages/fleetgate-${VERSION}-linux-${ARCH}.tar.gz /unpacked/
RUN mv /unpacked/fleetgate-* /fleetgate && cd /fleetgate && rm -r systemd config

FROM ${BASE}
ARG VERSION
LABEL org.opencontainers.image.title="Fleetgate" \
  org.opencontainers.image.description="Edge gateway between a robot fleet service and the plant" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.vendor="Fleetgate maintainers" \
  org.opencontainers.image.base.name="debian:bookworm-slim"
RUN groupadd --gid 1000 fleetgate \
  && useradd --uid 1000 --gid 1000 --no-create-home --home-dir /var/lib/fleetgate --shell /usr/sbin/nologin fleetgate \
  && install -d -o fleetgate -g fleetgate -m 0700 /var/lib/fleetgate
COPY --from=unpacked /fleetgate /opt/fleetgate
ENV STATE_DIRECTORY=/var/lib/fleetgate
USER fleetgate
VOLUME /var/lib/fleetgate
STOPSIGNAL SIGTERM
# Whether a restart would mend something, by the control socket: nothing of the fleet, which a restart would not bring
# back.
HEALTHCHECK --interval=30s --timeout=5s --start-period=300s CMD ["/opt/fleetgate/bin/node", "-e", "http.get({socketPath:'/var/lib/fleetgate/control.sock',path:'/livez'},(answer)=>{process.exitCode=answer.statusCode===200?0:1;answer.pipe(process.stdout)}).on('error',(error)=>{process.exitCode=1;console.log(error.message)})"]
ENTRYPOINT ["/opt/fleetgate/bin/fleetgate"]
CMD ["run", "--config", "/etc/fleetgate/fleetgate.yaml"]
