import { sql, type Transaction } from 'kysely'
import { decide } from '../../src/core/decide.ts'
import { decodeObservation, linkKeys } from '../../src/core/evidence.ts'
import type { ApplyDeps } from '../../src/jobs/books/apply.ts'
import { numberDeposits, saveDeposits } from '../../src/store/books/deposits.ts'
import { loadGroups, saveEvidence } from '../../src/store/books/evidence.ts'
import { inTransaction } from '../../src/store/database.ts'
import type { PendingRow } from '../../src/store/inbox.ts'
import { bookJournals } from '../../src/store/ledger/journals.ts'
import type { Tables } from '../../src/store/tables.ts'

type Row = Pick<PendingRow, 'id' | 'service' | 'source' | 'body' | 'receivedAt'>

/**
 * The plain way to do what applyPending does: one inbox row, one transaction. It reads, decides and writes the same,
 * and leaves out what a backlog without trouble does not need: mismatches, and transactions that are asked for.
 * @returns whether there was a row
 */
export function applyOneByOne({ db, readClaim, rules, now }: ApplyDeps): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const { rows } = await sql<Row>`
      select id, source, service, body, inbox.received_at as "receivedAt" from inbox_pending join inbox on id = inbox_id
      order by inbox_id limit 1 for update of inbox_pending skip locked`.execute(tx)
    const [row] = rows
    if (row === undefined) return false
    const { id, source, service, body, receivedAt } = row
    const reading =
      source === 'chain' || source === 'person' ? null : readClaim({ source, service, body, receivedAt })
    const observation = reading?.kind === 'claim' ? reading.claim : decodeObservation(body.toString())
    const groupId = await linkOne(tx, linkKeys(observation))
    await saveEvidence(tx, [{ inboxId: id, groupId, observation }])
    for (const group of await loadGroups(tx, [groupId])) {
      const { deposits, recheckAt } = decide(group, rules, now())
      const numbered = await numberDeposits(
        tx,
        deposits.map((deposit) => ({ ...deposit, groupId })),
      )
      await saveDeposits(tx, numbered)
      for (const { id: depositId, journals } of numbered) {
        await bookJournals(
          tx,
          journals.map((journal) => ({ ...journal, depositId })),
        )
      }
      await sql`update evidence_group set recheck_at = ${recheckAt} where id = ${groupId}`.execute(tx)
    }
    await sql`delete from inbox_pending where inbox_id = ${id}`.execute(tx)
    return true
  })
}

async function linkOne(tx: Transaction<Tables>, keys: readonly string[]): Promise<bigint> {
  const { rows: known } = await sql<{ group_id: bigint }>`
    select distinct group_id from link_key where key = any(${keys}::text[]) order by group_id`.execute(tx)
  const [first, ...others] = known.map(({ group_id }) => group_id)
  const groupId = first ?? (await makeGroup(tx))
  for (const other of others) {
    for (const table of ['link_key', 'evidence', 'deposit']) {
      await sql`update ${sql.table(table)} set group_id = ${groupId} where group_id = ${other}`.execute(tx)
    }
  }
  for (const key of keys) {
    await sql`insert into link_key (key, group_id) values (${key}, ${groupId}) on conflict do nothing`.execute(
      tx,
    )
  }
  return groupId
}

async function makeGroup(tx: Transaction<Tables>): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`
    insert into evidence_group (recheck_at) values (null) returning id`.execute(tx)
  return rows[0]?.id ?? 0n
}
