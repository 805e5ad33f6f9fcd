import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../core/errors.ts'
import type { StartedPart } from '../sandbox/started-part.ts'
import type { Database } from '../store/database.ts'
import { type Summary, summarise } from '../store/gauges.ts'
import type { Tables } from '../store/tables.ts'
import type { Context } from './context.ts'
import { duration } from './print.ts'

const onTerminalEveryMs = 1000
const elsewhereEveryMs = 10_000

/** Output for a person who starts everything: a line per component as it comes up, then the current state. */
export type Screen = {
  say: (line: string) => void
  part: (part: StartedPart) => void
  ready: (demonstration: { trafficSeconds: number; logFile: string }) => void
  /** Shows the state repeatedly: in place on a terminal, as lines elsewhere. */
  watch: (db: Database<Tables>) => { stop: () => void }
}

export function createScreen(stdout: Context['stdout']): Screen {
  const say = (line: string): void => void stdout.write(`${line}\n`)
  return {
    say,
    part: (part) => say(partLine(part)),
    ready({ trafficSeconds, logFile }) {
      say(
        `\nA small real deposit is made every ${trafficSeconds} s; some go wrong on purpose. To look closer, elsewhere:`,
      )
      for (const command of ['deposits list', 'deposits show ID', 'mismatches list', 'ledger balances']) {
        say(`  bin/depositd ${command}`)
      }
      say(`The log is in ${logFile}. Ctrl-C stops everything; the next start goes on with the same data.\n`)
    },
    watch(db) {
      const stopping = new AbortController()
      void showStatus(db, stdout, stopping.signal)
      return { stop: () => stopping.abort() }
    },
  }
}

export function partLine({ part, address, milliseconds }: StartedPart): string {
  const took = milliseconds === 0 ? '' : `${(milliseconds / 1000).toFixed(1)} s`
  return `  ${part.padEnd(10)} ${address.padEnd(48)} ${took.padStart(6)}`.trimEnd()
}

async function showStatus(
  db: Database<Tables>,
  stdout: Context['stdout'],
  stopping: AbortSignal,
): Promise<void> {
  const isTerminal = stdout.isTTY === true
  while (!stopping.aborted) {
    const line = await summarise(db).then(statusOf, messageOf)
    if (stopping.aborted) return
    stdout.write(isTerminal ? `\r\u001b[2K${line.slice(0, (stdout.columns ?? 80) - 1)}` : `${line}\n`)
    const everyMs = isTerminal ? onTerminalEveryMs : elsewhereEveryMs
    await sleep(everyMs, undefined, { signal: stopping }).catch(() => undefined)
  }
  if (isTerminal) stdout.write('\n')
}

function statusOf({ states, oldestOpenSeconds, mismatches, isBalanced }: Summary): string {
  const deposits = states.map(({ state, count }) => `${count} ${state}`).join(', ') || 'none yet'
  const wrong = mismatches.map(({ kind, count }) => `${count} ${kind}`).join(', ') || 'none'
  const oldest = oldestOpenSeconds === 0 ? '' : ` (oldest open ${duration(oldestOpenSeconds)})`
  return `deposits: ${deposits}${oldest} | mismatches: ${wrong} | books ${isBalanced ? 'balanced' : 'NOT BALANCED'}`
}
