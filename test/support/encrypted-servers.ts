import { chownSync, copyFileSync, readFileSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { Client } from 'pg'
import { pino } from 'pino'
import { freePort } from '../../src/sandbox/free-port.ts'
import { type PostgresServer, startPostgres } from '../../src/sandbox/postgres.ts'
import { type Authority, type Certificate, createAuthority, opensslInstalled } from './certificates.ts'
import { makeFolder } from './make-folder.ts'
import { redisInstalled, startRedis } from './redis.ts'
import { until } from './until.ts'

/** What servers with TLS are started by; in CI it must be there. */
export const tlsInstalled = (): boolean => opensslInstalled() && redisInstalled()

/** Servers of a test's own, under an authority of its own. */
export type EncryptedServers = {
  folder: string
  authority: Authority
  /** It speaks plainly to whoever does not ask for TLS. */
  postgres: PostgresServer
  /** Has Postgres serve the certificate, and returns the address of a database for who verifies it. */
  servePostgres: (certificate: Certificate, database: string) => Promise<string>
  /** Has Postgres speak plainly again, and no TLS. */
  stopServing: () => Promise<void>
  /** A Redis of its own, which speaks TLS alone. */
  serveRedis: (certificate: Certificate) => Promise<string>
  /** Ends TLS before a plain server. */
  serveBefore: (url: string, certificate: Certificate) => Promise<string>
}

export async function startEncryptedServers(stack: AsyncDisposableStack): Promise<EncryptedServers> {
  const folder = makeFolder('depositd-encrypted-')
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const authority = createAuthority(folder)
  const log = pino({ level: 'silent' })
  const postgres = await startPostgres({ folder: join(folder, 'postgres'), durability: 'none', log })
  stack.defer(() => postgres.stop())
  return {
    folder,
    authority,
    postgres,
    async servePostgres(certificate, database) {
      serveCertificate(join(folder, 'postgres', 'data'), certificate)
      await switchTls(postgres.url(database), 'on')
      const url = new URL(postgres.url(database))
      url.hostname = 'localhost'
      url.searchParams.set('sslmode', 'verify-full')
      return url.href
    },
    stopServing: () => switchTls(postgres.url('postgres'), 'off'),
    async serveRedis({ cert, key }) {
      const port = await freePort()
      const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', authority.ca]
      const plainPort = ['--port', '0']
      const options = ['--tls-port', `${port}`, ...plainPort, ...files, '--tls-auth-clients', 'no']
      const redis = await startRedis(...options)
      stack.defer(() => redis.stop())
      return `rediss://localhost:${port}`
    },
    async serveBefore(url, { cert, key }) {
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
    },
  }
}

/** The files have to be Postgres's own user's. */
function serveCertificate(data: string, { cert, key }: Certificate): void {
  const { uid, gid } = statSync(data)
  for (const [from, to] of [
    [cert, 'server.crt'],
    [key, 'server.key'],
  ] as const) {
    copyFileSync(from, join(data, to))
    chownSync(join(data, to), uid, gid)
  }
}

/** Postgres reads its certificate anew. */
async function switchTls(url: string, state: 'on' | 'off'): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`alter system set ssl = ${state}`)
  await client.query('select pg_reload_conf()')
  const isSwitched = async () => {
    const { rows } = await client.query<{ ssl: string }>('show ssl')
    return rows[0]?.ssl === state || null
  }
  await until(`ssl is ${state}`, isSwitched)
  await client.end()
}
