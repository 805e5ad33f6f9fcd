import { readFileSync } from 'node:fs'
import { createPayer } from '../chain/pay/payer.ts'
import { type DepositCanarySettings, keyProblem, wouldShowSecret } from '../config/canary.ts'
import type { Settings } from '../config/settings.ts'
import { depositCanary, webhookCanary } from '../core/canary.ts'
import { assert, Fault } from '../core/errors.ts'
import { parseAmount } from '../core/money.ts'
import { divertCanaries, type Write } from '../intake/divert-canaries.ts'
import type { InboxWriter } from '../intake/inbox-writer.ts'
import type { LiveScheme } from '../intake/live-scheme.ts'
import { signDelivery } from '../intake/signature/sign-delivery.ts'
import { type FollowDepositsDeps, followDeposits } from '../jobs/canary/follow-deposits.ts'
import { type SendWebhookDeps, sendWebhook } from '../jobs/canary/send-webhook.ts'
import type { Queue } from '../jobs/queue/queue.ts'
import { isDone, type Tick } from '../jobs/schedule.ts'
import type { LineSink } from '../log/log-event.ts'
import { keepReading } from '../ops/keep-reading.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Observer } from '../ops/observe.ts'
import { type CanaryObserver, observeCanaries } from '../ops/observe-canary.ts'
import { showCanaries } from '../ops/show-canaries.ts'
import { canaryAges, isCustomer, keepCanaryOwner, receiveWebhook, switchCanaries } from '../store/canary.ts'
import type { Database } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'

type CanaryDeps = {
  db: Database<Tables>
  queue: Queue
  observer: Observer
  metrics: Metrics
  log: LineSink
  webhooks: LiveScheme
}

export type Canaries = {
  /** Runs the canary of the key if it is due. */
  jobs: { canary: (key: string) => Promise<void> }
  ticks: Tick[]
  /** Wraps a read of the gauges so that it also updates the age of each canary's last success. */
  beside: <Read>(read: () => Promise<Read>) => () => Promise<Read>
}

/** How often due canaries are started and results are checked. */
const tickExpression = '*/5 * * * * *'

/** Composes the canaries, which test depositd's own data flow. If the settings name none, there is nothing to run. */
export function composeCanaries(settings: Settings, parts: CanaryDeps): Canaries {
  const { queue, observer } = parts
  const runs = runsOf(settings, parts)
  const show = createShow(settings, parts)
  const wake = (key: string) => () =>
    isDone(queue.wake('canary', key), (error) => observer.jobFailed('canary', error))
  return {
    jobs: {
      async canary(key) {
        // A queued wake-up may name a canary of earlier settings.
        await runs.get(key)?.()
      },
    },
    ticks: [...runs.keys()].map((key) => ({
      name: `canary ${key}`,
      expression: tickExpression,
      run: wake(key),
    })),
    beside: (read) => async () => {
      const [gauges] = await Promise.all([read(), show()])
      return gauges
    },
  }
}

function runsOf(settings: Settings, parts: CanaryDeps): Map<string, () => Promise<void>> {
  const { webhooks, deposits } = settings.canary
  const observe = observeCanaries(parts.metrics, parts.log)
  const runs = new Map<string, () => Promise<void>>()
  if (webhooks !== null) {
    const deps = webhookDeps(webhooks, parts, observe)
    runs.set(webhookCanary, () => sendWebhook(deps))
  }
  for (const canary of deposits) {
    const deps = depositDeps(canary, settings, { ...parts, observe })
    runs.set(depositCanary(canary.network), () => followDeposits(deps))
  }
  return runs
}

function webhookDeps(
  canary: NonNullable<Settings['canary']['webhooks']>,
  { db, webhooks }: CanaryDeps,
  observe: CanaryObserver,
): SendWebhookDeps {
  return {
    ...canary,
    db,
    sign(unsigned) {
      const settings = webhooks.signing()
      // The scheme may have changed since the address was accepted.
      if (wouldShowSecret(settings.scheme, canary.url)) return null
      return signDelivery({ settings, secrets: webhooks.secrets() }, unsigned)
    },
    now: () => new Date(),
    observe: observe.webhook,
  }
}

/** On every network with a fee limit. */
const nativeDecimals = 18

