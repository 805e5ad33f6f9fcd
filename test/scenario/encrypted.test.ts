import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Certificate } from '../support/certificates.ts'
import { type DoctorWorld, type Finding, openDoctorWorld } from '../support/doctor-world.ts'
import { spawnProgram } from '../support/embedded-program.ts'
import { type EncryptedServers, startEncryptedServers, tlsInstalled } from '../support/encrypted-servers.ts'

/**
 * Postgres and Redis with TLS of their own, service and node behind a server that ends it, and the program as a process:
 * whom it trusts is settled when a process starts.
 */
describe.skipIf(!tlsInstalled())('with TLS to every server', () => {
  const stack = new AsyncDisposableStack()
  let servers: EncryptedServers
  let world: DoctorWorld
  let good: Certificate

  beforeAll(async () => {
    servers = await startEncryptedServers(stack)
    good = servers.authority.issue('good', { host: 'localhost', days: 2 })
    await servers.postgres.createDatabase('depositd')
    world = await openDoctorWorld(servers.postgres.url('depositd'), stack)
  })
  afterAll(() => stack.disposeAsync())

  async function servedBy(certificate: Certificate): Promise<Record<string, string>> {
    const { SERVICE_URL = '', RPC_BASE = '' } = world.environment
    return {
      ...world.environment,
      DATABASE_URL: await servers.servePostgres(certificate, 'depositd'),
      QUEUE_URL: await servers.serveRedis(certificate),
      SERVICE_URL: await servers.serveBefore(SERVICE_URL, certificate),
      RPC_BASE: await servers.serveBefore(RPC_BASE, certificate),
    }
  }

  /** What each of the four says, of a process that trusts what the environment says. */
  async function doctor(environment: Record<string, string>): Promise<Record<string, string>> {
    const program = spawnProgram(servers.folder, ['doctor', '--json'], environment)
    await program.ended
    const text = program.output()
    const findings = (
      JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as { checks: Finding[] }
    ).checks
    const wanted = ['database', 'queue', 'service', 'chain base']
    return Object.fromEntries(
      findings
        .filter(({ check }) => wanted.includes(check))
        .map(({ check, state, says, fix }) => [check, [state, says, fix].join(' | ')]),
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
    const said = await doctor({ ...environment, NODE_EXTRA_CA_CERTS: servers.authority.ca })
    expect(Object.keys(said).toSorted()).toEqual(Object.keys(settings).toSorted())
    for (const [check, line] of Object.entries(said))
      expect([check, line]).toEqual([check, expect.stringMatching(/^ok /)])
  })

  test('for Postgres alone by sslrootcert in its address', async () => {
    const url = `${await servers.servePostgres(good, 'depositd')}&sslrootcert=${encodeURIComponent(servers.authority.ca)}`
    const said = await doctor({
      ...world.environment,
      DATABASE_URL: url,
      QUEUE_URL: await servers.serveRedis(good),
    })
    expect(said.database).toMatch(/^ok /)
    expect(said.queue).toMatch(/^fault \| connecting to QUEUE_URL .*NODE_EXTRA_CA_CERTS/)
  })

  const refusals: Record<string, { days: number; host: string; isTrusted: boolean; says: RegExp }> = {
    'of an unknown authority': {
      days: 2,
      host: 'localhost',
      isTrusted: false,
      says: /certificate.*: set NODE_EXTRA_CA_CERTS to the certificate file of the authority that signed it/,
    },
    'of another name': {
      days: 2,
      host: 'elsewhere.example',
      isTrusted: true,
      says: /localhost.*elsewhere\.example.*: in the setting, use the host name that the certificate names/s,
    },
    'that has expired': {
      days: -1,
      host: 'localhost',
      isTrusted: true,
      says: /certificate has expired: renew the certificate of that server/,
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
      const environment = await servedBy(servers.authority.issue('other', { host, days }))
      const said = await doctor({
        ...environment,
        ...(isTrusted && { NODE_EXTRA_CA_CERTS: servers.authority.ca }),
      })
      for (const [check, setting] of Object.entries(settings)) {
        expect([check, said[check]]).toEqual([check, expect.stringMatching(/^fault /)])
        expect([check, said[check]]).toEqual([check, expect.stringMatching(says)])
        expect(said[check]).toContain(setting)
      }
    },
  )
})
