import type { ServerResponse } from 'node:http'
import { until } from '../../support/until.ts'
import { inPlaceOf } from '../daemons.ts'
import type { Fault } from '../fault.ts'
import { passOn, type ServiceProxy, type ServiceScript, startServiceProxy } from '../listing-proxy.ts'
import { countRows, untilReconciled } from '../looks.ts'
import type { Random } from '../random.ts'
import { untilSame } from '../until-same.ts'
import type { ChaosWorld, PaidDeposit } from '../world.ts'

/** So many ways in one run, as the seed says. */
const waysOnce = 4

/** What the service lists is not to be relied upon: each record is read all the same, and booked once. */
export const polls: Fault[] = [
  {
    name: 'F10',
    title: 'records reordered, drifting between pages, edited and vanished; calls refused and failed',
    ground: 'shared',
    strike: strikeByService,
  },
  {
    name: 'F10',
    title: 'pages with equal times at their edges, cursors that expire, HTML for JSON, odd Retry-After',
    ground: 'shared',
    strike: strikeByProxy,
  },
]

async function strikeByService(world: ChaosWorld, random: Random): Promise<void> {
  const earlier = await world.pay(2)
  const seed = `F10 ${random.between(1, 1_000_000)}`
  await world.service.faults.set({
    seed,
    delayMs: 1000,
    reorderRecordsRate: 0.5,
    driftPageRate: 0.5,
    refuseCallRate: 0.2,
    failCallRate: 0.2,
    editRecordRate: 0.5,
    removeRecordRate: 0.5,
  })
  const struck = await world.pay(8)
  const kinds = ['amount_mismatch', 'record_disappeared', 'api_missing']
  await untilMore('records that are told to be edited or gone', () => reportedOf(world, kinds))
  for (const outcome of ['limited', 'failed']) {
    await untilMore(`polls that were ${outcome}`, () => pollsThatWere(world, outcome))
  }
  await world.service.faults.clear()
  const areClear = async () => ((await reportedOf(world, kinds)) === 0 ? true : null)
  await until('what is reported of records clears', areClear, leftAloneMs)
  await untilReconciled(world, [...earlier, ...struck])
}

/** A service that asks for a day is left alone for five minutes, and each process may have been asked for it. */
const leftAloneMs = 330_000

async function untilMore(what: string, count: () => Promise<number>): Promise<void> {
  await until(what, async () => ((await count()) > 0 ? true : null), leftAloneMs)
}

async function strikeByProxy(world: ChaosWorld, random: Random): Promise<void> {
  await using proxy = await startServiceProxy(world.service.url)
  await inPlaceOf(world, 'worker', {
    roles: 'worker,scheduler',
    environment: { SERVICE_URL: proxy.url },
  })
  const paid: PaidDeposit[] = []
  for (const way of random.shuffled(ways(random)).slice(0, waysOnce)) {
    paid.push(...(await strike(world, proxy, way)))
  }
  proxy.behave()
  await untilReconciled(world, paid)
}

type Way = { name: string; script: ServiceScript; passesOn?: boolean }

async function strike(world: ChaosWorld, proxy: ServiceProxy, way: Way): Promise<readonly PaidDeposit[]> {
  proxy.behave(way.script)
  const paid = await world.pay(2)
  await untilSame(`the service ${way.name}`, () => proxy.spoilt() >= 3, true)
  if (way.passesOn) await untilReconciled(world, paid)
  proxy.behave()
  return paid
}

const answers =
  (status: number, body: string, headers: Record<string, string> = {}): ServiceScript =>
  (response) =>
    isSaid(response.writeHead(status, headers).end(body))

/** None asks for a pause of its own that is longer than a run: who is asked for one is held to it. */
function ways(random: Random): Way[] {
  const page = '<!doctype html><html><body>Please wait</body></html>'
  const odd = ['-1', 'soon', '0', '', '1.5', 'Thu, 01 Jan 1970 00:00:00 GMT', '2']
  return [
    { name: 'answers a page of HTML with 200', script: answers(200, page, { 'content-type': 'text/html' }) },
    {
      name: 'answers 429 with an odd Retry-After',
      script: (response) => isSaid(response.writeHead(429, { 'retry-after': random.pick(odd) }).end('{}')),
    },
    { name: 'answers what ends within', script: cutShort },
    { name: 'lists under equal times, two to a page', script: equalTimes, passesOn: true },
    { name: 'lets each cursor expire', script: expired, passesOn: true },
  ]
}

const isSaid = (_response: ServerResponse) => true

const cutShort: ServiceScript = async (response, _asked, forward) => {
  const { body } = await forward()
  return isSaid(response.writeHead(200, { 'content-type': 'application/json' }).end(body.slice(0, -5)))
}

type Page = { data: Record<string, unknown>[] }

/** A page ends between records of one time. */
const equalTimes: ServiceScript = async (response, { url }, forward) => {
  const listed = await forward(inPages(url))
  if (listed.status !== 200) return passOn(response, listed)
  const page = JSON.parse(listed.body) as Page
  if (!Array.isArray(page.data)) return passOn(response, listed)
  const times = page.data.map(({ created_at: at }) => String(at)).toSorted()
  const data = page.data.map((record) => ({ ...record, created_at: times.at(-1) }))
  passOn(response, { ...listed, body: JSON.stringify({ ...page, data }) })
  return data.length > 1
}

function inPages(url: URL): URL {
  const small = new URL(url)
  if (small.searchParams.has('limit')) small.searchParams.set('limit', '2')
  return small
}

/** Every second page is refused: its cursor is not known any more. */
let asked = 0
const expired: ServiceScript = async (response, { url }, forward) => {
  if (!url.searchParams.has('cursor') || asked++ % 2 === 0)
    return passOn(response, await forward(inPages(url)))
  const body = { code: 'cursor_invalid', message: 'the cursor has expired' }
  return isSaid(response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(body)))
}

const reportedOf = (world: ChaosWorld, kinds: readonly string[]) =>
  countRows(world, 'select from mismatch where cleared_at is null and kind = any($1)', [kinds])

/** Over all processes that run. */
async function pollsThatWere({ daemons }: ChaosWorld, outcome: string): Promise<number> {
  const running = daemons().filter((daemon) => daemon.isRunning())
  const texts = await Promise.all(
    running.map(async ({ opsUrl }) => (await fetch(`${opsUrl}/metrics`)).text()),
  )
  const line = new RegExp(
    `^depositd_poll_requests_total\\{service="default",outcome="${outcome}"\\} (\\d+)`,
    'gm',
  )
  const counts = texts.flatMap((text) => [...text.matchAll(line)].map(([, value]) => Number(value)))
  return counts.reduce((sum, value) => sum + value, 0)
}
