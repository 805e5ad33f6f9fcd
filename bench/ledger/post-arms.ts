import { type Kysely, sql } from 'kysely'
import type { Journal } from '../../src/core/posting.ts'
import { inTransaction } from '../../src/store/database.ts'
import { bookJournals } from '../../src/store/ledger/journals.ts'
import type { Tables } from '../../src/store/tables.ts'

/** How journals are posted in B5. */
export const arms = {
  ours: 'depositd: 500 journals in a transaction, as applying books them, with every key, foreign key and trigger',
  unchecked:
    'the same rows by the same statement into tables without keys, foreign keys, triggers or indexes',
  single: 'depositd: each journal in a transaction of its own, 32 clients',
  running:
    'entries with running balances on account rows, the shape of pgledger, in short SQL of our own: 2 accounts, 32 clients',
} as const

export type Arm = keyof typeof arms
export const armNames = Object.keys(arms) as Arm[]

const clients = 32
const batch = 500

/** Posts all of them, each arm into tables of its own. */
export const post: Record<Arm, (db: Kysely<Tables>, journals: readonly Journal[]) => Promise<void>> = {
  ours: async (db, journals) => {
    for (let from = 0; from < journals.length; from += batch)
      await inTransaction(db, (tx) => bookJournals(tx, journals.slice(from, from + batch)))
  },
  unchecked: async (db, journals) => {
    await db.connection().execute(async (one) => {
      // The tables of that schema are found first, under the names that booking writes to.
      await sql`set search_path to unchecked, public`.execute(one)
      await post.ours(one, journals)
      await sql`reset search_path`.execute(one)
    })
  },
  single: (db, journals) =>
    byClients(journals, (journal) => inTransaction(db, (tx) => bookJournals(tx, [journal]))),
  running: (db, journals) =>
    byClients(journals, async ({ transfers: [transfer] }) => {
      await sql`select running.post('in transit', 'deposits', ${transfer?.amount.toString()}::numeric)`.execute(
        db,
      )
    }),
}

/** Makes the tables of the other arms. */
export async function makeOtherTables(db: Kysely<Tables>): Promise<void> {
  await sql
    .raw(`
    create schema unchecked;
    create table unchecked.ledger_journal (like ledger_journal including defaults including identity);
    create table unchecked.ledger_transfer (like ledger_transfer including defaults);
    grant usage on schema unchecked to depositd_daemon;
    grant select, insert on all tables in schema unchecked to depositd_daemon;

    create schema running;
    create table running.account (name text primary key, balance numeric not null default 0, version bigint not null default 0);
    insert into running.account (name) values ('in transit'), ('deposits');
    create table running.transfer (
      id bigint generated always as identity primary key, debit text not null references running.account,
      credit text not null references running.account, amount numeric not null check (amount > 0),
      at timestamptz not null default now());
    create table running.entry (
      id bigint generated always as identity primary key, account text not null references running.account,
      transfer_id bigint not null references running.transfer, amount numeric not null,
      balance_before numeric not null, balance_after numeric not null, version bigint not null);
    create index on running.entry (account, version);
    create index on running.entry (transfer_id);
    create function running.post(debited text, credited text, amount numeric) returns void language plpgsql as $$
    declare
      made bigint;
    begin
      -- In order, so that two which post the other way round do not wait for each other.
      perform from running.account where name in (debited, credited) order by name for update;
      insert into running.transfer (debit, credit, amount) values (debited, credited, amount) returning id into made;
      with side (name, change) as (values (debited, amount), (credited, -amount)), moved as (
        update running.account a set balance = balance + change, version = version + 1 from side
        where a.name = side.name returning a.name, change, balance, version
      )
      insert into running.entry (account, transfer_id, amount, balance_before, balance_after, version)
      select name, made, change, balance - change, balance, version from moved;
    end
    $$;
    grant usage on schema running to depositd_daemon;
    grant select, insert, update on all tables in schema running to depositd_daemon;`)
    .execute(db)
}

/** Every client takes the next one once it is done with its own. */
async function byClients<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const rest = items.values()
  const client = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: clients }, client))
}
