import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import { compose, daemons, prometheusSettings } from '../support/compose-file.ts'
import { textOf } from './files.ts'

const example = textOf('.env.example')

describe('the settings of the composed daemon', () => {
  it('are complete and without fault, with .env as the example has it and each secret in its file', () => {
    const settings = composedSettings({})
    expect(settings).toMatchObject({
      databaseUrl: 'postgres://depositd_runner:0a1b@postgres:5432/depositd',
      queueUrl: 'redis://redis:6379',
      http: { host: '0.0.0.0', port: 8080 },
      ops: { host: '0.0.0.0', port: 9464, token: '0123456789abcdef' },
    })
    expect(settings.networks.filter(({ rpcUrls }) => rpcUrls.length > 0)).toHaveLength(4)
  })

  it('are refused where .env names again what the file sets', () => {
    expect(() => composedSettings({ SERVICE_API_KEY: 'key' })).toThrow('SERVICE_API_KEY_FILE')
  })

  it('listen where Prometheus, Docker and the published port expect them', () => {
    const { http, ops } = composedSettings({})
    const { scrape_configs: scraped } = prometheusSettings
    const found = scraped.flatMap(({ dns_sd_configs: all }) => all)
    expect(found).toMatchObject([{ names: daemons, port: ops.port }])
    expect(compose.services['depositd-http']?.ports).toEqual([`127.0.0.1:8080:${http.port}`])
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

/** Settings as the container has them: `.env`, then what the compose file sets, secrets from files. */
function composedSettings(more: Record<string, string>): Settings {
  const folder = mkdtempSync(join(tmpdir(), 'depositd-compose-'))
  const contents: Record<string, string> = {
    database_url: 'postgres://depositd_runner:0a1b@postgres:5432/depositd',
    ops_token: '0123456789abcdef',
    service_api_key: 'key',
    webhook_secrets: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX',
  }
  try {
    for (const [name, value] of Object.entries(contents)) writeFileSync(join(folder, name), `${value}\n`)
    const { SERVICE_URL: _, ...set } = compose.services['depositd-worker']?.environment ?? {}
    const environment = Object.entries(set).map(([name, value]) => [
      name,
      value.replace('/run/secrets', folder),
    ])
    return parseSettings({ ...parseEnv(example), ...Object.fromEntries(environment), ...more }, () => '{}')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Every setting that is asked for when settings are read. What is Node's own is looked at to be refused alone. */
function askedFor(): string[] {
  const asked = new Set<string>()
  const environment = new Proxy<Record<string, string>>(
    {},
    { get: (_, name) => void asked.add(String(name)), ownKeys: () => [] },
  )
  expect(() => parseSettings(environment, () => '{}')).toThrow('SERVICE_URL')
  return [...asked].filter((name) => !name.endsWith('_FILE') && !name.startsWith('NODE_'))
}
