import { parse } from 'yaml'
import { z } from 'zod'
import { textOf } from '../grafana/files.ts'

/** What each part of a service may be, of the Compose Specification: anything else is an error. */
const duration = z.string().regex(/^\d+(ms|s|m|h)$/)
const service = z.strictObject({
  profiles: z.tuple([z.literal('people')]).optional(),
  build: z.literal('.').optional(),
  image: z.string().regex(/^(depositd|.+:v?\d.*)$/, 'names no version'),
  user: z.string().optional(),
  env_file: z
    .union([
      z.literal('.env'),
      z.tuple([z.strictObject({ path: z.literal('receivers.env'), required: z.literal(false) })]),
    ])
    .optional(),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string()).default([]),
  tmpfs: z.array(z.string().startsWith('/')).default([]),
  command: z.array(z.string()).default([]),
  networks: z.array(z.string()).default([]),
  network_mode: z.literal('none').optional(),
  ports: z.array(z.string()).default([]),
  depends_on: z
    .record(
      z.string(),
      z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }),
    )
    .default({}),
  healthcheck: z
    .strictObject({
      test: z.tuple([z.literal('CMD')]).rest(z.string()),
      interval: duration,
      timeout: duration,
      start_period: duration.optional(),
      retries: z.int().positive(),
    })
    .optional(),
  shm_size: z
    .string()
    .regex(/^\d+[kmg]$/)
    .optional(),
  stop_signal: z.string().regex(/^SIG/).optional(),
  stop_grace_period: duration.optional(),
  restart: z.enum(['unless-stopped', 'no']),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  logging: z.strictObject({
    driver: z.literal('json-file'),
    options: z.strictObject({ 'max-size': z.string(), 'max-file': z.string() }),
  }),
  deploy: z.strictObject({
    resources: z.strictObject({
      limits: z.strictObject({
        cpus: z.string().regex(/^\d+(\.\d+)?$/),
        memory: z.string().regex(/^\d+[MG]$/),
        pids: z.int().positive(),
      }),
    }),
  }),
})

const composeShape = z.strictObject({
  name: z.string(),
  'x-hardened': z.unknown(),
  'x-depositd': z.unknown(),
  services: z.record(z.string(), service),
  networks: z.record(z.string(), z.object({ internal: z.boolean() }).nullable()),
  volumes: z.record(z.string(), z.null()),
})

export const composeText = textOf('docker-compose.yml')
export const compose = composeShape.parse(parse(composeText, { merge: true }))
export const services = Object.entries(compose.services)
/** They end when their work is done, before the daemons start. */
export const oneShots = ['setup', 'depositd-migrate']
export const daemons = ['depositd-http', 'depositd-worker']
/** Run from the image of the Dockerfile. */
export const programs = [...oneShots, ...daemons, 'people']

/** What a service may take, in MiB. */
export function memoryOf(name: string): number {
  const [, count, unit] =
    /^(\d+)([MG])$/.exec(compose.services[name]?.deploy.resources.limits.memory ?? '') ?? []
  return Number(count) * (unit === 'G' ? 1024 : 1)
}

/** Names of daemons; each of their addresses is asked. */
const names = z.strictObject({
  names: z.array(z.string()),
  type: z.literal('A'),
  port: z.int(),
  refresh_interval: duration,
})

const scraping = z.object({
  scrape_configs: z.array(z.object({ dns_sd_configs: z.array(names), relabel_configs: z.unknown() })),
  alerting: z.object({
    alertmanagers: z.array(z.object({ static_configs: z.array(z.object({ targets: z.array(z.string()) })) })),
  }),
})

/** Whom Prometheus asks, and whom it tells of alerts. */
export const prometheusSettings = scraping.parse(parse(textOf('grafana/prometheus/prometheus.yml')))
