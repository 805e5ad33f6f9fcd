import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../core/errors.ts'
import { depositColumns } from '../presentation/deposit.ts'
import { mismatchSentence } from '../presentation/mismatch-sentence.ts'
import type { StartedPart } from '../sandbox/chains.ts'
import { listDeposits } from '../store/books/list-deposits.ts'
import type { Database } from '../store/database.ts'
import { type Summary, summarise } from '../store/gauges.ts'
import { listMismatches } from '../store/mismatches/show-mismatches.ts'
import type { Tables } from '../store/tables.ts'
import type { Context } from './context.ts'
import { duration, table } from './print.ts'

const onTerminalEveryMs = 1000
const elsewhereEveryMs = 10_000
const depositsShown = 8
/** Seen before the screen says how to connect a service. */
const depositsBeforeHint = 10

/** A line per component as it comes up, then the current deposits: in place on a terminal, as lines elsewhere. */
export function createScreen(stdout: Context['stdout']) {
  const stopping = new AbortController()
  /** Lines above the cursor that the next output replaces. */
  let drawn = 0
  const write = (text: string): void => {
    stdout.write(drawn === 0 ? text : `\u001b[${drawn}A\u001b[0J${text}`)
    drawn = 0
  }
  const say = (line: string): void => write(`${line}\n`)
  const draw = (lines: readonly string[]): void => {
    const fitting = lines.slice(-sizeOf(stdout.rows, 24) + 1)
    write(fitting.map((line) => `${line.slice(0, sizeOf(stdout.columns, 80) - 1)}\n`).join(''))
    drawn = fitting.length
  }
  return {
    say,
    watch(db: Database<Tables>) {
      void showDeposits({ db, say, draw: stdout.isTTY === true ? draw : null }, stopping.signal)
    },
    stop() {
      stopping.abort()
      drawn = 0
      say('stopping')
    },
  }
}

/** A terminal may not know its size, and say 0. */
function sizeOf(stated: number | undefined, usual: number): number {
  return stated === undefined || stated === 0 ? usual : stated
}

export function partLine({ part, address, milliseconds }: StartedPart): string {
  const took = milliseconds === 0 ? '' : `${(milliseconds / 1000).toFixed(1)} s`
  return `  ${part.padEnd(10)} ${address.padEnd(48)} ${took.padStart(6)}`.trimEnd()
}

export function readyText(trafficSeconds: number, signInUrl: string, logFile: string): string {
  return `
Everything runs. Test customers pay every ${trafficSeconds} s, later less often, on the local chains.
Open the console; this link signs you in, once:

  ${signInUrl}

Or type in another terminal, in this folder:

  bin/depositd deposits list     deposits and their states
  bin/depositd mismatches list   what does not agree, and the next step
  bin/depositd ledger balances   the books

The log is ${logFile}. Ctrl-C stops everything; the next start continues with the same data.
`
}

type Display = {
  db: Database<Tables>
  say: (line: string) => void
  /** Null unless on a terminal. */
  draw: ((lines: readonly string[]) => void) | null
}

async function showDeposits({ db, say, draw }: Display, stopping: AbortSignal): Promise<void> {
  const notices = createNotices(db)
  let lastStatus = ''
  while (!stopping.aborted) {
    try {
      const [summary, deposits] = await Promise.all([
        summarise(db),
        listDeposits(db, { limit: depositsShown }),
      ])
      const notice = await notices(summary)
      if (stopping.aborted) return
      if (notice !== null) say(`\n${notice}\n`)
      const status = statusOf(summary)
      if (draw !== null) draw([...table(deposits, depositColumns).split('\n'), ...status])
      else if (status.join() !== lastStatus) say(status.join(' | '))
      lastStatus = status.join()
    } catch (error) {
      if (!stopping.aborted) say(messageOf(error))
    }
    const everyMs = draw === null ? elsewhereEveryMs : onTerminalEveryMs
    await sleep(everyMs, undefined, { signal: stopping }).catch(() => undefined)
  }
}

function statusOf({ states, oldestOpenSeconds, mismatches, isBalanced }: Summary): string[] {
  const deposits = states.map(({ state, count }) => `${count} ${state}`).join(', ') || 'none yet'
  const wrong = mismatches.map(({ kind, count }) => `${count} ${kind}`).join(', ') || 'none'
  const oldest = oldestOpenSeconds === 0 ? '' : ` (oldest open ${duration(oldestOpenSeconds)})`
  const books = `books ${isBalanced ? 'balanced' : 'NOT BALANCED'}`
  return [`deposits: ${deposits}${oldest}`, `mismatches: ${wrong}`, books]
}

/** Each notice is shown once; null if none is due. */
function createNotices(db: Database<Tables>): (summary: Summary) => Promise<string | null> {
  let isShortExplained = false
  let settledAtStart: number | null = null
  let isHintShown = false
  return async ({ states, mismatches }) => {
    const settled = states
      .filter(({ state }) => state === 'settled' || state === 'reconciled')
      .reduce((sum, { count }) => sum + count, 0)
    settledAtStart ??= settled
    if (!isShortExplained && mismatches.some(({ kind }) => kind === 'settlement_short')) {
      isShortExplained = true
      return explainShort(db)
    }
    if (isHintShown || settled - settledAtStart < depositsBeforeHint) return null
    isHintShown = true
    return `${depositsBeforeHint} deposits were paid, compared and booked. To connect your own deposit service, follow
docs/tutorials/connect-your-service.md`
  }
}

async function explainShort(db: Database<Tables>): Promise<string | null> {
  const filter = { kind: 'settlement_short', isNewestFirst: true, also: 'nothing', limit: 1 } as const
  const [mismatch] = await listMismatches(db, filter)
  if (mismatch === undefined) return null
  const deposit = mismatch.subject.replace('deposit/', '')
  const sentence = mismatchSentence(mismatch).replace(/^Short by (\S+ \S+):/, 'arrived $1 short:')
  const width = Math.max(deposit.length, mismatch.id.length)
  return `Deposit ${deposit} ${sentence}. To see why:

  bin/depositd deposits show ${deposit.padEnd(width)}     what each source reports, and the bookings
  bin/depositd mismatches show ${mismatch.id.padEnd(width)}   who caused it, and the next step

The service makes this error on purpose. A few more deposits will go wrong at random.`
}
