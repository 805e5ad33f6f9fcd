import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, it, test } from 'vitest'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import { compose, daemons, prometheusSettings } from '../support/compose-file.ts'
import { temporaryFolder } from '../support/folder.ts'
import { textOf } from './files.ts'

const example = textOf('.env.example')

describe('the settings of the composed daemon', () => {
  it('are complete, with .env as the example has it and each generated secret in its file', () => {
    const settings = composedSettings({})
    expect(settings).toMatchObject({
      databaseUrl: 'postgres://depositd_runner:0a1b@postgres:5432/depositd',
      queueUrl: 'redis://redis:6379',
      http: { host: '0.0.0.0', port: 8080 },
      ops: { host: '0.0.0.0', port: 9464, token: '0123456789abcdef' },
    })
    expect(settings.networks.filter(({ rpcUrls }) => rpcUrls.length > 0)).toHaveLength(1)
  })

  it('take a key from a file in the place of .env', async () => {
    const { SERVICE_API_KEY: key, ...others } = parseEnv(example)
    expect(key).toBe('key')
    const path = join(await temporaryFolder(), 'service_api_key')
    writeFileSync(path, 'key-of-a-file\n')
    const { services } = composedSettings({ SERVICE_API_KEY_FILE: path }, others)
    expect(services[0].auth.headers).toEqual({ 'X-API-KEY': 'key-of-a-file' })
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

test('.env.example asks for what has no default, in ten lines at most', () => {
  expect(example.trimEnd().split('\n').length).toBeLessThanOrEqual(10)
  const needed = ['SERVICE_URL', 'SERVICE_API_KEY', 'WEBHOOK_SECRETS', 'RPC_BASE']
  expect(Object.keys(parseEnv(example)).toSorted()).toEqual(needed.toSorted())
  for (const name of needed)
    expect(() => parseSettings({ DATABASE_URL: 'postgres://db/depositd' }, () => '{}')).toThrow(name)
})

/** Settings as the container has them: `.env`, then what the compose file sets, secrets from files. */
function composedSettings(more: Record<string, string>, own = parseEnv(example)): Settings {
  const folder = mkdtempSync(join(tmpdir(), 'depositd-compose-'))
  const contents: Record<string, string> = {
    database_url: 'postgres://depositd_runner:0a1b@postgres:5432/depositd',
    ops_token: '0123456789abcdef',
  }
  try {
    for (const [name, value] of Object.entries(contents)) writeFileSync(join(folder, name), `${value}\n`)
    const { SERVICE_URL: _, ...set } = compose.services['depositd-worker']?.environment ?? {}
    const environment = Object.entries(set).map(([name, value]) => [
      name,
      value.replace('/run/secrets', folder),
    ])
    return parseSettings({ ...own, ...Object.fromEntries(environment), ...more }, () => '{}')
  } finally {
    rmSync(folder, { recursive: true })
  }
}
