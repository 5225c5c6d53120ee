# One image for every role: `docker run annals command/main.ts`, and for the command line: `docker run annals annals.ts help`.
# The Node of package.json, without the one that npm would bring, and without the embedded PostgreSQL: DATABASE_URL names one.
FROM node:24.21.0-alpine AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts && rm -rf node_modules/node node_modules/.bin

FROM node:24.21.0-alpine
ENV NODE_ENV=production DATA_DIR=/var/lib/annals METRICS_HOST=0.0.0.0 INTERNAL_HOST=0.0.0.0
WORKDIR /app
RUN install -d -o node -g node /var/lib/annals
COPY --from=dependencies /app/node_modules ./node_modules
COPY . .
USER node
# Where pictures are kept unless BLOB_URL says another place; the roles share it.
VOLUME /var/lib/annals
# Clients, metrics, and the other roles' commands.
EXPOSE 4000 9464 4100
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --start-interval=1s CMD ["node", "deploy/healthcheck.ts"]
ENTRYPOINT ["node"]
CMD ["main.ts"]
