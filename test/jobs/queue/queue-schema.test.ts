import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { prepareQueueSchema } from '../../../src/jobs/queue/schema.ts'
import { testDatabase } from '../../support/postgres.ts'
import { startStallingProxy } from '../../support/stalling-proxy.ts'
import { until } from '../../support/until.ts'

async function database(): Promise<string> {
  const { url, drop } = await testDatabase()
  onTestFinished(drop)
  return url
}

test('any number of owners prepare it beside each other, and each of them succeeds', async () => {
  const url = await database()
  const prepareAll = () =>
    Promise.allSettled(Array.from({ length: 30 }, () => prepareQueueSchema({ url, name: 'depositd' })))
  const rounds = [await prepareAll(), await prepareAll(), await prepareAll()].flat()
  expect(rounds.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))).toEqual([])
})

test('a server that stands still is given up', async () => {
  const url = await database()
  await prepareQueueSchema({ url, name: 'depositd' })
  await using proxy = await startStallingProxy(url)
  const [holder, observer] = [await connect(url), await connect(url)]
  await holder.query('begin; lock table bullmq.migration')
  const stalled = until('it waits', async () => {
    const { rows } = await observer.query(`select from pg_stat_activity where wait_event_type = 'Lock'
      and application_name = 'depositd migrate' and datname = current_database()`)
    return rows.length > 0 || null
  }).then(proxy.stall)
  const prepared = prepareQueueSchema({ url: proxy.url, name: 'depositd', queryTimeoutMs: 1000 })
  await expect(Promise.all([stalled, prepared])).rejects.toThrow('Query read timeout')
})

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  onTestFinished(() => client.end())
  return client
}
