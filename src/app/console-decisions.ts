import { decidedJournals } from '../jobs/people/decided-journals.ts'
import type { ConsoleDecision, ConsolePeople } from '../ops/console/people.ts'
import { type DecisionContent, readDecision } from '../people/decision.ts'
import { resolutionLines } from '../presentation/decision.ts'
import { placeOf, transferDocument } from '../presentation/journal.ts'
import { readAssetNames } from '../store/assets.ts'
import type { Database } from '../store/database.ts'
import { listDecisions, readDecisions } from '../store/decisions.ts'
import type { Tables } from '../store/tables.ts'
import type { DatabaseReading } from './console-sign-in.ts'

/** Decisions as the console shows them. @param reading throws Fault `remote_failed` on any error of the database */
export function readingPart(
  db: Database<Tables>,
  reading: DatabaseReading,
): Pick<ConsolePeople, 'decisions' | 'decision' | 'waiting'> {
  return {
    decisions: (wish) => reading(listDecisions(db, wish)),
    decision: (id) => reading(readConsoleDecision(db, id)),
    async waiting({ person }, limit) {
      const lines = await reading(listDecisions(db, { state: 'waiting', before: null, limit }))
      const others = lines.filter(({ requested_by: by }) => by?.toLowerCase() !== person.toLowerCase())
      const shown = await reading(Promise.all(others.map(({ id }) => readConsoleDecision(db, id))))
      return shown.filter((one) => one !== null).toReversed()
    },
  }
}

async function readConsoleDecision(db: Database<Tables>, id: bigint): Promise<ConsoleDecision | null> {
  const [[stored], [line]] = await Promise.all([
    readDecisions(db, { id }),
    listDecisions(db, { state: null, before: id + 1n, limit: 1 }),
  ])
  if (stored === undefined || line?.id !== id) return null
  const content = readDecision(stored.text)
  return {
    ...line,
    content,
    text: stored.text,
    ...(content === null ? { journals: [], resolutions: [] } : await booksOf(db, content)),
    events: stored.events.map(({ action, person, signature }) => ({
      action,
      person,
      key: signature === null ? null : signature.startsWith('{') ? 'passkey' : 'key file',
    })),
  }
}

/** What the text says is booked or resolved, in units. */
export async function booksOf(
  db: Database<Tables>,
  { kind, grounds }: DecisionContent,
): Promise<Pick<ConsoleDecision, 'journals' | 'resolutions'>> {
  const assets = await readAssetNames(db)
  const journals = decidedJournals(grounds).map((journal) => ({
    key: journal.key,
    place: placeOf(journal),
    transfers: journal.transfers.map((transfer) => transferDocument(transfer, assets)),
  }))
  return { journals, resolutions: kind === 'resolve' ? resolutionLines(grounds.books, assets) : [] }
}
