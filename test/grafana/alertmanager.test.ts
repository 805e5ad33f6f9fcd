import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { alerts, watchdog } from '../support/alert-rules.ts'
import { type Alertmanager, startAlertmanager } from '../support/alertmanager.ts'
import { amtoolInstalled, configurationForDebian, runAmtool } from '../support/amtool.ts'
import { until } from '../support/until.ts'
import { textOf } from './files.ts'

const file = 'grafana/alertmanager/alertmanager.yml'
const inhibition = z.object({
  source_matchers: z.array(z.string()),
  target_matchers: z.array(z.string()),
  equal: z.array(z.string()).default([]),
})
const configuration = z
  .object({
    receivers: z.array(z.object({ name: z.string() }).loose()),
    inhibit_rules: z.array(inhibition),
  })
  .loose()
  .parse(parse(textOf(file)))

describe('the example of an Alertmanager', () => {
  it('has every address and key in a file of its own', () => {
    const settings = [...textOf(file).matchAll(/^[ -]*(\w*(?:url|key|token|password|secret)\w*): (.*)$/gm)]
    expect(settings.length).toBeGreaterThan(2)
    const inside = settings.filter(
      ([, name = '', value = '']) =>
        !(name.endsWith('_file') && value.startsWith('/run/secrets/')) && !value.startsWith("'{{"),
    )
    expect(inside.map(([line]) => line)).toEqual([])
  })

  const matchers = configuration.inhibit_rules.flatMap(({ source_matchers, target_matchers }) => [
    ...source_matchers,
    ...target_matchers,
  ])

  it('holds back and is held back only by alerts that there are', () => {
    const words = matchers.flatMap((matcher) => {
      const [, names = matcher] = /^alertname (?:=~|!~|=) "?([^"]+)"?$/.exec(matcher) ?? []
      return names.split('|')
    })
    const unknown = words.filter((word) => !alerts.some(({ alert }) => new RegExp(`^${word}$`).test(alert)))
    expect(unknown).toEqual([])
  })
})

const reported: { path: string; body: string }[] = []
const listening = createServer((request, response) => void take(request, response)).listen(0, '127.0.0.1')
await once(listening, 'listening')
const { path, remove } = configurationForDebian(file, addressOf(listening))
afterAll(() => {
  listening.close()
  remove()
})

describe.skipIf(!amtoolInstalled())('amtool', () => {
  it('finds nothing wrong with the configuration', () => {
    const checked = runAmtool('check-config', path)
    expect(checked, checked.said).toMatchObject({ status: 0 })
  })

  it.each([
    ['DepositdSealBroken', 'critical', 'pager'],
    ['DepositdRpcFailing', 'warning', 'chat'],
    [watchdog, 'none', 'watchdog'],
    ['Unheard', 'unheard', 'chat'],
  ])('sends %s, which is %s, to %s', (alert, severity, receiver) => {
    expect(receiverOf(alert, severity)).toBe(receiver)
  })
})

