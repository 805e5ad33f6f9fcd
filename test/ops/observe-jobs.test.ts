import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { Fault } from '../../src/core/errors.ts'
import { describeThrown } from '../../src/log/create-log.ts'
import { helpWith } from '../../src/ops/help-pages.ts'
import { jobNames } from '../../src/ops/metrics/daemon.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import { observeJobs } from '../../src/ops/observe.ts'
import { readText } from '../docs/pages.ts'
import { anchors } from '../support/markdown.ts'

const wrongContract = (block: number) =>
  new Fault('settings_bad', {
    faults: [`asset USDC (base/0x5aaeb605): expected decimals 6, found no token contract (at ${block})`],
  })
const wrongProfile = new Fault('remote_failed', {
  what: 'GET /v1/proxies/deposits',
  problem: 'unexpected answer at deposits: is no list, but nothing',
  help: 'docs/mapping.md',
})

function observed() {
  let time = 0
  const written: string[] = []
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk.toString())
      done()
    },
  })
  const log = pino({ serializers: { err: describeThrown } }, sink)
  const lines = () => written.map((line) => JSON.parse(line) as Record<string, unknown>)
  const metrics = createMetrics('test')
  const observer = observeJobs(metrics, log, () => time)
  const pass = (seconds: number) => {
    time += seconds * 1000
  }
  return { observer, lines, metrics, pass }
}

test('a job that fails for the same reason is logged once with what helps, and counted each time', async () => {
  const { observer, lines, metrics, pass } = observed()
  for (let run = 0; run < 50; run++) {
    observer.jobFailed('scan', wrongContract(run), 'base')
    pass(15)
  }
  expect(lines()).toMatchObject([
    {
      event: 'job_failed',
      job: 'scan',
      key: 'base',
      problem: 'asset USDC (base/0x5aaeb605): expected decimals 6, found no token contract (at 0)',
      help: 'docs/settings.md',
      failures: 1,
    },
  ])
  expect(JSON.stringify(lines())).not.toContain('stack')
  expect(await metrics.registry.metrics()).toContain('depositd_job_failures_total{name="scan"} 50')
})

test('two problems that take turns are logged once each, and one that lasts again after an hour', () => {
  const { observer, lines, pass } = observed()
  for (let run = 0; run < 481; run++) {
    observer.jobFailed('poll', run % 2 === 0 ? wrongProfile : new Error('connect ECONNREFUSED'))
    pass(15)
  }
  expect(lines().map(({ help, failures }) => [help, failures])).toEqual([
    ['docs/mapping.md', 1],
    ['docs/runbook.md#depositdpolldead', 1],
    ['docs/mapping.md', 121],
    ['docs/runbook.md#depositdpolldead', 121],
    ['docs/mapping.md', 241],
  ])
})

test('a problem that was over and comes back is logged at once', () => {
  const { observer, lines, pass } = observed()
  observer.jobFailed('poll', wrongProfile)
  pass(400)
  observer.jobFailed('poll', wrongProfile)
  expect(lines().map(({ failures }) => failures)).toEqual([1, 1])
})

test('each network has its line, and trouble of the queue is logged in the same way', () => {
  const { observer, lines } = observed()
  for (const key of ['base', 'arbitrum', 'base']) {
    observer.queueTrouble({ kind: 'job_failed', error: new Error('cannot'), wake: { name: 'scan', key } })
    observer.queueTrouble({ kind: 'schema_unusable', error: new Error('the schema bullmq is missing') })
  }
  expect(lines().map(({ event, key }) => [event, key])).toEqual([
    ['job_failed', 'base'],
    ['queue_failed', undefined],
    ['job_failed', 'arbitrum'],
  ])
})

test('the page that helps with each job is there', () => {
  const errors = [
    new Error('x'),
    wrongProfile,
    wrongContract(1),
    new Fault('history_lost', { network: 'base', problem: 'x', fix: 'y' }),
    new Fault('rpc_disagreement', { network: 'base', problem: 'x' }),
  ]
  const pages = new Set(jobNames.flatMap((name) => errors.map((error) => helpWith(name, error))))
  for (const [page = '', anchor] of [...pages].map((link) => link.split('#')))
    if (anchor !== undefined) expect([...anchors(readText(page))]).toContain(anchor)
    else expect(readText(page)).not.toBe('')
})
