import { createReader } from './chain/reader.ts'
import type { Settings } from './config/settings.ts'
import { auditOwners } from './jobs/audit-owners.ts'
import type { Queue } from './jobs/queue.ts'
import type { Tick } from './jobs/schedule.ts'
import { createWork, type JobName, type Work } from './jobs/work.ts'
import type { Observer } from './ops/observe.ts'
import { createDepositClient } from './provider/deposit-client.ts'
import { createOwnersClient } from './provider/owners-client.ts'
import { createClaimReader } from './provider/read-claim.ts'
import { createServiceCall } from './provider/service-call.ts'
import { loadServiceProfile } from './service-profile.ts'
import type { Database } from './store/database.ts'
import type { Tables } from './store/tables.ts'

const leaseMs = 15_000

type Parts = { db: Database<Tables>; queue: Queue; holder: string; observer: Observer }

/** Brings the jobs together with what they read from and write to. */
export function composeWork(settings: Settings, { db, queue, holder, observer }: Parts): Work {
  const read = settings.networks.filter(({ rpcUrls }) => rpcUrls.length > 0)
  const profile = loadServiceProfile(settings)
  const { url } = settings.service
  const call = createServiceCall(settings.service, observer.pollRequest)
  const { youngMs, quietMs, ...poll } = settings.poll
  const owners = { db, client: createOwnersClient({ url, call }, profile), networks: settings.networks }
  return createWork({
    db,
    holder,
    leaseMs,
    now: () => new Date(),
    readClaim: createClaimReader(profile, settings),
    rules: { policy: settings.policy, senders: settings.senders },
    client: createDepositClient({ url, call }, profile),
    ...poll,
    cadence: { youngMs, quietMs },
    audit: () => auditOwners(owners),
    startHeights: settings.startHeights,
    assets: new Map(read.map(({ name, assets }) => [name, assets.map(({ key }) => key)])),
    readers: new Map(read.map((network) => [network.name, createReader(network, { observe: observer.rpc })])),
    wake: queue.wake,
    observe: observer,
  })
}

type Waking = { queue: Queue; observer: Observer }

/** Every scheduler ticks; the queue makes one job of the ticks of all of them. */
export function ticksOf({ networks, schedule }: Settings, { queue, observer }: Waking): Tick[] {
  const wake = (job: JobName, key?: string) => () =>
    queue.wake(job, key).catch((error: unknown) => observer.jobFailed(job, error))
  const ofNetworks = networks
    .filter(({ rpcUrls }) => rpcUrls.length > 0)
    .flatMap(({ name }) => [
      { name: `scan ${name}`, expression: schedule.scan, run: wake('scan', name) },
      { name: `backfill ${name}`, expression: schedule.backfill, run: wake('backfill', name) },
    ])
  return [
    ...ofNetworks,
    { name: 'poll', expression: schedule.poll, run: wake('poll') },
    { name: 'sweep', expression: schedule.sweep, run: wake('sweep') },
    { name: 'audit', expression: schedule.audit, run: wake('audit') },
  ]
}
