# One image for every role: `docker run annals command/main.ts`, and for the command line: `docker run annals annals.ts help`.
# Only Node itself is specific to a processor, so every platform is built without emulation (docker-bake.hcl).
ARG NODE=24.21.0

# The dependencies without development packages, Node from npm, the embedded PostgreSQL (DATABASE_URL is set), types and source maps.
FROM --platform=$BUILDPLATFORM node:${NODE}-alpine AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts && rm -rf node_modules/node node_modules/.bin \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.md' \) -exec rm {} +
# The user of the roles, and the folders it owns.
RUN mkdir -p /root-of-image/etc /root-of-image/var/lib && cd /root-of-image \
  && echo 'root:x:0:0:root:/root:/sbin/nologin' > etc/passwd && echo 'annals:x:1000:1000:annals:/var/lib/annals:/sbin/nologin' >> etc/passwd \
  && printf 'root:x:0:\nannals:x:1000:\n' > etc/group \
  && mkdir var/lib/annals var/lib/annals-audit && chown 1000:1000 var/lib/annals var/lib/annals-audit

FROM node:${NODE}-alpine AS node

# Without npm and its packages.
FROM alpine:3.23
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/lib/libstdc++.so.6 /usr/lib/libgcc_s.so.1 /usr/lib/
COPY --from=dependencies /root-of-image/ /
ENV NODE_ENV=production DATA_DIR=/var/lib/annals METRICS_HOST=0.0.0.0 INTERNAL_HOST=0.0.0.0
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY . .
# A number, so that Kubernetes can verify that it is not root.
USER 1000:1000
# The uploads, unless BLOB_URL names another place, and the audit files outside the database (AUDIT_DIR). All roles share both.
VOLUME ["/var/lib/annals", "/var/lib/annals-audit"]
# Clients, metrics, and commands of the other roles.
EXPOSE 4000 9464 4100
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --start-interval=1s \
  CMD wget -q -O /dev/null "http://127.0.0.1:${PORT:-4000}/readyz" || exit 1
ENTRYPOINT ["node"]
CMD ["main.ts"]
LABEL org.opencontainers.image.title="Annals" \
  org.opencontainers.image.description="The backend for systems that must prove what happened" \
  org.opencontainers.image.licenses="MIT"
