import type { Client } from 'pg'
import { withRole } from '../daemons.ts'
import type { ChaosWorld, DaemonProcess } from '../world.ts'
import type { Peer } from './raw-http.ts'

/** A process that takes webhooks, past every proxy. */
export type IntakeProcess = {
  pid: number
  opsUrl: string
  output: () => string
  watchLoop: DaemonProcess['watchLoop']
  url: string
  /** From an address of this machine. */
  from: (localAddress: string) => Peer
}

/** What is attacked, and where it keeps what it takes. */
export type Target = {
  intake: IntakeProcess
  /** By which genuine webhooks are signed. */
  secret: string
  /** The settings of the process. */
  environment: Readonly<Record<string, string>>
  /** To its database; to be ended by the caller. */
  connect: () => Promise<Client>
  say: (line: string) => void
}

export const transfersPath = '/webhooks/transfers'

/** The process of the world that takes webhooks; where it does is in the line of its log that tells of its start. */
export function targetOf(world: ChaosWorld): Target {
  const process = withRole(world, 'http').at(-1)
  const reported = /"event":"daemon_started","webhooks":"([^"]+)"/.exec(process?.output() ?? '')?.[1]
  if (process === undefined || reported === undefined)
    throw new Error('no process says that it takes webhooks')
  const { environment, connect, say } = world
  return { intake: intakeAt(process, reported), secret: world.intake.secret, environment, connect, say }
}

export function intakeAt(
  { pid, opsUrl, output, watchLoop }: Pick<IntakeProcess, 'pid' | 'opsUrl' | 'output' | 'watchLoop'>,
  url: string,
): IntakeProcess {
  const host = '127.0.0.1'
  const port = Number(new URL(url).port)
  return {
    pid,
    opsUrl,
    output,
    watchLoop,
    url: `http://${host}:${port}${transfersPath}`,
    from: (localAddress) => ({ host, port, localAddress }),
  }
}
