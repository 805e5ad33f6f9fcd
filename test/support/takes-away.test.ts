import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase } from './postgres.ts'
import { takesAway } from './takes-away.ts'

const ground = `
  create schema accounting;
  create domain cents as bigint;
  create type mood as enum ('calm');
  create sequence numbers;
  create table stream (name text primary key, cursor jsonb);
  create table deposit (
    id bigint generated always as identity primary key, stream text references stream,
    state text not null default 'new', amount bigint default 0, tx text, paid cents, unique (stream, tx)
  );
  create view accounting.deposits as select id, state from deposit;
  create function days(since date) returns integer language sql return current_date - since;
  create function refuse() returns trigger language plpgsql as 'begin return null; end';
  create function let_pass() returns trigger language plpgsql as 'begin return new; end';
  create trigger guard before update on stream for each row execute function let_pass();
  create policy all_rows on stream;
  create rule noted as on insert to deposit do also select 1;
  grant usage on schema accounting to depositd_accountant;
  grant usage on sequence numbers to depositd_daemon;
  alter default privileges grant select on sequences to depositd_accountant;
  grant select on accounting.deposits to depositd_accountant;
  grant select, insert on deposit to depositd_daemon;
  grant select, delete on stream to depositd_daemon;
`

const taken: readonly (readonly [statement: string, reported: string])[] = [
  ['drop table deposit cascade', 'no longer: table'],
  ['drop view accounting.deposits', 'no longer: view accounting.deposits'],
  ['drop function days', 'no longer: function public.days(since date)'],
  ['drop sequence numbers', 'no longer: sequence'],
  ['drop schema accounting cascade', 'no longer: schema accounting'],
  ['drop owned by depositd_daemon', 'no longer: depositd_daemon may insert public.deposit.state'],
  ['drop trigger guard on stream', 'no longer: trigger on public.stream'],
  ['do $$ begin drop table deposit cascade; end $$', 'no longer: column public.deposit.state'],
  [
    'drop table deposit cascade; create table deposit (like stream)',
    'no longer: column public.deposit.state',
  ],
  [
    'create table copy (like stream including all); drop table stream cascade; alter table copy rename to stream',
    'no longer: table',
  ],
  [
    'drop view accounting.deposits; create view accounting.deposits as select id from deposit',
    'no longer: column accounting.deposits.state',
  ],
  [
    'drop view accounting.deposits; create view accounting.deposits as select id, 1 as state from deposit',
    'no longer: column accounting.deposits.state',
  ],
  [
    'drop view accounting.deposits; create view accounting.deposits as select id, state from deposit',
    'no longer: depositd_accountant may select accounting.deposits.state',
  ],
  [
    'drop function days; create function days(since date, until date) returns integer language sql return until - since',
    'no longer: function public.days(since date)',
  ],
  [
    'drop function days; create function days(from_on date) returns integer language sql return 1',
    'no longer: function public.days(since date)',
  ],
  [
    'create function days(since date, until date default current_date) returns integer language sql return until - since',
    'asked from now on: another public.days(since date, until date DEFAULT CURRENT_DATE)',
  ],
  ['revoke execute on function days from public', 'no longer: everybody may execute public.days'],
  ['alter table deposit drop column state cascade', 'no longer: column public.deposit.state'],
  ['alter table deposit rename column amount to cents', 'no longer: column public.deposit.amount'],
  ['ALTER TABLE deposit\n  RENAME TO payment', 'no longer: table'],
  ['alter table deposit set schema accounting', 'no longer: table'],
  [
    'alter table deposit alter amount set data type numeric',
    'no longer: column public.deposit.amount: bigint',
  ],
  ['alter table deposit alter amount drop default', 'no longer: column public.deposit.amount'],
  ['alter table deposit alter tx set default 5', 'no longer: column public.deposit.tx'],
  ['alter table deposit alter column tx set not null', 'asked from now on: a value in public.deposit.tx'],
  ['alter table deposit add column kind text not null', 'asked from now on: a value in public.deposit.kind'],
  [
    'alter table deposit add column kind text unique',
    'asked from now on: unique on public.deposit USING btree (kind)',
  ],
  [
    "alter table deposit add column kind text default 'x' references stream check (kind > '')",
    "asked from now on: CHECK ((kind > ''::text)) on public.deposit",
  ],
  [
    'alter table deposit add constraint one check (amount > 5) not valid',
    'asked from now on: CHECK ((amount > 5)) NOT VALID',
  ],
  ['alter table deposit add foreign key (tx) references stream', 'asked from now on: FOREIGN KEY (tx)'],
  [
    'create table remark (of text references stream)',
    'asked from now on: rows of public.stream are kept for',
  ],
  [
    'create unique index if not exists one on deposit (tx)',
    'asked from now on: unique on public.deposit USING btree (tx)',
  ],
  [
    'alter table deposit drop constraint deposit_stream_tx_key',
    'no longer: unique on public.deposit USING btree (stream, tx)',
  ],
  [
    'create trigger no before insert on deposit for each row execute function refuse()',
    'asked from now on: trigger on public.deposit',
  ],
  [
    "create or replace function let_pass() returns trigger language plpgsql as 'begin return null; end'",
    'asked from now on: trigger on public.stream',
  ],
  ['create rule no as on insert to deposit do instead nothing', 'asked from now on: rule on public.deposit'],
  ['alter table deposit enable row level security', 'asked from now on: row security of public.deposit'],
  [
    'alter domain cents add constraint one check (value > 0)',
    'asked from now on: CHECK ((VALUE > 0)) on public.cents',
  ],
  [
    'revoke insert on deposit from depositd_daemon',
    'no longer: depositd_daemon may insert public.deposit.state',
  ],
  [
    'revoke insert on deposit from depositd_daemon; grant insert (tx) on deposit to depositd_daemon',
    'no longer: depositd_daemon may insert public.deposit.state',
  ],
  ['revoke usage on schema accounting from depositd_accountant', 'no longer: depositd_accountant may usage'],
  ['revoke delete on stream from depositd_daemon', 'no longer: depositd_daemon may delete public.stream'],
  ['revoke usage on sequence numbers from depositd_daemon', 'no longer: depositd_daemon may usage'],
  ['revoke usage on domain cents from public', 'no longer: everybody may use public.cents'],
  [
    'alter default privileges revoke select on sequences from depositd_accountant',
    'no longer: depositd_accountant may',
  ],
  ['alter sequence numbers increment 2', 'no longer: sequence numbers'],
  ["alter type mood rename value 'calm' to 'glad'", "no longer: value 'calm' of public.mood"],
  ['alter domain cents set default 5', 'no longer: type public.cents'],
  ['alter domain cents set not null', 'asked from now on: NOT NULL on public.cents'],
  ['drop policy all_rows on stream', 'no longer: policy on public.stream'],
  ['drop rule noted on deposit', 'no longer: rule on public.deposit'],
  [
    'create policy no_rows on stream as restrictive using (false)',
    'asked from now on: policy on public.stream',
  ],
  [
    'create rule one as on delete to stream do also select 1; alter view accounting.deposits set (security_invoker)',
    'no longer: view accounting.deposits',
  ],
  ['alter table deposit owner to depositd_daemon', 'no longer: table'],
  ['drop extension plpgsql cascade', 'no longer: extension plpgsql'],
  [
    "create function every() returns event_trigger language plpgsql as 'begin end'; create event trigger every on ddl_command_start execute function every()",
    'asked from now on: event trigger every',
  ],
  [
    "do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$",
    'asked from now on: setting of',
  ],
  ['delete from stream', 'delete in public.stream'],
  ["do $$ begin execute 'del' || 'ete from stream where false'; end $$", 'delete in public.stream'],
  ['truncate deposit', 'truncate in public.deposit'],
  ["update deposit set state = 'old'", 'update in public.deposit'],
  ['merge into stream using deposit on name = stream when matched then delete', 'delete in public.stream'],
]

