-- The double-entry ledger: accounts, journals and transfers. It is only ever added to.

-- An account holds one asset. The pair is the key, so that a transfer between assets cannot be written.
create table ledger_account (
  id text not null check (id ~ '^(assets|liabilities|equity|expenses|income|trading):'),
  asset text not null references asset,
  created_at timestamptz not null default now(),
  primary key (id, asset)
);

create trigger ledger_account_append_only before update or delete or truncate on ledger_account
  for each statement execute function refuse_change();

-- The state of the books of a month. A month without a row is open.
create table ledger_period (
  period date primary key check (period = date_trunc('month', period::timestamp)),
  state text not null check (state in ('open', 'soft_closed', 'closed'))
);

-- First day, in UTC, of the month of a time.
create function ledger_month(at timestamptz) returns date language sql immutable parallel safe
  return date_trunc('month', at at time zone 'UTC')::date;

-- The month in whose books an event of that time is booked: its own, or the first month after the last closed one. A
-- soft-closed month is open only to adjustments.
create function ledger_period_for(event_at timestamptz, is_adjustment boolean default false) returns date
language plpgsql stable as $$
begin
  return greatest(public.ledger_month(event_at), (
    select (max(p.period) + interval '1 month')::date from public.ledger_period p
    where p.state = 'closed' or (p.state = 'soft_closed' and not is_adjustment)
  ));
end
$$;

create table ledger_journal (
  id bigint generated always as identity primary key,
  -- What is booked, once: `deposit/{transfer}#1`, `settlement/{transfer}#1`, `reversal/…`.
  posting_key text not null unique,
  kind text not null check (kind in
    ('deposit', 'settlement', 'conversion', 'shortage', 'refund', 'write_off', 'withdrawal', 'manual', 'opening', 'reversal')),
  deposit_id bigint references deposit,
  -- The payment it concerns: `network/transaction/index`.
  transfer text,
  reverses bigint references ledger_journal,
  event_at timestamptz not null,
  recorded_at timestamptz not null default clock_timestamp(),
  period date not null,
  constraint ledger_journal_reverses_check check ((kind = 'reversal') = (reverses is not null)),
  -- A manual journal and its reversal concern no payment, and may name a deposit; a withdrawal concerns no deposit, and an
  -- opening neither.
  constraint ledger_journal_about_check check (case kind
    when 'manual' then true
    when 'opening' then num_nonnulls(deposit_id, transfer) = 0
    when 'reversal' then true
    when 'withdrawal' then transfer is not null
    else num_nulls(deposit_id, transfer) = 0 end),
  constraint ledger_journal_manual_check check (kind <> 'manual' or transfer is null),
  constraint ledger_journal_period_check
    check (period = date_trunc('month', period::timestamp) and period >= ledger_month(event_at)),
  -- A journal from evidence has the time of its evidence, however early. A date that a person chose is in the age of
  -- blockchains.
  constraint ledger_journal_event_at_check check (
    isfinite(event_at)
    and (kind not in ('manual', 'opening') or (event_at >= timestamptz '2009-01-01 00:00:00+00' and event_at < timestamptz '10000-01-01 00:00:00+00'))
  )
);

create index ledger_journal_deposit_id on ledger_journal (deposit_id);
create index ledger_journal_transfer on ledger_journal (transfer);
create index ledger_journal_event_at on ledger_journal (event_at);
create index ledger_journal_write_off on ledger_journal (deposit_id) where kind = 'write_off';
-- Few journals are late or reverse another one; these indexes cost the others nothing.
create index ledger_journal_late on ledger_journal (period)
  where period <> ledger_month(event_at);
create index ledger_journal_rare on ledger_journal (kind, id) where kind not in ('deposit', 'settlement', 'conversion');
create index ledger_journal_opening on ledger_journal (event_at) where kind = 'opening';
create unique index ledger_journal_reverses_key on ledger_journal (reverses) where reverses is not null;

create trigger ledger_journal_append_only before update or delete or truncate on ledger_journal
  for each statement execute function refuse_change();

-- The moment at which the books begin, as recorded by then; null without opening balances. What happened up to then is part
-- of these, and is not booked.
create function ledger_opened_at(recorded_as_of timestamptz default 'infinity') returns timestamptz
language sql stable return (
  select max(j.event_at) from ledger_journal j
  where j.kind = 'opening' and j.recorded_at <= recorded_as_of
    and not exists (select from ledger_journal r where r.reverses = j.id and r.recorded_at <= recorded_as_of)
);

