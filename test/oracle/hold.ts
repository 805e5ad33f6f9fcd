import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { i1 } from './invariants/i01-nothing-lost.ts'
import { i2 } from './invariants/i02-nothing-twice.ts'
import { i3 } from './invariants/i03-balanced.ts'
import { i4, keepRows } from './invariants/i04-immutable.ts'
import { brokenSeals } from './invariants/i04-seals.ts'
import { i5 } from './invariants/i05-coverage.ts'
import { i6 } from './invariants/i06-conservation.ts'
import { i8 } from './invariants/i08-finality.ts'
import { watchChanges } from './truth/changes.ts'
import { storeTruth, type WorldFacts } from './truth/store-truth.ts'
import { tablesOfTruth } from './truth/tables.ts'

export type { WorldFacts } from './truth/store-truth.ts'

export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I8'
export type Contradiction = { invariant: Invariant; question: string; rows: unknown[] }

/** Each finds whatever contradicts its invariant, and so finds nothing. None shares code with the product. */
export const questions: Readonly<Record<Invariant, Readonly<Record<string, string>>>> = {
  I1: i1,
  I2: i2,
  I3: i3,
  I4: i4,
  I5: i5,
  I6: i6,
  I8: i8,
}

/** These hold at every instant; of the others, what contradicts them may only be on its way. */
const always: readonly Invariant[] = ['I2', 'I3', 'I4']

const pauseMs = 500

/**
 * What contradicts the invariants in a world that is at rest, or nearly: what may only be on its way is asked again
 * until it is told no more or the time is over. What must hold at every instant is told by the first answer.
 */
export async function contradictionsIn(facts: WorldFacts, withinMs = 30_000): Promise<Contradiction[]> {
  const client = new Client({ connectionString: facts.databaseUrl })
  await client.connect()
  const deadline = performance.now() + withinMs
  try {
    for (;;) {
      await storeTruth(client, facts)
      const found = await askOnce(client)
      const isFound = found.some(({ invariant }) => always.includes(invariant))
      if (found.length === 0 || isFound || performance.now() >= deadline) return found
      await sleep(pauseMs)
    }
  } finally {
    await client.end()
  }
}

/** Every question once, of one moment; then the rows that must stay are kept for the next time. */
async function askOnce(client: Client): Promise<Contradiction[]> {
  await client.query('begin isolation level repeatable read')
  try {
    const found = await askEach(client)
    await client.query(keepRows)
    await client.query('commit')
    return found
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** To be run on books that are migrated, and have no deposit yet: from then on each change must be reported. */
export async function keepChanges(client: Client): Promise<void> {
  await client.query(tablesOfTruth)
  await client.query(watchChanges)
}

/** Of what stands now nothing may change or vanish, whenever it is asked the next time. */
export async function keepStanding(client: Client): Promise<void> {
  await client.query(tablesOfTruth)
  await client.query(keepRows)
}

export const ofSeals = 'seals are of the rows that stand'

/** Of what stands now, beside the truth as it was stored before. */
export async function askEach(client: Client): Promise<Contradiction[]> {
  const found: Contradiction[] = []
  for (const [invariant, asked] of Object.entries(questions)) {
    for (const [question, text] of Object.entries(asked)) {
      const { rows } = await client.query(text)
      found.push({ invariant: invariant as Invariant, question, rows })
    }
  }
  found.push({ invariant: 'I4', question: ofSeals, rows: await brokenSeals(client) })
  return found.filter(({ rows }) => rows.length > 0)
}

const rowsReported = 5

/** A line for each contradiction, and its first rows. */
export function reportContradictions(found: readonly Contradiction[]): string {
  return found
    .map(({ invariant, question, rows }) => {
      const reported = rows.slice(0, rowsReported).map((row) => `\n    ${JSON.stringify(row)}`)
      return `${invariant}: NOT SO: ${question} (${rows.length} rows)${reported.join('')}`
    })
    .join('\n')
}
