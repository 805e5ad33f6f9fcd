import { chownSync, copyFileSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../src/sandbox/free-port.ts'
import { type PostgresServer, startPostgres } from '../../src/sandbox/postgres.ts'
import {
  type Authority,
  type Certificate,
  createAuthority,
  opensslInstalled,
} from '../support/certificates.ts'
import { type DoctorWorld, type Finding, openDoctorWorld } from '../support/doctor-world.ts'
import { spawnProgram } from '../support/embedded-program.ts'
import { redisInstalled, startRedis } from '../support/redis.ts'

/**
 * Postgres and Redis with TLS of their own, service and node behind a server that ends it, and the program as a process:
 * whom it trusts is settled when a process starts.
 */
describe.skipIf(!opensslInstalled() || !redisInstalled())('with TLS to every server', () => {
  const stack = new AsyncDisposableStack()
  let folder: string
  let server: PostgresServer
  let world: DoctorWorld
  let authority: Authority
  let good: Certificate

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'depositd-encrypted-'))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    authority = createAuthority(folder)
    good = authority.issue('good', { host: 'localhost', days: 2 })
    const log = pino({ level: 'silent' })
    server = await startPostgres({ folder: join(folder, 'postgres'), durability: 'none', log })
    stack.defer(() => server.stop())
    await server.createDatabase('depositd')
    world = await openDoctorWorld(server.url('depositd'), stack)
  })
  afterAll(() => stack.disposeAsync())

  /** Postgres reads its certificate anew; the file has to be its own user's. */
  async function servePostgres({ cert, key }: Certificate): Promise<string> {
    const data = join(folder, 'postgres', 'data')
    const { uid, gid } = statSync(data)
    for (const [from, to] of [
      [cert, 'server.crt'],
      [key, 'server.key'],
    ] as const) {
      copyFileSync(from, join(data, to))
      chownSync(join(data, to), uid, gid)
    }
    const client = new Client({ connectionString: server.url('depositd') })
    await client.connect()
    await client.query(`alter system set ssl = on`)
    await client.query('select pg_reload_conf()')
    await expect.poll(async () => (await client.query('show ssl')).rows).toEqual([{ ssl: 'on' }])
    await client.end()
    const url = new URL(server.url('depositd'))
    url.hostname = 'localhost'
    url.searchParams.set('sslmode', 'verify-full')
    return url.href
  }

  async function serveRedis({ cert, key }: Certificate): Promise<string> {
    const port = await freePort()
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', authority.ca]
    const redis = await startRedis('--tls-port', `${port}`, ...files, '--tls-auth-clients', 'no')
    stack.defer(() => redis.stop())
    return `rediss://localhost:${port}`
  }

  async function before(url: string, { cert, key }: Certificate): Promise<string> {
    const port = await freePort()
    const options = { cert: readFileSync(cert), key: readFileSync(key) }
    const proxy = createServer(options, (socket) => {
      const behind = connect(Number(new URL(url).port), '127.0.0.1')
      socket.on('error', () => behind.destroy())
      behind.on('error', () => socket.destroy())
      socket.pipe(behind).pipe(socket)
    })
    proxy.on('tlsClientError', () => undefined)
    await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve))
    stack.defer(() => void proxy.close())
    return `https://localhost:${port}`
  }

  async function servedBy(certificate: Certificate): Promise<Record<string, string>> {
    const { SERVICE_URL = '', RPC_BASE = '' } = world.environment
    return {
      ...world.environment,
      DATABASE_URL: await servePostgres(certificate),
      QUEUE_URL: await serveRedis(certificate),
      SERVICE_URL: await before(SERVICE_URL, certificate),
      RPC_BASE: await before(RPC_BASE, certificate),
    }
  }

  /** What each of the four says, of a process that trusts what the environment says. */
  async function doctor(environment: Record<string, string>): Promise<Record<string, string>> {
    const program = spawnProgram(folder, ['doctor', '--json'], environment)
    await program.ended
    const text = program.output()
    const findings = JSON.parse(text.slice(text.indexOf('['), text.lastIndexOf(']') + 1)) as Finding[]
    const wanted = ['database', 'queue', 'service', 'chain base']
    return Object.fromEntries(
      findings
        .filter(({ check }) => wanted.includes(check))
        .map(({ check, state, says, mend }) => [check, [state, says, mend].join(' | ')]),
    )
  }

  const settings = {
    database: 'DATABASE_URL',
    queue: 'QUEUE_URL',
    service: 'SERVICE_URL',
    'chain base': 'RPC_BASE',
  }

  test('a private authority is trusted by NODE_EXTRA_CA_CERTS, at all of them', async () => {
    const environment = await servedBy(good)
    const said = await doctor({ ...environment, NODE_EXTRA_CA_CERTS: authority.ca })
    expect(Object.keys(said).toSorted()).toEqual(Object.keys(settings).toSorted())
    for (const [check, line] of Object.entries(said))
      expect([check, line]).toEqual([check, expect.stringMatching(/^ok /)])
  })

  test('for Postgres alone by sslrootcert in its address', async () => {
    const url = `${await servePostgres(good)}&sslrootcert=${encodeURIComponent(authority.ca)}`
    const said = await doctor({ ...world.environment, DATABASE_URL: url, QUEUE_URL: await serveRedis(good) })
    expect(said.database).toMatch(/^ok /)
    expect(said.queue).toMatch(/^fault \| connecting to QUEUE_URL .*NODE_EXTRA_CA_CERTS/)
  })

  const refusals: Record<string, { days: number; host: string; isTrusted: boolean; says: RegExp }> = {
    'of an unknown authority': {
      days: 2,
      host: 'localhost',
      isTrusted: false,
      says: /certificate.*: set NODE_EXTRA_CA_CERTS to the file of the authority that signed it/,
    },
    'of another name': {
      days: 2,
      host: 'elsewhere.example',
      isTrusted: true,
      says: /localhost.*elsewhere\.example.*: name the server in its setting as its certificate does/s,
    },
    'that has expired': {
      days: -1,
      host: 'localhost',
      isTrusted: true,
      says: /certificate has expired: that server needs a new certificate/,
    },
  }

  test.each(Object.keys(refusals))(
    'a certificate %s is refused, with the setting and the mend',
    async (what) => {
      const { days, host, isTrusted, says } = refusals[what] ?? {
        days: 1,
        host: '',
        isTrusted: true,
        says: /$^/,
      }
      const environment = await servedBy(authority.issue('other', { host, days }))
      const said = await doctor({ ...environment, ...(isTrusted && { NODE_EXTRA_CA_CERTS: authority.ca }) })
      for (const [check, setting] of Object.entries(settings)) {
        expect([check, said[check]]).toEqual([check, expect.stringMatching(/^fault /)])
        expect([check, said[check]]).toEqual([check, expect.stringMatching(says)])
        expect(said[check]).toContain(setting)
      }
    },
  )
})
