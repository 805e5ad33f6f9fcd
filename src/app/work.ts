import { createReader } from '../chain/reader.ts'
import type { Settings } from '../config/settings.ts'
import { rulesOf } from '../core/decide.ts'
import { assert } from '../core/errors.ts'
import { createTokenBuckets } from '../http/token-buckets.ts'
import { digestOf } from '../jobs/books/activate-rules.ts'
import { auditOwners } from '../jobs/books/ledger-work.ts'
import type { ProveDeps, ProvenNetwork } from '../jobs/chain/proof-run.ts'
import { proveBalances } from '../jobs/chain/prove-balances.ts'
import type { Queue } from '../jobs/queue/queue.ts'
import { isDone, type Tick } from '../jobs/schedule.ts'
import { createWork, type DaemonWork, type JobName, type WorkDeps } from '../jobs/work.ts'
import type { Observer } from '../ops/observe.ts'
import { createDepositClient } from '../provider/deposit-client.ts'
import { createOwnersClient } from '../provider/owners-client.ts'
import { createClaimReader } from '../provider/read-claim.ts'
import { createServiceCall } from '../provider/service-call.ts'
import type { Database } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'
import { loadServiceProfile } from './service-profile.ts'

const leaseMs = 15_000
/** Limits, per network, of reading transactions by id. These reads add to the scans and never replace them. */
const verificationLimit = { perSecond: 4, burst: 20 }
/** A proof writes rarely, and releases its lease at the end. */
const proofLeaseMs = 60_000

type AppWorkDeps = { db: Database<Tables>; queue: Queue; holder: string; observer: Observer }

/** Composes the jobs with their sources and stores. */
export function composeWork(settings: Settings, { db, queue, holder, observer }: AppWorkDeps): DaemonWork {
  const read = settings.networks.filter(({ rpcUrls }) => rpcUrls.length > 0)
  const proven = read.map((network) => ({
    settings: network,
    startHeight: settings.startHeights.get(network.name) ?? null,
    reader: createReader(network, {
      observe: observer.rpc,
      observeNode: observer.rpcNode,
      observeOddLog: observer.oddLog,
      observeUnread: observer.unread,
    }),
  }))
  const profile = loadServiceProfile(settings)
  const rules = rulesOf(settings)
  const verifications = createTokenBuckets(verificationLimit)
  const { url } = settings.service
  const call = createServiceCall(settings.service, observer.pollRequest)
  const { youngMs, quietMs, ...poll } = settings.poll
  const owners = { db, client: createOwnersClient({ url, call }, profile), networks: settings.networks }
  return createWork({
    db,
    holder,
    leaseMs,
    now,
    readClaim: createClaimReader(profile, settings),
    rules,
    rulesDigest: digestOf(rules),
    readNetworks: new Set(read.map(({ name }) => name)),
    mayVerify: (network, nowMs) => verifications.take(network, nowMs).allowed,
    client: createDepositClient({ url, call }, profile),
    ...poll,
    cadence: { youngMs, quietMs },
    audit: () => auditOwners(owners),
    startHeights: settings.startHeights,
    assets: new Map(read.map(({ name, assets }) => [name, assets.map(({ key }) => key)])),
    readers: new Map(proven.map(({ reader }) => [reader.network, reader])),
    prove: composeProof({ db, holder, leaseMs: proofLeaseMs, now }, proven),
    wake: queue.wake,
    observe: observer,
  })
}

function now(): Date {
  return new Date()
}

function composeProof(deps: ProveDeps, networks: readonly ProvenNetwork[]): WorkDeps['prove'] {
  return (name) => {
    const network = networks.find(({ settings }) => settings.name === name)
    assert(network !== undefined, `balances are proved only where a reader is: ${name}`)
    return proveBalances(deps, network)
  }
}

type TickDeps = { queue: Queue; observer: Observer }

/** The jobs to wake and how often. Wake-ups of a job that is already waiting are merged. */
export function ticksOf({ networks, schedule }: Settings, { queue, observer }: TickDeps): Tick[] {
  const wake = (job: JobName, key?: string) => () =>
    isDone(queue.wake(job, key), (error) => observer.jobFailed(job, error, key))
  const ofNetworks = networks
    .filter(({ rpcUrls }) => rpcUrls.length > 0)
    .flatMap(({ name }) => [
      { name: `scan ${name}`, expression: schedule.scan, run: wake('scan', name) },
      { name: `backfill ${name}`, expression: schedule.backfill, run: wake('backfill', name) },
      { name: `balances ${name}`, expression: schedule.balances, run: wake('prove', name) },
    ])
  return [
    ...ofNetworks,
    { name: 'poll', expression: schedule.poll, run: wake('poll') },
    { name: 'sweep', expression: schedule.sweep, run: wake('sweep') },
    { name: 'audit', expression: schedule.audit, run: wake('audit') },
    { name: 'seal', expression: schedule.seal, run: wake('seal') },
  ]
}
