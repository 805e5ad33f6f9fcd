import { eventsAfter, numberEvents } from '../../src/store/events.ts'
import type { Books } from './books.ts'

/** What is reported of a deposit in order, with the number that it merged into. @throws if one does not follow the one before it */
export async function depositEvents({ db }: Books, deposit: bigint): Promise<string[]> {
  await numberEvents(db)
  const all = await eventsAfter(db, 0n, { limit: 500 })
  const own = all.filter(({ depositId }) => depositId === deposit)
  for (const [place, { sequence, previous }] of own.entries())
    if (previous !== (own[place - 1]?.sequence ?? null)) throw new Error(`${sequence} follows none`)
  const reported = own.filter(({ type }) => type.startsWith('deposit.'))
  return reported.map(({ type, data }) => ('into' in data ? `${type} ${String(data.into)}` : type))
}
