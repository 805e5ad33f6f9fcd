import { type Invariant, ofSeals, questions } from './hold.ts'

/** A contradiction that is put into healthy books, and the question that must find it. */
export type Plant = { invariant: Invariant; question: string; statements: readonly string[] }

const some = (kind: string) => `(select min(id) from ledger_journal where kind = '${kind}')`
const copyOfJournal = (kind: string, changes: string) => `
  insert into ledger_journal overriding system value
  select (jsonb_populate_record(journal, jsonb_build_object('id', 900001, 'posting_key', 'planted') || ${changes})).*
  from ledger_journal as journal where id = ${some(kind)}`
const copyOfTransfers = (kind: string) => `
  insert into ledger_transfer
  select (jsonb_populate_record(one, jsonb_build_object('journal_id', 900001))).*
  from ledger_transfer as one where journal_id = ${some(kind)}`
const unlock = (table: string, constraint: string) =>
  `alter table ${table} drop constraint ${constraint} cascade`
const closed = `
  insert into ledger_period_event (period, action, actor, last_journal, cut_at, sha256)
  values (date_trunc('month', now()), 'closed', 'anna', 1, now(), repeat('0', 64))`

/** By the beginnings of the questions, each with what contradicts it. */
const planted: Readonly<Record<Invariant, Readonly<Record<string, readonly string[]>>>> = {
  I1: {
    'every webhook that was answered': [
      `delete from inbox where id = (
        select id from inbox where source = 'webhook' and source_key in (select id from hold.answered) limit 1)`,
    ],
    'nothing that came in still waits': [
      'insert into inbox_pending (inbox_id, received_at) select min(id), now() from inbox',
    ],
    'what repeats or contradicts': [
      `insert into webhook_repeat values (999999, 1, now(), now(), array[now()])`,
    ],
    'every event has its number': [`insert into event_pending (type, data) values ('seal.published', '{}')`],
    'each change of a deposit': [`insert into hold.changed values ('deposit/1', 'deposit.reversed')`],
    'every deposit that is safe to credit': [`delete from event where type = 'deposit.credit_safe'`],
  },
  I2: {
    'of each leg of a payment': [copyOfJournal('deposit', `'{}'`), copyOfTransfers('deposit')],
    'no posting key was used twice': [
      unlock('ledger_journal', 'ledger_journal_posting_key_key'),
      `update ledger_journal set posting_key = 'the same'`,
    ],
    'a reversal takes back one journal': [
      copyOfJournal('deposit', `'{"kind": "reversal", "reverses": 900002}'`),
    ],
    'a reversal is the mirror': [
      copyOfJournal('deposit', `jsonb_build_object('kind', 'reversal', 'reverses', journal.id)`),
      copyOfTransfers('deposit'),
    ],
    'of the payments of one transaction': [
      copyOfJournal('deposit', `jsonb_build_object('transfer', journal.transfer || '0')`),
      copyOfTransfers('deposit'),
    ],
    'no more is booked as delivered': [
      `update ledger_transfer set amount = amount * 1000 where debit like 'assets:forwarded:%'`,
    ],
    'events are numbered without a gap': ['delete from event where sequence = 2'],
  },
  I3: {
    'every row moves more than nothing': [`delete from ledger_account where id like 'assets:in_transit:%'`],
    'every row is of a journal': [`delete from ledger_transfer where journal_id = ${some('deposit')}`],
    'entries sum to zero': [
      `create or replace view ledger_entry as
        select journal_id, leg, debit as account, asset, amount, event_at, recorded_at, period from ledger_transfer
        union all
        select journal_id, leg, credit, asset, 1 - amount, event_at, recorded_at, period from ledger_transfer`,
    ],
    'balances are the sums': [
      `create or replace view ledger_balance as
        select account, asset, sum(amount) + 1 as balance from ledger_entry group by account, asset`,
    ],
    'the trial balance is the sum': [
      `create or replace function ledger_turnover(as_of timestamptz, recorded_as_of timestamptz, only_accounts text[] default null)
        returns table (account text, asset text, debit numeric, credit numeric) language sql stable security definer
        as $$ select debit, asset, amount, 0 from public.ledger_transfer $$`,
    ],
    'snapshots are the sums': [
      `insert into ledger_snapshot_day values ((now() at time zone 'UTC')::date, now(), now())`,
    ],
    'the balances of a closed month': [closed],
  },
  I4: {
    'no row of what is only added to': [
      `delete from ledger_snapshot_day`,
      `update ledger_journal set event_at = event_at + interval '1 second' where id = ${some('deposit')}`,
    ],
    'nothing stands in the books of before': [
      `update seal set after_id = last_id - 1 where after_id is null and sealed_table = 'ledger_journal'`,
    ],
  },
  I5: {
    'every height up to the cursor': ['delete from chain_coverage'],
    'every block that is remembered is of': [
      `update stream set cursor = jsonb_set(cursor, '{final,hash}', '"0x00"') where name like 'scan/%'`,
    ],
    'each block that is remembered links': [
      `update hold.block set parent_hash = '0x00' where height = (select max(height) from hold.block where network = 'base')`,
    ],
    'no cursor is beyond': ['update hold.network set final = 0'],
  },
  I6: {
    'what came in is evidence': ['delete from evidence'],
    'what is evidence does not wait': [
      'insert into inbox_pending (inbox_id, received_at) select min(inbox_id), now() from evidence',
    ],
    'evidence is of a deposit': ['delete from deposit', 'delete from mismatch'],
    'a deposit that is not at its end': [`update deposit set state = 'settling'`, 'delete from mismatch'],
    'what was reversed, passed over': [`update deposit set state = 'orphaned'`],
    'of a deposit that is reconciled': [
      `delete from ledger_transfer where journal_id = ${some('settlement')}`,
    ],
    'every payment that is final': [
      `delete from deposit where transfer = (select min(transfer) from hold.final_payment)`,
    ],
    'the sums that were paid': [`update deposit set amount = amount + 1`],
  },
  I8: {
    'what stands as paid is final': ['update hold.network set final = 1'],
    'what is final and was read': [
      `delete from ledger_journal where kind = 'deposit'`,
      "update deposit set state = 'reconciled'",
    ],
    'what was ever safe to credit': ['update hold.network set final = 1'],
    'what is safe to credit rests': [`delete from ledger_journal where kind = 'deposit'`],
    'a delivery or a refund': [`delete from ledger_journal where kind = 'deposit'`],
    'what was seen and is not of the chain': [`update chain_transfer set stage = 'orphaned'`],
    'no deposit is taken back': [`update deposit set state = 'orphaned'`],
  },
}

const ofQuestions = Object.entries(planted).flatMap(([invariant, own]) =>
  Object.entries(own).map(([beginning, statements]): Plant => {
    const asked = Object.keys(questions[invariant as Invariant])
    const question = asked.find((one) => one.startsWith(beginning)) ?? beginning
    return { invariant: invariant as Invariant, question, statements }
  }),
)

export const plants: readonly Plant[] = [
  ...ofQuestions,
  ...[
    `update ledger_transfer set amount = amount + 1 where journal_id = ${some('deposit')}`,
    `delete from ledger_journal where id = ${some('deposit')}`,
    `update checkpoint set root = decode(repeat('11', 32), 'hex')`,
    `update seal set hashes = set_byte(hashes, 0, (get_byte(hashes, 0) + 1) % 256) where number = 1`,
    `update seal set number = 900 where number = 2`,
  ].map((statement): Plant => ({ invariant: 'I4', question: ofSeals, statements: [statement] })),
]