const left: readonly string[] = [
  'create table fresh (id bigint check (id > 0)); create unique index on fresh (id); alter table fresh enable row level security',
  'create table fresh (id bigint not null); create trigger no before insert on fresh for each row execute function refuse()',
  'create table fresh (id bigint); insert into fresh values (1); delete from fresh; drop table fresh',
  "insert into stream values ('more')",
  'alter table deposit add column note text; update deposit set note = tx',
  "alter table deposit add column kind text not null default 'x'",
  'alter table deposit alter column state drop not null',
  'alter table deposit drop constraint deposit_stream_fkey',
  'create index fast on deposit (tx)',
  "alter type mood add value 'glad'",
  'create or replace view accounting.deposits as select id, state, tx from deposit',
  `drop view accounting.deposits; create view accounting.deposits as select state, id from deposit where id > 0;
   grant select on accounting.deposits to depositd_accountant`,
  'create or replace function days(since date) returns integer language sql return 7',
  'drop function days; create function days(since date) returns integer language sql return 7',
  'create function f() returns void language plpgsql as $$ begin drop table deposit; end $$',
  'create table remark (of bigint references deposit)',
  "comment on table deposit is 'drop table deposit; alter table deposit rename to x'",
  'grant update on deposit to depositd_daemon; revoke update on deposit from depositd_daemon',
]

const stack = new AsyncDisposableStack()
let client: Client
beforeAll(async () => {
  const { url, drop } = await emptyDatabase()
  stack.defer(drop)
  client = new Client({ connectionString: url })
  await client.connect()
  stack.defer(() => client.end())
  await client.query(ground)
})
afterAll(() => stack.disposeAsync())

test.each(taken)('what takes something away is told: %s', async (statement, reported) => {
  expect(await takesAway(client, `-- A reason.\nselect 1;\n${statement};`)).toContainEqual(
    expect.stringContaining(reported),
  )
})

test.each(left)('what does not is let pass: %s', async (statements) => {
  expect(await takesAway(client, statements)).toEqual([])
})

test('what cannot be applied with all others in one transaction is refused', async () => {
  const migration = 'create unique index concurrently if not exists one on deposit (tx)'
  await expect(takesAway(client, migration)).rejects.toThrow('cannot run inside a transaction block')
  await expect(takesAway(client, `select 1; ${migration}`)).rejects.toThrow('cannot')
})

test('nothing of what was tried is left', async () => {
  const { rows } = await client.query(
    `select count(*)::int as tables from pg_tables where schemaname = 'public'`,
  )
  expect(rows).toEqual([{ tables: 2 }])
})
