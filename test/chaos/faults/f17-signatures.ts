import { mapBounded } from '../../../src/chain/map-bounded.ts'
import { makeSecret } from '../../support/sign-webhook.ts'
import { until } from '../../support/until.ts'
import type { Fault } from '../fault.ts'
import { forgeries } from '../hostile/forgeries.ts'
import { countStored } from '../hostile/genuine-traffic.ts'
import { scrape } from '../hostile/scrape.ts'
import { type Target, targetOf } from '../hostile/target.ts'
import { attackerWord, underAttack } from '../hostile/under-attack.ts'
import { send, sign, signTest } from '../hostile/webhook-sender.ts'
import { mustBeSame } from '../until-same.ts'

const attacker = '127.0.0.2'
const floodOf = 3000
const lanes = 16

/** Of one client at once, and of it in a second: what docs/webhooks.md says of the quarantine. */
const keptAtOnce = 500
const keptPerSecond = 20

const everyWay: Fault = {
  name: 'F17',
  title: 'every way a signature can be wrong, and a flood of them',
  ground: 'shared',
  async strike(world) {
    const target = targetOf(world)
    await underAttack(target, async () => {
      await refuseEachWay(target)
      await holdFlood(target)
    })
  },
}

/** No forgery is believed, and none is in the inbox. */
async function refuseEachWay(target: Target): Promise<void> {
  const all = forgeries({ secret: target.secret, other: makeSecret(), word: attackerWord })
  for (const { way, webhook, code } of all) {
    const answer = await send({ url: target.intake.url, localAddress: attacker }, webhook)
    mustBeSame(way, answer, { status: 401, code })
  }
  const ids = all.map(({ webhook }) => webhook.id)
  mustBeSame('forgeries in the inbox', await countStored(target, ids), [])
}

/** What is kept of a flood is what one client may leave. */
async function holdFlood(target: Target): Promise<void> {
  const { url, opsUrl } = target.intake
  const [kept, startedAt] = [await keptOf(target), performance.now()]
  const [forgery] = forgeries({ secret: target.secret, other: makeSecret(), word: attackerWord })
  if (forgery === undefined) return
  await mapBounded(Array.from({ length: floodOf }), lanes, async () => {
    const { status } = await send({ url, localAddress: attacker }, forgery.webhook)
    mustBeSame('one of a flood', status, 401)
  })
  const dropped = (await scrape(opsUrl)).value('depositd_quarantine_dropped_total{reason="rate"}') ?? 0
  if (dropped === 0) throw new Error('nothing of the flood was dropped')
  const seconds = (performance.now() - startedAt) / 1000
  const allowed = keptAtOnce + keptPerSecond * (seconds + 5)
  const left = (await keptOf(target)) - kept
  if (left > allowed) throw new Error(`${left} of a flood are kept, beyond ${allowed}`)
}

async function keptOf({ connect }: Target): Promise<number> {
  const client = await connect()
  try {
    const { rows } = await client.query<{ kept: number }>(
      'select count(*)::int as kept from quarantine where source = $1',
      [attacker],
    )
    return rows[0]?.kept ?? 0
  } finally {
    await client.end()
  }
}

const times = 50

const replayed: Fault = {
  name: 'F17',
  title: 'a webhook that somebody recorded comes again within the window, and behind it',
  ground: 'shared',
  async strike(world) {
    const target = targetOf(world)
    const { secret, intake } = target
    const id = `replayed-${process.pid}-${Date.now()}`
    const recorded = signTest({ secret }, id)
    const sending = { url: intake.url, localAddress: attacker }
    const answers = await mapBounded(Array.from({ length: times }), lanes, () => send(sending, recorded))
    const codes = answers.map(({ status, code }) => `${status} ${code}`).toSorted()
    mustBeSame('answers to one webhook', codes, [...Array(times - 1).fill('202 duplicate'), '202 stored'])
    const again = sign({ secret, at: new Date(Date.now() - 60_000) }, id, recorded.body)
    mustBeSame('signed anew', await send(sending, again), { status: 202, code: 'duplicate' })
    const late = sign({ secret, at: new Date(Date.now() - 360_000) }, id, recorded.body)
    mustBeSame('behind the window', await send(sending, late), { status: 401, code: 'bad_timestamp' })
    mustBeSame('rows of it', await countStored(target, [id]), [{ id, rows: 1 }])
    await until('every repetition is counted', async () =>
      (await repeatsOf(target, id)) === times ? true : null,
    )
  },
}

async function repeatsOf({ connect }: Target, id: string): Promise<number> {
  const client = await connect()
  try {
    const { rows } = await client.query<{ count: string }>(
      `select count from webhook_repeat join inbox on inbox.id = inbox_id where source_key = $1`,
      [id],
    )
    return Number(rows[0]?.count ?? 0)
  } finally {
    await client.end()
  }
}

export const signatures: Fault[] = [everyWay, replayed]
