import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { roles } from '../../src/health.ts'
import { queueLimits } from '../../src/jobs/queue/queue.ts'
import {
  compose,
  composeText,
  daemons,
  memoryOf,
  oneShots,
  programs,
  services,
} from '../support/compose-file.ts'
import { pathOf, textOf } from './files.ts'

describe('docker-compose.yml', () => {
  it('runs depositd, taking webhooks and working apart, with its database, its queue, and what shows it', () => {
    expect(Object.keys(compose.services)).toEqual([
      ...programs,
      'postgres',
      'redis',
      'prometheus',
      'alertmanager',
      'grafana',
    ])
    const given = daemons.map((name) => compose.services[name]?.command.at(-1)?.split(',') ?? [])
    expect(given).toEqual([['http'], ['worker', 'scheduler']])
    expect(given.flat()).toEqual(roles)
  })

  it.each(services)('asks how %s is, itself or in its image', (name, { healthcheck }) => {
    const own = programs.includes(name)
      ? /^HEALTHCHECK .*\n.*\/livez/m.test(textOf('Dockerfile'))
      : healthcheck
    expect(own).toBeTruthy()
  })

  it.each(services)('lets %s work without being root', (name, { user }) => {
    if (programs.includes(name)) expect(textOf('Dockerfile')).toMatch(/^USER node$/m)
    else expect(user).toMatch(/^(?!root$|0+$)\w+$/)
  })

  it.each(services)('gives %s a place for all that it writes, and no other', (name, { volumes, tmpfs }) => {
    const writable = volumes.filter((volume) => !volume.endsWith(':ro')).map((volume) => volume.split(':')[1])
    const wanted: Readonly<Record<string, string[]>> = {
      'depositd-http': ['/tmp'],
      'depositd-worker': ['/tmp'],
      'depositd-migrate': ['/tmp'],
      people: ['/tmp'],
      setup: ['alertmanager', 'daemon', 'grafana', 'owner', 'people', 'postgres', 'prometheus'].map(
        (folder) => `/secrets/${folder}`,
      ),
      postgres: ['/var/lib/postgresql', '/tmp', '/var/run/postgresql'],
      redis: ['/data', '/tmp'],
      prometheus: ['/prometheus'],
      alertmanager: ['/alertmanager'],
      grafana: ['/var/lib/grafana', '/tmp'],
    }
    expect([...writable, ...tmpfs]).toEqual(wanted[name])
  })

  it('holds no password, key or address of a secret: each is generated, or in a file that git never sees', () => {
    const texts = services.flatMap(([, { environment, command }]) => [
      ...Object.entries(environment),
      ...command,
    ])
    const named = texts.map(String).filter((text) => /password|secret|api_?key|token/i.test(text))
    expect(named.filter((text) => !text.includes('/run/secrets/'))).toEqual([])
    expect(textOf('.gitignore').split('\n')).toEqual(expect.arrayContaining(['.env', 'receivers.env']))
  })

  it('asks for SERVICE_URL alone; the daemon names everything else that is missing', () => {
    expect(composeText.match(/\$\{\w+:\?/g)).toEqual(['${SERVICE_URL:?'])
    expect(compose.services.setup?.env_file).toEqual([{ path: 'receivers.env', required: false }])
  })

  it('gives each service the secrets that it needs and no others', () => {
    const mounted = services.flatMap(([name, { volumes }]) =>
      volumes
        .filter((volume) => volume.endsWith(':/run/secrets:ro'))
        .map((volume) => [name, volume.split(':')[0]]),
    )
    expect(Object.fromEntries(mounted)).toEqual({
      'depositd-migrate': 'secrets-owner',
      'depositd-http': 'secrets-daemon',
      'depositd-worker': 'secrets-daemon',
      people: 'secrets-people',
      postgres: 'secrets-postgres',
      prometheus: 'secrets-prometheus',
      alertmanager: 'secrets-alertmanager',
      grafana: 'secrets-grafana',
    })
  })

  it('starts what reads secrets after setup, and the daemons after the schema is up to date', () => {
    const after = (name: string): string[] =>
      Object.keys(compose.services[name]?.depends_on ?? {}).flatMap((other) => [other, ...after(other)])
    const early = services.filter(([name, { volumes }]) => {
      const reads = volumes.some((volume) => volume.endsWith(':/run/secrets:ro'))
      return reads && !after(name).includes('setup')
    })
    expect(early).toEqual([])
    for (const name of daemons)
      expect(after(name)).toEqual(expect.arrayContaining(['depositd-migrate', 'postgres']))
    const conditions = services.flatMap(([, { depends_on: others }]) => Object.entries(others))
    for (const [name, { condition }] of conditions)
      expect(condition).toBe(oneShots.includes(name) ? 'service_completed_successfully' : 'service_healthy')
  })

  it('keeps what each may have below what it is told to take', () => {
    const [, megabytes] =
      /shared_buffers=(\d+)MB/.exec(compose.services.postgres?.command.join(' ') ?? '') ?? []
    expect(Number(megabytes)).toBeLessThanOrEqual(memoryOf('postgres') / 4)
    const words = compose.services.redis?.command ?? []
    const most = Number(/^(\d+)mb$/.exec(words[words.indexOf('--maxmemory') + 1] ?? '')?.[1])
    // While it rewrites its log, it may need as much again.
    expect(most * 2).toBeLessThanOrEqual(memoryOf('redis'))
  })

  it('publishes only webhooks and Grafana, and both on loopback', () => {
    const published = services.flatMap(([name, { ports }]) => ports.map((port) => `${name} ${port}`))
    expect(published).toEqual(['depositd-http 127.0.0.1:8080:8080', 'grafana 127.0.0.1:3000:3000'])
  })

  it('keeps database, queue and metrics in networks without a way out', () => {
    const closed = Object.entries(compose.networks).filter(([, network]) => network?.internal)
    expect(closed.map(([name]) => name)).toEqual(['database', 'queue', 'watch'])
    for (const name of ['postgres', 'redis', 'prometheus'])
      expect(compose.services[name]?.networks).not.toContain('outside')
  })

  it('lets each service reach those that it is told of', () => {
    const reached = [
      ...daemons.flatMap((name) => [
        [name, 'postgres'],
        [name, 'redis'],
        ['prometheus', name],
      ]),
      ['prometheus', 'alertmanager'],
      ['grafana', 'prometheus'],
      ['grafana', 'alertmanager'],
      ['grafana', 'postgres'],
    ]
    const apart = reached.filter(([from = '', to = '']) => {
      const networks = compose.services[from]?.networks ?? []
      return !networks.some((network) => compose.services[to]?.networks.includes(network))
    })
    expect(apart).toEqual([])
  })

  it('gives both daemons a folder for the settings file, of which git sees nothing', () => {
    for (const name of daemons)
      expect(compose.services[name]?.volumes).toContain('./settings:/etc/depositd:ro')
    expect(textOf('docs/operations.md')).toContain('DEPOSITD_CONFIG=/etc/depositd/depositd.yml')
    expect(textOf('settings/.gitignore')).toMatch(/^\*$/m)
  })

  it('lets only workers be scaled: they publish no port and write to no volume', () => {
    const alone = services.filter(
      ([, { ports, volumes }]) => ports.length > 0 || volumes.some((volume) => !volume.endsWith(':ro')),
    )
    const names = new Set(alone.map(([name]) => name))
    const kept = services.filter(([, { restart }]) => restart !== 'no').map(([name]) => name)
    expect(kept.filter((name) => !names.has(name))).toEqual(['depositd-worker'])
    const reported = [
      ...textOf('docs/operations.md').matchAll(/`--scale ([a-z-]+)=\d`\s+(runs|does not start)/g),
    ]
    expect(reported.map(([, name, what]) => `${name} ${what}`)).toEqual([
      'depositd-worker runs',
      'depositd-http does not start',
    ])
  })

  it('mounts only files that are there, and volumes that it declares', () => {
    const sources = services.flatMap(([, { volumes }]) => volumes.map((volume) => volume.split(':')[0] ?? ''))
    const missing = sources.filter((source) =>
      source.startsWith('./') ? !existsSync(pathOf(source)) : !(source in compose.volumes),
    )
    expect(missing).toEqual([])
    expect(Object.keys(compose.volumes).filter((name) => !sources.includes(name))).toEqual([])
    const joined = new Set(services.flatMap(([, { networks }]) => networks))
    expect([...joined].toSorted()).toEqual(Object.keys(compose.networks).toSorted())
  })

  it('gives the login of the owner of the books to the service that migrates, and to no other', () => {
    const given = services.filter(([, { volumes }]) => volumes.includes('secrets-owner:/run/secrets:ro'))
    expect(given.map(([name, { command, restart }]) => [name, command, restart])).toEqual([
      ['depositd-migrate', ['migrate'], 'no'],
    ])
    expect(textOf('db/logins/create-runner.sql')).toContain(
      "create role depositd_runner login password :'password' in role depositd_daemon;",
    )
  })

  it('gives Redis the policy without which the daemon refuses to start, and a log of what was added', () => {
    expect(compose.services.redis?.command).toEqual(
      expect.arrayContaining(['--maxmemory-policy', 'noeviction', '--appendonly', 'yes']),
    )
  })

  it('waits for whoever stops for longer than the daemon takes at most', () => {
    const most = queueLimits.stopTimeoutMs
    for (const name of daemons)
      expect(Number(compose.services[name]?.stop_grace_period?.replace('s', ''))).toBeGreaterThan(most / 1000)
  })
})
