import { createReader } from '../chain/reader.ts'
import type { Settings } from '../config/settings.ts'
import { rulesOf } from '../core/decide.ts'
import { createTokenBuckets } from '../http/token-buckets.ts'
import type { Queue } from '../jobs/queue/queue.ts'
import { createWork, type DaemonWork } from '../jobs/work.ts'
import type { Observer } from '../ops/observe.ts'
import { createDepositClient } from '../provider/deposit-client.ts'
import { createOwnersClient } from '../provider/owners-client.ts'
import { createClaimReader, readerOfServices } from '../provider/read-claim.ts'
import { createServiceCall } from '../provider/service-call.ts'
import type { Database } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'
import { loadServiceProfile } from './service-profile.ts'

const leaseMs = 15_000
/** Per network. These reads add to the scans and never replace them. */
const verificationLimit = { perSecond: 4, burst: 20 }

type AppWorkDeps = { db: Database<Tables>; queue: Queue; holder: string; observer: Observer }

export function composeWork(settings: Settings, { db, queue, holder, observer }: AppWorkDeps): DaemonWork {
  const proven = settings.networks
    .filter(({ rpcUrls }) => rpcUrls.length > 0)
    .map((network) => ({
      settings: network,
      startHeight: settings.startHeights.get(network.name) ?? null,
      reader: createReader(network, {
        observe: observer.rpc,
        observeNode: observer.rpcNode,
        observeOddLog: observer.oddLog,
        observeUnread: observer.unread,
      }),
    }))
  const verifications = createTokenBuckets(verificationLimit)
  const services = settings.services.map((service) => {
    const profile = loadServiceProfile(settings, service)
    const called = { ...service, call: createServiceCall(service, observer.pollRequest) }
    return {
      name: service.name,
      client: createDepositClient(called, profile),
      owners: createOwnersClient(called, profile),
      read: createClaimReader(profile, settings, service.name),
    }
  })
  return createWork({
    db,
    holder,
    leaseMs,
    now: () => new Date(),
    rules: rulesOf(settings),
    readClaim: readerOfServices(new Map(services.map(({ name, read }) => [name, read]))),
    clients: new Map(services.map(({ name, client }) => [name, client])),
    ...settings.poll,
    owners: new Map(services.map(({ name, owners }) => [name, owners])),
    networks: settings.networks,
    readNetworks: new Set(proven.map(({ reader }) => reader.network)),
    startHeights: settings.startHeights,
    assets: new Map(proven.map(({ settings: { name, assets } }) => [name, assets.map(({ key }) => key)])),
    readers: new Map(proven.map(({ reader }) => [reader.network, reader])),
    proven,
    mayVerify: (network, nowMs) => verifications.take(network, nowMs).allowed,
    wake: queue.wake,
    observe: observer,
  })
}
