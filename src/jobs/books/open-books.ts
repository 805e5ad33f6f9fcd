import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import type { ContraRule } from '../../core/owed.ts'
import { draftTransfers } from '../../ledger/draft-journal.ts'
import {
  accountsFor,
  compareOpening,
  isDifferent,
  type OpeningRow,
  openingTransfers,
  readOpening,
  suspenseTransfers,
} from '../../ledger/opening.ts'
import { type OwnFunds, type StatedOpening, statedOpening } from '../../ledger/opening-lots.ts'
import { readCsv } from '../../provider/owners-file.ts'
import type { AssetNames } from '../../store/assets.ts'
import { countUndecided } from '../../store/books/groups.ts'
import { adjustmentPeriod, type BookedJournal, type ByHand, bookByHand } from '../../store/ledger/journals.ts'
import { accountOwners, readOpeningState, saveOpeningLots } from '../../store/ledger/openings.ts'
import { readValued } from '../../store/ledger/values.ts'
import { activeRules } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import { found, type JournalPreview, refused, refuseOnePerson, refuseReason } from './book-by-hand.ts'
import { type ProvedOpening, refuseUnproved } from './prove-opening.ts'

export type OpeningDeps = {
  db: Kysely<Tables>
  /** The settings name them: patterns. */
  accountPatterns: readonly string[]
  contras: readonly ContraRule[]
  ownFunds: OwnFunds
  assets: AssetNames
  now: () => Date
}

export type Opening = {
  at: Date
  /** Everything received up to then must be decided. Not before the chains were read. */
  received: Date
  /** By a file; null to state what is proved. */
  stated: StatedOpening | null
  /** By what is decided when it is called. */
  prove: (db: Kysely<Tables>) => Promise<ProvedOpening>
  /** The decision to book differences to suspense, so that each account has the proved balance. */
  toSuspense: boolean
}

/**
 * @param text CSV with the columns account, asset and balance; of own funds also cost and acquired
 * @throws Fault `usage_bad` that names the lines
 */
export async function readOpeningFile(
  { db, accountPatterns, contras, ownFunds, assets }: OpeningDeps,
  text: string,
): Promise<StatedOpening> {
  const reading = readCsv(text)
  if (reading.kind === 'unclosed')
    throw refused(`line ${reading.line}: a quote is not closed`, 'correct the file')
  const known = accountsFor({ ...(await accountOwners(db)), assets: assets.keys(), contras })
  const isKnown = (account: string) =>
    !account.includes('*') && (known.has(account) || accountPatterns.includes(account))
  const read = readOpening(reading.rows)
  const drafted = draftTransfers(read.lines, { assets, isKnown })
  const { faults: wrongLots, ...stated } = statedOpening(read.lines, drafted.transfers, { assets, ownFunds })
  const faults = [...read.faults, ...drafted.faults, ...wrongLots]
  if (faults.length > 0)
    throw refused(faults.slice(0, faultsMax).join('; '), 'correct the file, or the settings that it names')
  return stated
}

/** A file of the wrong kind has a fault on each line. */
const faultsMax = 20

/** `replaced`: journals from evidence that are part of the opening and will be reversed. */
type OpeningRows = { rows: readonly OpeningRow[]; lots: StatedOpening['lots']; replaced: number }
export type OpeningPreview = JournalPreview & OpeningRows
export type BookedOpening = BookedJournal & OpeningRows

/** @throws Fault `usage_bad` if the opening would be refused, except for differences */
export async function checkOpening(
  { db, now }: Pick<OpeningDeps, 'db' | 'now'>,
  { at, received, stated, prove, toSuspense }: Opening,
): Promise<OpeningPreview> {
  if (at > now()) throw refused(`${at.toISOString()} is in the future`, 'give a past time')
  const { standing, count, byHand, fromEvidence } = await readOpeningState(db, at)
  if (standing !== null)
    throw refused(
      `the books were opened at ${standing.at.toISOString()}, by journal ${standing.id}`,
      `to correct it, reverse it first with "bin/depositd ledger journal reverse ${standing.id}"`,
    )
  if (byHand.length > 0)
    throw refused(
      `journals by hand are dated before the opening: ${byHand.join(', ')}`,
      'reverse them, because the opening contains their effect, or give an earlier time',
    )
  const { period, belongsTo } = await adjustmentPeriod(db, at)
  if (period !== belongsTo)
    throw refused(
      `${belongsTo.slice(0, 7)} is closed`,
      `give a time in an open month (the first is ${period.slice(0, 7)}), or reopen ${belongsTo.slice(0, 7)}`,
    )
  await refuseUndecided(db, received)
  const proved = await prove(db)
  if (stated === null) refuseUnproved(proved)
  const { transfers, lots } = stated ?? { transfers: openingTransfers(proved.balances), lots: [] }
  await refuseLots(db, lots, at)
  const rows = compareOpening(transfers, proved.proofs)
  const all = [...transfers, ...(toSuspense ? suspenseTransfers(rows) : [])]
  if (all.length === 0) throw refused('there are no balances to book', 'state at least one')
  return {
    key: `opening/${count + 1}`,
    eventAt: at,
    period,
    transfers: all,
    depositId: null,
    rows,
    lots,
    replaced: fromEvidence,
  }
}

