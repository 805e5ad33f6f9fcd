import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMetrics } from '../../../src/ops/metrics.ts'
import { startOps } from '../../../src/ops/server.ts'
import { loopback } from '../../../src/sandbox/free-port.ts'
import { type DoctorWorld, openDoctorWorld } from '../../support/doctor-world.ts'
import { emptyDatabase } from '../../support/postgres.ts'
import { redisInstalled, rewritingProxy, startRedis } from '../../support/redis.ts'

const stack = new AsyncDisposableStack()
let world: DoctorWorld

beforeAll(async () => {
  const database = await emptyDatabase()
  stack.defer(() => database.drop())
  world = await openDoctorWorld(database.url, stack)
})
afterAll(() => stack.disposeAsync())

async function listening(port: number): Promise<AsyncDisposable> {
  const server: Server = createServer((_request, response) => void response.end('somebody else'))
  await new Promise<void>((resolve) => server.listen(port, loopback, resolve))
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const portOf = (name: 'HTTP_PORT' | 'OPS_PORT') => Number(world.environment[name])

describe('ports', () => {
  test.each(['HTTP_PORT', 'OPS_PORT'] as const)('%s that something else has is a fault', async (name) => {
    const check = `port ${name === 'HTTP_PORT' ? 'http' : 'ops'}`
    expect(await world.says(check)).toEqual([`ok | 127.0.0.1:${portOf(name)} is free`])
    await using other = await listening(portOf(name))
    expect(other).toBeDefined()
    expect(await world.says(check)).toEqual([
      `fault | another program listens on 127.0.0.1:${portOf(name)} | ` +
        `stop the program that listens there (ss -ltnp 'sport = :${portOf(name)}'), or set ${name} to another port`,
    ])
  })

  test('one that depositd has is fine', async () => {
    const port = portOf('OPS_PORT')
    const ops = await startOps({ host: loopback, port, metrics: createMetrics('test') })
    expect(await world.says('port ops')).toEqual([`ok | depositd answers on 127.0.0.1:${port}`])
    await ops.stop()
  })

  test('an address that is not of this machine is a fault, and one port for both is', async () => {
    expect(await world.says('port http', { HTTP_HOST: '192.0.2.1' })).toEqual([
      expect.stringMatching(/^fault \| cannot listen on 192\.0\.2\.1:\d+: .* \| set HTTP_HOST to an address/),
    ])
    const same = String(portOf('HTTP_PORT'))
    expect(await world.says('port ops', { OPS_PORT: same })).toEqual([
      `fault | HTTP_PORT and OPS_PORT are both ${same} | set OPS_PORT to another port`,
    ])
  })
})

describe.skipIf(!redisInstalled())('the queue', () => {
  const fix =
    'on the server: redis-cli config set maxmemory-policy noeviction, and the same in its configuration'

  test('that throws wake-ups away is a fault, and one that does not tell is warned of', async () => {
    const redis = await startRedis()
    expect(await world.says('queue', { QUEUE_URL: redis.url })).toEqual(['ok | 0 jobs waiting, 0 running'])
    const silent = await rewritingProxy(redis.url, (text) => text.replace('maxmemory_policy', 'x'.repeat(16)))
    expect(await world.says('queue', { QUEUE_URL: silent.url })).toEqual([
      `warning | answers, but does not report its maxmemory-policy | ${fix}`,
    ])
    await silent.stop()
    await redis.stop()
    const evicting = await startRedis('--maxmemory-policy', 'allkeys-lru')
    expect(await world.says('queue', { QUEUE_URL: evicting.url })).toEqual([
      expect.stringMatching(
        /^fault \| QUEUE_URL: the Redis server has maxmemory-policy allkeys-lru .* \| on the server/,
      ),
    ])
    await evicting.stop()
  })
})
