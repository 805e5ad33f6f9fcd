import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import { pathOf, textOf } from './files.ts'

const service = z
  .object({
    image: z.string().regex(/^(depositd|.+:v?\d.*)$/, 'names no version'),
    restart: z.literal('unless-stopped'),
    environment: z.record(z.string(), z.string()).default({}),
    secrets: z.array(z.string()).default([]),
    volumes: z.array(z.string()).default([]),
    command: z.array(z.string()).optional(),
    networks: z.array(z.string()).min(1),
    ports: z.array(z.string()).default([]),
    depends_on: z.record(z.string(), z.object({ condition: z.literal('service_healthy') })).default({}),
    healthcheck: z.object({ test: z.array(z.string()).min(2) }).optional(),
  })
  .loose()

const composeShape = z.strictObject({
  name: z.string(),
  services: z.record(z.string(), service),
  networks: z.record(z.string(), z.object({ internal: z.boolean() }).nullable()),
  volumes: z.record(z.string(), z.null()),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
})

const compose = composeShape.parse(parse(textOf('docker-compose.yml')))
const services = Object.entries(compose.services)
const example = textOf('.env.example')

describe('docker-compose.yml', () => {
  it('runs depositd with its database, its queue, and what shows it', () => {
    expect(Object.keys(compose.services)).toEqual(['depositd', 'postgres', 'redis', 'prometheus', 'grafana'])
  })

  it.each(services)('asks how %s is, itself or in its image', (name, { healthcheck }) => {
    const own = name === 'depositd' ? /^HEALTHCHECK .*\n.*\/livez/m.test(textOf('Dockerfile')) : healthcheck
    expect(own).toBeTruthy()
  })

  it('publishes only webhooks and Grafana, and both on loopback', () => {
    const published = services.flatMap(([name, { ports }]) => ports.map((port) => `${name} ${port}`))
    expect(published).toEqual(['depositd 127.0.0.1:8080:8080', 'grafana 127.0.0.1:3000:3000'])
  })

  it('keeps database, queue and metrics in networks without a way out', () => {
    const closed = Object.entries(compose.networks).filter(([, network]) => network?.internal)
    expect(closed.map(([name]) => name)).toEqual(['database', 'queue', 'watch'])
    for (const name of ['postgres', 'redis', 'prometheus'])
      expect(compose.services[name]?.networks).not.toContain('outside')
  })

  it('lets each service reach those that it is told of', () => {
    const reached = [
      ['depositd', 'postgres'],
      ['depositd', 'redis'],
      ['prometheus', 'depositd'],
      ['grafana', 'prometheus'],
      ['grafana', 'postgres'],
    ]
    const apart = reached.filter(([from = '', to = '']) => {
      const networks = compose.services[from]?.networks ?? []
      return !networks.some((network) => compose.services[to]?.networks.includes(network))
    })
    expect(apart).toEqual([])
  })

  it('mounts only files that are there, and volumes and secrets that it declares', () => {
    const sources = services.flatMap(([, { volumes }]) => volumes.map((volume) => volume.split(':')[0] ?? ''))
    const missing = sources.filter((source) =>
      source.startsWith('./') ? !existsSync(pathOf(source)) : !(source in compose.volumes),
    )
    expect(missing).toEqual([])
    const secrets = services.flatMap(([, one]) => one.secrets)
    expect(Object.keys(compose.secrets).toSorted()).toEqual([...new Set(secrets)].toSorted())
  })

  it('names as file of a setting only secrets that the service is given', () => {
    const strangers = services.flatMap(([name, { environment, secrets }]) =>
      Object.values(environment)
        .filter((value) => value.startsWith('/run/secrets/'))
        .filter((value) => !secrets.includes(value.slice('/run/secrets/'.length)))
        .map((value) => `${name} ${value}`),
    )
    expect(strangers).toEqual([])
  })

  it('gives Redis the policy without which the daemon refuses to start, and a log of what was added', () => {
    expect(compose.services.redis?.command).toEqual(
      expect.arrayContaining(['--maxmemory-policy', 'noeviction', '--appendonly', 'yes']),
    )
  })
})

describe('the settings of the composed daemon', () => {
  it('are complete and without fault, with .env as the example has it and each secret in its file', () => {
    const settings = composedSettings({})
    expect(settings).toMatchObject({
      databaseUrl: 'postgres://depositd:0a1b@postgres:5432/depositd',
      queueUrl: 'redis://redis:6379',
      http: { host: '0.0.0.0', port: 8080 },
      ops: { host: '0.0.0.0', port: 9464 },
    })
    expect(settings.networks.filter(({ rpcUrls }) => rpcUrls.length > 0)).toHaveLength(4)
  })

  it('are refused where .env names again what the file sets', () => {
    expect(() => composedSettings({ SERVICE_API_KEY: 'key' })).toThrow('SERVICE_API_KEY_FILE')
  })

  it('listen where Prometheus, Docker and the published port expect them', () => {
    const { http, ops } = composedSettings({})
    expect(textOf('grafana/prometheus/prometheus.yml')).toContain(`targets: [depositd:${ops.port}]`)
    expect(compose.services.depositd?.ports).toEqual([`127.0.0.1:8080:${http.port}`])
    expect(textOf('Dockerfile')).toContain(`EXPOSE ${http.port} ${ops.port}`)
  })
})