type DepositCanaryDeps = Omit<CanaryDeps, 'observe'> & { observe: CanaryObserver }

function depositDeps(
  { network: name, symbol, amount, owner, everyMs, withinMs, keyPath, feeMax }: DepositCanarySettings,
  { networks }: Settings,
  { db, observer, observe }: DepositCanaryDeps,
): FollowDepositsDeps {
  const network = networks.find((one) => one.name === name)
  const asset = network?.assets.find((one) => one.symbol === symbol)
  assert(network !== undefined && asset !== undefined, `the settings know ${symbol} on ${name}`)
  const feeBound = parseAmount(feeMax, nativeDecimals)
  const payer = keyPath === null ? null : createPayer(network, { observe: observer.rpc })
  return {
    db,
    place: { network: name, asset, amount: parseAmount(amount, asset.decimals), owner },
    everyMs,
    withinMs,
    // The key is read for each payment and stays in memory only while it signs.
    pay:
      payer &&
      ((order, onSigned) =>
        payer(order, { key: readFileSync(keyPath ?? '', 'utf8'), feeMax: feeBound, onSigned })),
    observe: observe.deposit,
  }
}

/**
 * Switches canaries on or off as the settings say, before a worker decides or pays by them.
 * @throws Fault `settings_bad` if a key cannot pay, or if a customer's deposits would be booked as ours
 */
export async function admitCanaries(db: Database<Tables>, { canary, networks }: Settings): Promise<void> {
  const { webhooks, deposits } = canary
  const faults: string[] = []
  const owners = deposits.map(({ network, owner }) => ({ name: depositCanary(network), owner }))
  const ofWebhooks = webhooks === null ? [] : [{ name: webhookCanary, owner: null }]
  await switchCanaries(db, [...ofWebhooks, ...owners])
  for (const [place, { network: name, owner, keyPath }] of deposits.entries()) {
    const refuse = (fault: string) => void faults.push(`DEPOSITD_CONFIG, canary.deposits.${place}.${fault}`)
    const family = networks.find((one) => one.name === name)?.family ?? 'evm'
    const problem = keyPath && keyProblem(keyPath, family, (path) => readFileSync(path, 'utf8'))
    if (problem) refuse(problem.says)
    if (await isCustomer(db, { name: depositCanary(name), owner }))
      refuse(`owner: ${owner.kind} ${owner.id} has deposits already; make one that is used for nothing else`)
  }
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
  for (const one of owners) await keepCanaryOwner(db, one)
}

/** Stores webhooks, except those of the canary. Without a webhook canary, every webhook is stored. */
export function composeWrite({ canary }: Settings, db: Database<Tables>, write: InboxWriter['write']): Write {
  return canary.webhooks === null ? write : divertCanaries(write, (token) => receiveWebhook(db, token))
}

/** One missed webhook may be chance; three in a row are not. The slack allows for a late tick. */
const webhooksMissed = 3
const slackMs = 60_000
/** Reading a few rows is cheap, and the first success should show without delay. */
const agesKeptMs = 2000

function createShow({ canary }: Settings, { db, metrics }: CanaryDeps): () => Promise<void> {
  const { webhooks, deposits } = canary
  const watched = new Map<string, { network: string | null; limit: number }>()
  if (webhooks !== null) {
    const limit = (webhooks.everyMs * webhooksMissed + webhooks.timeoutMs) / 1000
    watched.set(webhookCanary, { network: null, limit })
  }
  for (const { network, everyMs, withinMs } of deposits) {
    watched.set(depositCanary(network), { network, limit: (everyMs + withinMs + slackMs) / 1000 })
  }
  if (watched.size === 0) return () => Promise.resolve(showCanaries(metrics, []))
  const read = keepReading(() => canaryAges(db), { keptMaxMs: agesKeptMs })
  return async () => {
    // Ages that cannot be read are left out; the database has its own alerts.
    const { value, ageSeconds } = await read().catch(() => ({ value: [], ageSeconds: 0 }))
    const ages = new Map(value.map(({ name, age }) => [name, age + ageSeconds]))
    const canaries = [...watched].map(([name, one]) => ({ ...one, age: ages.get(name) ?? null }))
    showCanaries(metrics, canaries)
  }
}