-- A transfer names both sides and one amount, so that an unbalanced one cannot be written. Transfers are partitioned by the
-- month of recording, which therefore is in the primary key; a journal has one time of recording, so (journal_id, leg) is
-- unique all the same. The foreign keys are declared and not enforced: Postgres checks them row by row, which was a
-- quarter of the cost of booking a payment. Accounts and journals are append-only, and refuse_late_transfer checks all rows
-- of a statement at once.
create table ledger_transfer (
  journal_id bigint not null references ledger_journal not enforced,
  leg integer not null check (leg > 0),
  debit text not null,
  credit text not null check (credit <> debit),
  asset text not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- These three are copied from the journal.
  event_at timestamptz not null,
  recorded_at timestamptz not null,
  period date not null,
  primary key (journal_id, leg, recorded_at),
  foreign key (debit, asset) references ledger_account (id, asset) not enforced,
  foreign key (credit, asset) references ledger_account (id, asset) not enforced,
  -- NaN is greater than every number, and would pass as a positive amount.
  constraint ledger_transfer_amount_is_number check (amount < 'NaN')
) partition by range (recorded_at);

-- Holds transfers of a month without a partition, so that a booking is never refused for lack of one.
create table ledger_transfer_default partition of ledger_transfer default;

create index ledger_transfer_debit on ledger_transfer (debit, asset);
create index ledger_transfer_credit on ledger_transfer (credit, asset);
create index ledger_transfer_event_at on ledger_transfer (event_at);
-- Rows are stored in the order of recording, so that a small block range index is enough.
create index ledger_transfer_recorded_at on ledger_transfer using brin (recorded_at) with (autosummarize = true);

create view ledger_entry as
  select journal_id, leg, debit as account, asset, amount, event_at, recorded_at, period from ledger_transfer
  union all
  select journal_id, leg, credit, asset, -amount, event_at, recorded_at, period from ledger_transfer;

create view ledger_balance as
  select account, asset, sum(amount) as balance from ledger_entry group by account, asset;

-- The newest cut, by which snapshots and seals are made; a caller could name any other.
create table ledger_last_cut (
  is_only boolean primary key default true check (is_only),
  last_journal bigint not null,
  cut_at timestamptz not null
);

insert into ledger_last_cut (last_journal, cut_at) values (0, '-infinity');

-- A cut in the order of journals: every journal up to last_journal is written or never will be, and every later one is
-- recorded after cut_at. Writers wait until the caller commits, which it does at once. A caller that has to wait gives up
-- after two seconds, so that writers never wait longer.
create function ledger_cut(out last_journal bigint, out cut_at timestamptz)
language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '2s' as $$
begin
  lock table public.ledger_journal in share mode;
  select case when is_called then last_value else 0 end into last_journal from public.ledger_journal_id_seq;
  cut_at := clock_timestamp();
  update public.ledger_last_cut c set last_journal = ledger_cut.last_journal, cut_at = ledger_cut.cut_at;
end
$$;

-- Why people booked a journal, by whom, and who approved it: by hand, by a decision about a deposit, or with a restore of the
-- books.
create table manual_journal (
  journal_id bigint primary key references ledger_journal,
  -- Empty if it was booked without signatures, by the owner of the database.
  decision_id bigint references decision,
  reason text not null check (length(reason) between 1 and 1000),
  made_by text not null check (length(made_by) between 1 and 100),
  -- Empty if one person may decide alone, about a deposit and within a limit.
  approved_by text check (length(approved_by) between 1 and 100 and lower(approved_by) <> lower(made_by))
);

create trigger manual_journal_append_only before update or delete or truncate on manual_journal
  for each statement execute function refuse_change();
create trigger manual_journal_signed before insert on manual_journal
  for each row when (new.decision_id is null) execute function refuse_unsigned();