describe('.env.example', () => {
  const lines = example.split('\n')
  const named = lines.flatMap((line) => /^#?([A-Z_]+)=./.exec(line)?.[1] ?? [])

  it('names every setting there is, and no other', () => {
    expect(named.toSorted()).toEqual(askedFor().toSorted())
  })

  it('explains each in a line above it', () => {
    const bare = lines.filter(
      (line, at) => /^#?[A-Z_]+=/.test(line) && !/^(?:# \S|RPC_)/.test(lines[at - 1] ?? ''),
    )
    expect(bare).toEqual([])
  })

  it('gives values that are taken as they stand', () => {
    const all = parseEnv(lines.map((line) => line.replace(/^#([A-Z_]+=)/, '$1')).join('\n'))
    expect(() => parseSettings(all, () => '{}')).not.toThrow()
  })
})

describe('what Grafana is provisioned with', () => {
  const sourcesShape = z.object({
    datasources: z.array(z.object({ uid: z.string(), url: z.string() }).loose()),
  })
  const { datasources } = sourcesShape.parse(
    parse(textOf('grafana/provisioning/datasources/datasources.yml')),
  )
  const grafana = compose.services.grafana ?? { volumes: [], secrets: [] }

  it('are the two data sources, each a service of the compose file', () => {
    expect(datasources.map(({ uid, url }) => [uid, url])).toEqual([
      ['prometheus', 'http://prometheus:9090'],
      ['accounting', 'postgres:5432'],
    ])
  })

  it('is the accountant that the database is made with, and a password file that both are given', () => {
    const made = textOf('grafana/postgres/create-accountant.sql')
    const [, accounting] = datasources
    expect(made).toContain(`create role ${String(accounting?.user)} login`)
    const file = '/run/secrets/accountant_password'
    expect(accounting?.secureJsonData).toEqual({ password: `$__file{${file}}` })
    expect(made).toContain(`cat ${file}`)
    expect(grafana.secrets).toContain('accountant_password')
    expect(compose.services.postgres?.secrets).toContain('accountant_password')
  })

  it('is the folder of dashboards, where the compose file mounts it', () => {
    const providers = z.object({ providers: z.array(z.object({ options: z.object({ path: z.string() }) })) })
    const [provider] = providers.parse(
      parse(textOf('grafana/provisioning/dashboards/dashboards.yml')),
    ).providers
    expect(grafana.volumes).toContain(`./grafana/dashboards:${provider?.options.path}:ro`)
    expect(grafana.volumes).toContain('./grafana/provisioning:/etc/grafana/provisioning:ro')
  })

  it('is preceded by a Prometheus that reads its configuration where it is mounted', () => {
    const { prometheus } = compose.services
    expect(prometheus?.volumes).toContain('./grafana/prometheus:/etc/prometheus:ro')
    expect(prometheus?.command).toContain('--config.file=/etc/prometheus/prometheus.yml')
  })
})

/** Settings as the container has them: `.env`, then what the compose file sets, secrets from files. */
function composedSettings(more: Record<string, string>): Settings {
  const folder = mkdtempSync(join(tmpdir(), 'depositd-compose-'))
  const contents: Record<string, string> = {
    database_url: 'postgres://depositd:0a1b@postgres:5432/depositd',
    service_api_key: 'key',
    webhook_secrets: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX',
  }
  try {
    for (const [name, value] of Object.entries(contents)) writeFileSync(join(folder, name), `${value}\n`)
    const { SERVICE_URL: _, ...set } = compose.services.depositd?.environment ?? {}
    const environment = Object.entries(set).map(([name, value]) => [
      name,
      value.replace('/run/secrets', folder),
    ])
    return parseSettings({ ...parseEnv(example), ...Object.fromEntries(environment), ...more }, () => '{}')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Every setting that is asked for when settings are read. */
function askedFor(): string[] {
  const asked = new Set<string>()
  const environment = new Proxy<Record<string, string>>(
    {},
    { get: (_, name) => void asked.add(String(name)), ownKeys: () => [] },
  )
  expect(() => parseSettings(environment, () => '{}')).toThrow('SERVICE_URL')
  return [...asked].filter((name) => !name.endsWith('_FILE'))
}
