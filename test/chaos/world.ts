import type { Client } from 'pg'
import type { OwnerEntry } from '../../src/core/address-book.ts'
import type { SandboxNetwork } from '../../src/sandbox/local-networks.ts'
import type { EventReaders } from './events/event-readers.ts'
import type { LoopDelays } from './loop-delays.ts'
import type { ServiceFaults } from './service-faults.ts'
import type { TcpProxy } from './tcp-proxy.ts'

/** Of the program's own processes. */
export type DaemonProcess = {
  readonly name: string
  readonly pid: number
  /** As `--roles` takes them. */
  readonly roles: string
  readonly opsUrl: string
  /** Everything it has printed: JSON lines of its log. */
  output: () => string
  isRunning: () => boolean
  signal: (signal: NodeJS.Signals) => void
  /** Resolves with its exit status once it has ended, null where a signal ended it. */
  readonly ended: Promise<number | null>
  /** SIGKILL, and waits. */
  kill: () => Promise<void>
  /** SIGTERM, also to one that stands still, and waits. */
  stop: () => Promise<number | null>
  /** Steps the clock of that process, in milliseconds beside the real time; returns once it shows that time. */
  setClock: (offsetMs: number) => Promise<void>
  /** That many milliseconds pass for it at once, by its monotonic clock, as if it had run for so long. */
  passTime: (ms: number) => Promise<void>
  /** Has it watch its event loop until what is returned is called. */
  watchLoop: () => Promise<() => Promise<LoopDelays>>
}

export type DaemonOptions = {
  /** The process kills itself by SIGKILL when it comes to that failpoint for the nth time; the first by default. */
  dieAt?: { failpoint: string; nth?: number }
  /** The same, by SIGSTOP. */
  stopAt?: { failpoint: string; nth?: number }
  /** Settings beside, or in the place of, those of the world. */
  environment?: Readonly<Record<string, string>>
  /** Another checkout's `src/main.ts`. */
  main?: string
}

/** A server of others, as a process of the run's own. */
export type ServerProcess = {
  readonly pid: number
  /** Past the proxy. */
  readonly url: string
  /** Where its data are. */
  readonly data: string
  readonly proxy: TcpProxy
  kill: () => Promise<void>
  /** On the same port, on what was kept. */
  start: () => Promise<void>
}

export type ChaosNetwork = {
  readonly name: 'base' | 'arbitrum' | 'solana'
  /** As payers use it, past the proxy. */
  readonly sandbox: SandboxNetwork
  /** Past the proxy. */
  readonly url: string
  readonly proxy: TcpProxy
}

export type PaidDeposit = { network: string; tx: string; address: string; asset: string; amount: bigint }

/** Real processes under traffic: what a fault strikes. */
export type ChaosWorld = {
  readonly backend: 'redis' | 'postgres'
  /** As the owner, past the proxy; a connection of the caller's own, to be ended by it. */
  connect: () => Promise<Client>
  readonly databaseUrl: string
  readonly serviceDatabaseUrl: string
  /** Of the daemons: by it everything is reached through the proxies. */
  readonly environment: Readonly<Record<string, string>>
  /** The same past the proxies, for commands of who looks on. */
  readonly straight: Readonly<Record<string, string>>
  readonly folder: string

  readonly postgres: ServerProcess & {
    /** As that of a daemon, for all its processes; for the first step it is killed and started. */
    setClock: (offsetMs: number) => Promise<void>
  }
  readonly redis: ServerProcess | null
  /** Before the service's API. */
  readonly service: { readonly url: string; readonly proxy: TcpProxy; readonly faults: ServiceFaults }
  readonly networks: readonly ChaosNetwork[]
  /** Where the service sends webhooks: before whichever process has the role `http`. */
  readonly intake: { readonly url: string; readonly proxy: TcpProxy; readonly secret: string }

  /** To which events go. */
  readonly events: EventReaders

  /** All that were started and not ended by `recover`, in the order of their starts, also those that died meanwhile. */
  daemons: () => readonly DaemonProcess[]
  /** Returns once it works, or has ended; one of the world's own, as it always is, must not end. What takes webhooks gets all that come from then on. */
  start: (roles: string, options?: DaemonOptions) => Promise<DaemonProcess>
  /**
   * Heals every proxy, the service and the servers, ends what the fault added or armed and starts what is missing of one
   * `http` and two `worker,scheduler`, sets every clock right, has the service send at once what it still has to send, and the
   * company's systems take events again.
   */
  recover: () => Promise<void>

  readonly owners: readonly OwnerEntry[]
  /** Real payments to the owners' deposit addresses, on all networks in turn. */
  pay: (count: number) => Promise<readonly PaidDeposit[]>
  /** All that was paid since the beginning. */
  readonly paid: readonly PaidDeposit[]
  /** Until every payment is settled by the service, all it told was taken in, and nothing waits to be applied. */
  untilAtRest: () => Promise<void>
  /** A line for who watches. */
  say: (line: string) => void
}