-- What own funds of an opening cost, as people state it: a lot for each date of acquisition. Without one, they enter at their
-- market value.
create table opening_lot (
  id bigint generated always as identity primary key,
  journal_id bigint not null references ledger_journal,
  account text not null,
  asset text not null references asset,
  acquired_at timestamptz not null,
  -- In base units.
  units numeric(78, 0) not null check (units > 0),
  -- In the smallest coins of the currency.
  cost numeric(78, 0) not null check (cost >= 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  recorded_at timestamptz not null default clock_timestamp(),
  unique (journal_id, account, asset, acquired_at),
  constraint opening_lot_is_number check (units < 'NaN' and cost < 'NaN')
);

create trigger opening_lot_append_only before update or delete or truncate on opening_lot
  for each statement execute function refuse_change();

-- Since when, and with how much, the owner of a deposit may be credited. It is recorded once the rule holds
-- (src/core/credit-safety.ts), and later mismatches do not change it. If the journal that proves it is reversed, a second row
-- withdraws it.
create table credit_safety (
  id bigint generated always as identity primary key,
  deposit_id bigint not null references deposit,
  -- Counts the rows of the deposit, so that it is never safe twice without a withdrawal in between.
  number smallint not null check (number > 0),
  action text not null check (action in ('safe', 'withdrawn')),
  -- It books the amount for the owner; of a withdrawal, the journal that ended that.
  journal_id bigint not null references ledger_journal,
  account text not null,
  asset text not null,
  amount numeric(78, 0) not null check (amount > 0 and amount < 'NaN'),
  -- The block that is final.
  height bigint,
  block_hash text,
  final_at timestamptz,
  reason text not null check (reason <> ''),
  at timestamptz not null default clock_timestamp(),
  unique (deposit_id, number),
  constraint credit_safety_in_turn check ((action = 'safe') = (number % 2 = 1)),
  constraint credit_safety_final check (num_nulls(height, block_hash, final_at) = case action when 'safe' then 0 else 3 end)
);

create index credit_safety_journal_id on credit_safety (journal_id);

create trigger credit_safety_append_only before update or delete or truncate on credit_safety
  for each statement execute function refuse_change();

-- The codes and names of accounts in other books, as the settings give them; the first pattern that fits applies. A copy of
-- the settings, replaced whenever they change.
create table account_label (
  place integer primary key,
  pattern text not null,
  code text,
  name text,
  check (num_nonnulls(code, name) > 0)
);

-- `*` stands for any text.
create function fits_pattern(account text, pattern text) returns boolean language sql immutable parallel safe
  return account like replace(regexp_replace(pattern, '([\\%_])', '\\\1', 'g'), '*', '%');

create function ledger_account_code(account text) returns text language sql stable
  return (
    select label.code from account_label label where fits_pattern(account, label.pattern) order by label.place limit 1
  );

-- The daemon replaces the labels through this function and has no right to write the table.
create function keep_account_labels(patterns text[], codes text[], names text[]) returns boolean
language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '30s' as $$
begin
  lock table public.account_label in share row exclusive mode;
  if not exists (
    select from (
      select l.place, l.pattern, l.code, l.name
      from unnest(patterns, codes, names) with ordinality as l (pattern, code, name, place)
    ) as wanted
    full join public.account_label kept using (place)
    where (wanted.pattern, wanted.code, wanted.name) is distinct from (kept.pattern, kept.code, kept.name)
  ) then
    return false;
  end if;
  delete from public.account_label;
  insert into public.account_label (place, pattern, code, name)
    select l.place, l.pattern, l.code, l.name
    from unnest(patterns, codes, names) with ordinality as l (pattern, code, name, place);
  return true;
end
$$;

create view accounting.credit_safety as
  select distinct on (c.deposit_id) c.deposit_id, d.service, d.service_id,
    c.action = 'safe' as is_safe, c.at as since, a.symbol as asset_symbol, c.asset,
    accounting.in_units(c.amount, a.decimals) as amount, c.amount as amount_base, c.account, c.reason, c.height, c.block_hash,
    c.final_at, c.journal_id
  from credit_safety c
    join deposit d on d.id = c.deposit_id and d.merged_into is null
    left join asset a on a.key = c.asset
  order by c.deposit_id, c.number desc;

comment on view accounting.credit_safety is 'One row per deposit that was ever safe to credit, as it stands now.';
comment on column accounting.credit_safety.deposit_id is 'Number of the deposit.';
comment on column accounting.credit_safety.service is 'Name of the deposit service in the settings.';
comment on column accounting.credit_safety.service_id is 'The deposit service''s id.';
comment on column accounting.credit_safety.is_safe is 'Whether the owner may be credited; false if that was withdrawn.';
comment on column accounting.credit_safety.since is 'Since when.';
comment on column accounting.credit_safety.asset_symbol is 'Label of the asset.';
comment on column accounting.credit_safety.asset is 'Asset paid.';
comment on column accounting.credit_safety.amount is 'Amount booked for the payment, before fees and conversion, in units of the asset.';
comment on column accounting.credit_safety.amount_base is 'The same amount, in base units.';
comment on column accounting.credit_safety.account is 'Account that holds it.';
comment on column accounting.credit_safety.reason is 'What agreed, or why it was withdrawn.';
comment on column accounting.credit_safety.height is 'Block of the payment; empty if it was withdrawn.';
comment on column accounting.credit_safety.block_hash is 'Hash of that block.';
comment on column accounting.credit_safety.final_at is 'When that block was read as final.';
comment on column accounting.credit_safety.journal_id is 'The journal that proves it; of a withdrawal, the one that ended it.';