describe.skipIf(!amtoolInstalled())('a running Alertmanager', () => {
  let running: Alertmanager
  beforeAll(async () => {
    running = await startAlertmanager(path)
  })
  afterAll(() => running.stop())

  /** Sends the alerts and waits until exactly these are held back; network and objective tell the cases apart. */
  const expectHeldBack = async (sent: readonly Labels[], held: readonly string[]): Promise<void> => {
    await running.send(sent.map((labels) => ({ labels })))
    const mine = new Set(sent.map(textOfLabels))
    const heldBack = async () =>
      (await running.alerts())
        .filter(({ labels, status }) => mine.has(textOfLabels(labels)) && status.inhibitedBy.length > 0)
        .map(({ labels }) => labels.alertname ?? '')
        .toSorted(byCodeUnits)
    const wanted = JSON.stringify(held.toSorted(byCodeUnits))
    await until(`only ${wanted} held back`, async () =>
      JSON.stringify(await heldBack()) === wanted ? true : null,
    )
  }

  it('tells the pager and the chat what is wrong, what it does, and where it says what to do', async () => {
    const labels = { alertname: 'DepositdSealBroken', severity: 'critical' }
    const { annotations } = alerts.find(({ alert }) => alert === labels.alertname) ?? {}
    const { summary = '', impact = '' } = annotations ?? {}
    const runbook = 'https://docs.example/runbook.md#depositdsealbroken'
    const dashboard = 'https://grafana.example/d/depositd-ledger'
    const console = 'https://depositd.example/mismatches?kind=seal_broken'
    const links = { runbook_url: runbook, dashboard, console }
    await running.send([{ labels, annotations: { summary, impact, ...links } }])
    const pager = z
      .object({ payload: z.unknown() })
      .parse(JSON.parse(await reportedTo('/pager', labels.alertname)))
    const details: unknown = expect.objectContaining({ impact, runbook, dashboard, console })
    const incident = {
      summary: `DepositdSealBroken: ${summary}`,
      severity: 'critical',
      custom_details: details,
    }
    expect(pager.payload).toMatchObject(incident)
    const chat = await reportedTo('/chat', labels.alertname)
    for (const words of [summary, impact, runbook, dashboard, console]) expect(chat).toContain(words)
  })

  it('names no address that only this machine can open, to the pager and the chat', async () => {
    const alertname = 'DepositdWebhooksNotStored'
    const generatorURL = 'http://localhost:9090/graph'
    await running.send([{ labels: { alertname, severity: 'critical' }, generatorURL }])
    const said = [await reportedTo('/pager', alertname), await reportedTo('/chat', alertname)]
    for (const body of said) expect(body).not.toMatch(/http|docs\//)
  })

  it('tells what is wrong, too, where several alerts of one name come together', async () => {
    const alertname = 'DepositdLedgerUntied'
    const [summary, other] = ['base/native', 'solana/native'].map(
      (asset) => `The books of ${asset} do not tie`,
    )
    const labels = { alertname, severity: 'critical' }
    await running.send([
      { labels: { ...labels, asset: 'base/native' }, annotations: { summary: summary ?? '' } },
      { labels: { ...labels, asset: 'solana/native' }, annotations: { summary: other ?? '' } },
    ])
    const pager = z.object({ payload: z.unknown() }).parse(JSON.parse(await reportedTo('/pager', alertname)))
    expect(pager.payload).toMatchObject({ summary: `${alertname}: ${summary} (the first of 2)` })
    const chat = await reportedTo('/chat', alertname)
    for (const words of [summary, other]) expect(chat).toContain(words)
  })

  it('tells the switch that alerts go out', async () => {
    await running.send([{ labels: { alertname: watchdog, severity: 'none' } }])
    expect(await reportedTo('/watchdog', watchdog)).toContain(watchdog)
  })

  it('holds back what a network that is not read explains, on that network', () =>
    expectHeldBack(
      [
        { alertname: 'DepositdChainNotRead', severity: 'critical', network: 'base' },
        { alertname: 'DepositdRpcFailing', severity: 'warning', network: 'base' },
        { alertname: 'DepositdFinalityOverdue', severity: 'warning', network: 'base' },
        { alertname: 'DepositdFinalityOverdue', severity: 'warning', network: 'mainnet' },
        { alertname: 'DepositdSevereMismatch', severity: 'critical', network: 'base', kind: 'tx_failed' },
      ],
      ['DepositdRpcFailing', 'DepositdFinalityOverdue'],
    ))

  it('holds back what a service that is not read explains, of that service', () =>
    expectHeldBack(
      [
        { alertname: 'DepositdPollDead', severity: 'critical', service: 'acme' },
        { alertname: 'DepositdApiDetectionOverdue', severity: 'warning', service: 'acme' },
        { alertname: 'DepositdApiDetectionOverdue', severity: 'warning', service: 'default' },
      ],
      ['DepositdApiDetectionOverdue'],
    ))

  it('holds back a budget that burns slowly where it burns fast', () =>
    expectHeldBack(
      [
        { alertname: 'DepositdDeliveryFastBurn', severity: 'critical', slo: 'delivery' },
        { alertname: 'DepositdDeliverySlowBurn', severity: 'warning', slo: 'delivery' },
        { alertname: 'DepositdReconciliationSlowBurn', severity: 'warning', slo: 'reconciliation' },
      ],
      ['DepositdDeliverySlowBurn'],
    ))

  // From here on everything that a worker does is held back.
  it('holds back what a worker that is away explains, also canaries, which only a worker sends', () =>
    expectHeldBack(
      [
        { alertname: 'DepositdNoBeat', severity: 'critical', role: 'worker' },
        { alertname: 'DepositdQueueStuck', severity: 'critical' },
        { alertname: 'DepositdCanaryWebhookLost', severity: 'critical' },
        { alertname: 'DepositdWebhooksNotStored', severity: 'critical' },
      ],
      ['DepositdQueueStuck', 'DepositdCanaryWebhookLost'],
    ))

  it('holds back everything but the watchdog where no daemon answers', async () => {
    const all = alerts.map(({ alert, labels }) => ({ alertname: alert, severity: labels.severity }))
    const awake = ['DepositdAbsent', watchdog]
    await expectHeldBack(
      all,
      all.map(({ alertname }) => alertname).filter((name) => !awake.includes(name)),
    )
    const receivers = (await running.alerts())
      .filter(({ status }) => status.state === 'active')
      .map((one) => `${one.labels.alertname} ${one.receivers.map(({ name }) => name).join()}`)
    expect(receivers).toEqual(expect.arrayContaining(['DepositdAbsent pager', `${watchdog} watchdog`]))
  })
})

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  reported.push({ path: request.url ?? '', body: await text(request) })
  response.writeHead(request.url === '/pager' ? 202 : 200).end('ok')
}

/** The body of the first message about an alert to a receiver. */
function reportedTo(receiver: string, alert: string): Promise<string> {
  const isAbout = (one: (typeof reported)[number]) => one.path === receiver && one.body.includes(alert)
  return until(`${receiver} is told of ${alert}`, () => reported.find(isAbout)?.body ?? null)
}

function addressOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}`
}

/** The first line; a warning about its own options follows. */
function receiverOf(alert: string, severity: string): string | undefined {
  const route = ['config', 'routes', 'test', `--config.file=${path}`]
  return runAmtool(...route, `alertname=${alert}`, `severity=${severity}`).said.split('\n')[0]
}

type Labels = Readonly<Record<string, string>>

function textOfLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  return pairs.toSorted(byCodeUnits).join()
}

function byCodeUnits(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
