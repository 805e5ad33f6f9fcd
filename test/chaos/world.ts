import type { Client } from 'pg'
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
  signal: (signal: NodeJS.Signals) => void
  /** Resolves with its exit status once it has ended, null where a signal ended it. */
  readonly ended: Promise<number | null>
  /** SIGKILL, and waits. */
  kill: () => Promise<void>
  /** SIGTERM, and waits. */
  stop: () => Promise<number | null>
  /** Steps the clock of that process, in milliseconds beside the real time. */
  setClock: (offsetMs: number) => void
}

export type DaemonOptions = {
  /** The process kills itself by SIGKILL when it comes to that failpoint for the nth time; the first by default. */
  dieAt?: { failpoint: string; nth?: number }
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
  readonly proxy: TcpProxy
  kill: () => Promise<void>
  /** On the same port, on what was kept. */
  start: () => Promise<void>
}

export type ChaosNetwork = {
  readonly name: 'base' | 'arbitrum' | 'solana'
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
  readonly environment: Readonly<Record<string, string>>
  readonly folder: string

  readonly postgres: ServerProcess
  readonly redis: ServerProcess | null
  /** Before the service's API. */
  readonly service: { readonly url: string; readonly proxy: TcpProxy; readonly faults: ServiceFaults }
  readonly networks: readonly ChaosNetwork[]
  /** Where the service sends webhooks: before whichever process has the role `http`. */
  readonly intake: { readonly url: string; readonly proxy: TcpProxy; readonly secret: string }

  /** Those that are to run now: one of `http`, two of `worker,scheduler`. What ends is started again by `recover`. */
  daemons: () => readonly DaemonProcess[]
  start: (roles: string, options?: DaemonOptions) => Promise<DaemonProcess>
  /** Starts again what does not run, ends what the fault added, opens every proxy, sets every clock right. */
  recover: () => Promise<void>

  /** Real payments to the owners' deposit addresses, on all networks in turn. */
  pay: (count: number) => Promise<readonly PaidDeposit[]>
  /** All that was paid since the beginning. */
  readonly paid: readonly PaidDeposit[]
  /** Until every payment is settled by the service, all it told was taken in, and nothing waits to be applied. */
  untilAtRest: () => Promise<void>
  /** A line for who watches. */
  say: (line: string) => void
}
