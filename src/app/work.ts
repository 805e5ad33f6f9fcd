import { createReader } from '../chain/reader.ts'
import type { Settings } from '../config/settings.ts'
import { rulesOf } from '../core/decide.ts'
import { createTokenBuckets } from '../http/token-buckets.ts'
import type { Queue } from '../jobs/queue/queue.ts'
import { createWork, type DaemonWork, type WorkDeps } from '../jobs/work.ts'
import type { Observer } from '../ops/observe.ts'
import { createDepositClient } from '../provider/deposit-client.ts'
import { createOwnersClient } from '../provider/owners-client.ts'
import type { Vocabulary } from '../provider/profile/known-assets.ts'
import { type AnyServiceReader, createServiceReader, readerOfServices } from '../provider/read-evidence.ts'
import { createServiceCall } from '../provider/service-call.ts'
import { createWalletsClient } from '../provider/wallets-client.ts'
import type { Database } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'
import type { OpenService, Services } from './services.ts'

const leaseMs = 15_000
/** Per network. These reads add to the scans and never replace them. */
const verificationLimit = { perSecond: 4, burst: 20 }

type AppWorkDeps = {
  db: Database<Tables>
  queue: Queue
  services: Services
  holder: string
  observer: Observer
  deliver: () => void
}

/** Works with the services as they are at each job. */
export function composeWork(
  settings: Settings,
  { db, queue, services, holder, observer, deliver }: AppWorkDeps,
): DaemonWork {
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
        bounds: { backgroundPerSecond: settings.historyPerSecond },
      }),
    }))
  const verifications = createTokenBuckets(verificationLimit)
  const fixed = {
    db,
    holder,
    leaseMs,
    ...ledgerOf(settings),
    now: () => new Date(),
    ...settings.poll,
    networks: settings.networks,
    creditAsset: settings.creditAsset.key,
    readNetworks: new Set(proven.map(({ reader }) => reader.network)),
    startHeights: settings.startHeights,
    assets: new Map(proven.map(({ settings: { name, assets } }) => [name, assets.map(({ key }) => key)])),
    readers: new Map(proven.map(({ reader }) => [reader.network, reader])),
    proven,
    mayVerify: (network, nowMs) => verifications.take(network, nowMs).allowed,
    wake: queue.wake,
    deliver,
    observe: observer,
  } satisfies Partial<WorkDeps>
  const connectNow = () => connect([...services.open().values()], settings, observer)
  let connected = connectNow()
  // A job that is under way reads payloads by the new profile too.
  const readClaim: AnyServiceReader = (payload) => connected.readClaim(payload)
  const workNow = () => createWork({ ...fixed, ...connected, readClaim, rules: rulesOf(services.followed()) })
  let work = workNow()
  services.onChange(() => {
    connected = connectNow()
    work = workNow()
  })
  const names = Object.keys(work) as (keyof DaemonWork)[]
  return Object.fromEntries(names.map((name) => [name, (key: string) => work[name](key)])) as DaemonWork
}

function ledgerOf({ valuation, ledgerKey, witnesses, people }: Settings): Pick<WorkDeps, 'prices' | 'log'> {
  const { prices: urls = [], conversionRates = false } = valuation ?? {}
  const signer = ledgerKey?.signer ?? null
  return {
    prices: { urls, conversionRates },
    log: { signer, witnesses, administratorKey: people.administratorKey },
  }
}

/** A service that is paused is not called. */
function connect(services: readonly OpenService[], vocabulary: Vocabulary, observer: Observer) {
  const called = services
    .filter(({ settings }) => !settings.isPaused)
    .map(({ settings, profile }) => {
      const observe = (outcome: string) => observer.pollRequest(settings.name, outcome)
      const service = { ...settings, call: createServiceCall(settings, observe) }
      return { service, profile }
    })
  return {
    readClaim: readerOfServices(
      new Map(
        services.map(({ settings: { name }, profile }) => [
          name,
          createServiceReader(profile, vocabulary, name),
        ]),
      ),
    ),
    clients: new Map(
      called.map(({ service, profile }) => [service.name, createDepositClient(service, profile)]),
    ),
    wallets: new Map(
      called.map(({ service, profile }) => [service.name, createWalletsClient(service, profile, vocabulary)]),
    ),
    owners: new Map(
      called.map(({ service, profile }) => [service.name, createOwnersClient(service, profile)]),
    ),
  }
}
