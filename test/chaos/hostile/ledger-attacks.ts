/** What must be refused, and what Postgres says of it. */
export type LedgerAttack = { statements: string; refusal: RegExp }

const change = /permission denied|append-only|must be owner|can only be updated to DEFAULT/

/** On each table of the ledger. */
export function changesOf(table: string, columns: readonly string[]): LedgerAttack[] {
  const updates = columns.map((column) => `update ${table} set ${column} = ${column}`)
  const others = [
    `delete from ${table}`,
    `truncate ${table}`,
    `truncate ${table} cascade`,
    `merge into ${table} t using (select 1) s on true when matched then delete`,
    `alter table ${table} disable trigger all`,
    `drop table ${table} cascade`,
  ]
  return [...updates, ...others].map((statements) => ({ statements, refusal: change }))
}

const booked = 'select * from ledger_transfer order by journal_id limit 1'
const journal = `insert into ledger_journal (posting_key, kind, event_at, period)
  values ('mine', 'manual', now(), ledger_month(now()))`
const leg = (values: string) =>
  `insert into ledger_transfer (journal_id, leg, debit, credit, asset, amount, event_at, recorded_at, period) ${values}`
const mine = (values: string) =>
  `with j as (${journal} returning *) ${leg(`${values} from j, (${booked}) b`)}`
const ofMine = (debit: string, credit: string, amount: string) =>
  mine(`select j.id, 1, ${debit}, ${credit}, b.asset, ${amount}, j.event_at, j.recorded_at, j.period`)

/** Rows that would leave the books out of balance, or stand where nobody looks any more. */
export const inserts: Record<string, LedgerAttack> = {
  'a leg to a journal that is booked': {
    statements: leg(
      `select journal_id, 9, debit, credit, asset, 1, event_at, recorded_at, period from (${booked}) b`,
    ),
    refusal: /already booked/,
  },
  'a leg with one side': {
    statements: ofMine('b.debit', 'b.debit', '1'),
    refusal: /check constraint/,
  },
  'a leg of nothing': {
    statements: ofMine('b.debit', 'b.credit', '0'),
    refusal: /check constraint/,
  },
  'a leg below zero': {
    statements: ofMine('b.debit', 'b.credit', '-1'),
    refusal: /check constraint/,
  },
  'a leg without an account': {
    statements: ofMine('b.debit', 'null', '1'),
    refusal: /null value|an account does not exist/,
  },
  'a leg to an account that is not there': {
    statements: ofMine('b.debit', "'assets:mine'", '1'),
    refusal: /foreign key|an account does not exist/,
  },
  'a leg of other times than its journal': {
    statements: mine(`select j.id, 1, b.debit, b.credit, b.asset, 1, '2020-01-05', j.recorded_at, j.period`),
    refusal: /times and period differ/,
  },
  'a journal that says itself when it was recorded': {
    statements: `insert into ledger_journal (posting_key, kind, event_at, period, recorded_at)
      values ('mine', 'manual', '2020-01-05', '2020-01-01', '2020-01-05')`,
    refusal: /permission denied/,
  },
  'a journal twice': {
    statements: `insert into ledger_journal (posting_key, kind, deposit_id, transfer, event_at, period)
      select posting_key, kind, deposit_id, transfer, event_at, period from ledger_journal limit 1`,
    refusal: /duplicate key/,
  },
  'a journal without transfers': { statements: journal, refusal: /has no transfers/ },
  'a journal of tomorrow': {
    statements: mine(
      'select j.id, 1, b.debit, b.credit, b.asset, 1, j.event_at, j.recorded_at, j.period',
    ).replace(
      'now(), ledger_month(now())',
      "now() + interval '1 day', ledger_month(now() + interval '1 day')",
    ),
    refusal: /15 minutes ahead/,
  },
  'a reversal that takes back less': {
    statements: `with j as (insert into ledger_journal (posting_key, kind, deposit_id, transfer, reverses, event_at, period)
        select 'mine', 'reversal', deposit_id, transfer, id, event_at, period from ledger_journal where kind = 'settlement' limit 1
        returning *)
      insert into ledger_transfer select j.id, leg, credit, debit, asset, amount, j.event_at, j.recorded_at, j.period
        from j join ledger_transfer t on journal_id = reverses where leg = 1`,
    refusal: /does not mirror/,
  },
  'a day that is closed': {
    statements: `insert into ledger_snapshot_day values ('2020-01-01', now())`,
    refusal: /permission denied/,
  },
  'a month that is closed': {
    statements: `insert into ledger_period values ('2020-01-01', 'closed')`,
    refusal: /permission denied/,
  },
}
