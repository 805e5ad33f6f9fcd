import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { roles } from '../../src/app.ts'
import { queueLimits } from '../../src/jobs/queue/queue.ts'
import { compose, composeText, daemons, memoryOf, programs, services } from '../support/compose-file.ts'
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
      postgres: ['/var/lib/postgresql', '/tmp', '/var/run/postgresql'],
      redis: ['/data', '/tmp'],
      prometheus: ['/prometheus'],
      alertmanager: ['/alertmanager'],
      grafana: ['/var/lib/grafana', '/tmp'],
    }
    expect([...writable, ...tmpfs]).toEqual(wanted[name])
  })

  it('holds no password, key or address of a secret: each is a file that git never sees', () => {
    const texts = services.flatMap(([, { environment, command }]) => [
      ...Object.entries(environment),
      ...command,
    ])
    const named = texts.map(String).filter((text) => /password|secret|api_?key|token/i.test(text))
    expect(named.filter((text) => !text.includes('/run/secrets/'))).toEqual([])
    expect(textOf('secrets/.gitignore')).toMatch(/^\*$/m)
  })

  it('tells at its head how to make every secret that it names', () => {
    const head = composeText.slice(0, composeText.indexOf('\nname:'))
    expect(Object.keys(compose.secrets).filter((name) => !head.includes(name))).toEqual([])
    for (const [name, { file }] of Object.entries(compose.secrets)) expect(file).toBe(`./secrets/${name}`)
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
      expect(compose.services[name]?.volumes).toEqual(['./settings:/etc/depositd:ro'])
    expect(textOf('.env.example')).toMatch(/^#DEPOSITD_CONFIG=\/etc\/depositd\/\w+\.yml$/m)
    expect(textOf('settings/.gitignore')).toMatch(/^\*$/m)
  })

  it('lets only workers be scaled: they publish no port and write to no volume', () => {
    const alone = services.filter(
      ([, { ports, volumes }]) => ports.length > 0 || volumes.some((volume) => !volume.endsWith(':ro')),
    )
    const names = new Set(alone.map(([name]) => name))
    const kept = services.filter(([, { profiles }]) => profiles === undefined).map(([name]) => name)
    expect(kept.filter((name) => !names.has(name))).toEqual(['depositd-worker'])
    const told = [...textOf('docs/operations.md').matchAll(/`--scale ([a-z-]+)=\d`\s+(runs|does not start)/g)]
    expect(told.map(([, name, what]) => `${name} ${what}`)).toEqual([
      'depositd-worker runs',
      'depositd-http does not start',
    ])
  })

  it('mounts only files that are there, and volumes and secrets that it declares', () => {
    const sources = services.flatMap(([, { volumes }]) => volumes.map((volume) => volume.split(':')[0] ?? ''))
    const missing = sources.filter((source) =>
      source.startsWith('./') ? !existsSync(pathOf(source)) : !(source in compose.volumes),
    )
    expect(missing).toEqual([])
    expect(Object.keys(compose.volumes).filter((name) => !sources.includes(name))).toEqual([])
    const secrets = services.flatMap(([, one]) => one.secrets)
    expect(Object.keys(compose.secrets).toSorted()).toEqual([...new Set(secrets)].toSorted())
    const joined = new Set(services.flatMap(([, { networks }]) => networks))
    expect([...joined].toSorted()).toEqual(Object.keys(compose.networks).toSorted())
  })

  it('names as file of a setting only secrets that the service is given', () => {
    const strangers = services.flatMap(([name, { environment, secrets }]) =>
      Object.values(environment)
        .filter((value) => value.startsWith('/run/secrets/'))
        .filter((value) => !secrets.includes(value.slice('/run/secrets/'.length)))
        .map((value) => `${name} ${value}`),
    )
    expect(strangers).toEqual([])
    const told = [...textOf('grafana/alertmanager/alertmanager.yml').matchAll(/\/run\/secrets\/(\w+)/g)]
    expect([...new Set(told.map(([, name = '']) => name))].toSorted()).toEqual(
      compose.services.alertmanager?.secrets.toSorted(),
    )
  })

  it('gives the login of the owner of the books to who migrates, and to nobody else', () => {
    const given = services.filter(([, { secrets }]) => secrets.includes('owner_database_url'))
    expect(given.map(([name, { command, restart }]) => [name, command, restart])).toEqual([
      ['depositd-migrate', ['migrate'], 'no'],
    ])
    expect(compose.services['depositd-migrate']?.environment.DATABASE_URL_FILE).toBe(
      '/run/secrets/owner_database_url',
    )
    expect(textOf('db/logins/create-runner.sql')).toContain(
      "create role depositd_runner login password :'password' in role depositd_daemon;",
    )
    expect(composeText).toContain('postgres://depositd_runner:$(cat runner_password)@postgres:5432/depositd')
  })

  it('gives the token of the ops port to those who open it and to who asks there', () => {
    const given = services.filter(([, { secrets }]) => secrets.includes('ops_token')).map(([name]) => name)
    expect(given).toEqual([...daemons, 'prometheus'])
    expect(textOf('grafana/prometheus/prometheus.yml')).toContain('credentials_file: /run/secrets/ops_token')
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
