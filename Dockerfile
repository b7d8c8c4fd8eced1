# Two stages: what builds Fleetgate is not in the image that runs it, and no secret is in either.
# The configuration, its secrets and the state are mounted (docs/install.md).
ARG NODE_VERSION=24

FROM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN npm run build && npm prune --omit=dev

FROM node:${NODE_VERSION}-bookworm-slim
ENV NODE_ENV=production STATE_DIRECTORY=/var/lib/fleetgate
RUN install -d -o node -g node -m 0700 /var/lib/fleetgate
WORKDIR /opt/fleetgate
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY package.json LICENSE ./
USER node
VOLUME /var/lib/fleetgate
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--no-memory-reducer", "--max-semi-space-size=32", "--no-allocation-site-pretenuring", "/opt/fleetgate/dist/main.js"]
CMD ["run", "--config", "/etc/fleetgate/fleetgate.yaml"]