async function refuseLots(db: Kysely<Tables>, lots: StatedOpening['lots'], at: Date): Promise<void> {
  const late = lots.find(({ acquiredAt }) => acquiredAt !== null && acquiredAt > at)
  if (late !== undefined)
    throw refused(
      `units of ${late.account} were acquired at ${late.acquiredAt?.toISOString()}, after the opening`,
      'correct the file, or leave them out',
    )
  const [{ currency: valuedIn }, stated] = [await readValued(db), lots[0]?.currency ?? null]
  if (valuedIn !== null && stated !== null && valuedIn !== stated)
    throw refused(
      `the books are valued in ${valuedIn}, and the settings name ${stated}`,
      `set valuation.currency to ${valuedIn}, and restart the daemon`,
    )
}

/** What arrives meanwhile needs no decision: it would also arrive after the opening. */
class UndecidedFault extends Fault<'usage_bad'> {}

/** The proof takes payments on their way from the books, where those not decided are missing. */
async function refuseUndecided(db: Kysely<Tables>, received: Date): Promise<void> {
  const rules = await activeRules(db)
  const { rows, groups } = await countUndecided(db, received)
  const waiting = [
    ...(rules?.isApplied === false ? ['not all deposits are queued for a new decision'] : []),
    ...(rows > 0 ? [`observations that wait to be applied: ${rows}`] : []),
    ...(groups > 0 ? [`groups of deposits that are due for a decision: ${groups}`] : []),
  ]
  if (waiting.length === 0) return
  throw new UndecidedFault('usage_bad', {
    problem: `the daemon has not decided everything that was received up to ${received.toISOString()} yet; ${waiting.join(', ')}`,
    fix: 'let the daemon run, and try again with a longer --wait; if that does not end, see "bin/depositd doctor"',
  })
}

const retryEveryMs = 500

/** Repeats a check or a booking while it is refused only because something is not decided yet. */
export async function untilDecided<Result>(
  work: () => Promise<Result>,
  { waitMs, report }: { waitMs: number; report: (problem: string) => void },
): Promise<Result> {
  let reported = ''
  for (const deadline = performance.now() + waitMs; ; await sleep(retryEveryMs)) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof UndecidedFault) || performance.now() >= deadline) throw error
      if (error.details.problem !== reported) report(error.details.problem)
      reported = error.details.problem
    }
  }
}

/**
 * Booked once, and proved anew. Within `holdingDecisions`: nothing is decided meanwhile, and after the commit every deposit is due
 * for a new decision, which reverses the journals of events up to the opening.
 * @throws Fault `usage_bad`, also if there are differences and no decision
 */
export async function bookOpeningWithin(
  deps: { db: Transaction<Tables>; now: () => Date },
  opening: Opening,
  people: ByHand,
): Promise<BookedOpening> {
  refuseOnePerson(people)
  refuseReason(people.reason)
  const { key, transfers, rows, lots, replaced } = await checkOpening(deps, opening)
  if (!opening.toSuspense) refuseDifferences(rows)
  const journal = {
    key,
    kind: 'opening',
    reverses: null,
    eventAt: opening.at,
    transfers,
    depositId: null,
  } as const
  const id = await bookByHand(deps.db, journal, people)
  await saveOpeningLots(deps.db, id, lots)
  return { ...(await found(deps.db, id)), rows, lots, replaced }
}

/** @throws Fault `usage_bad` if there are any */
export function refuseDifferences(rows: readonly OpeningRow[]): void {
  const differing = rows.filter(isDifferent).length
  if (differing === 0) return
  throw refused(
    `${differing === 1 ? 'one balance differs' : `${differing} balances differ`} from what is proved`,
    'correct them, or decide with --differences-to-suspense to book what is proved',
  )
}
