-- What people book by hand: why, by whom, and who agreed. It is about no deposit, so that nothing that is decided about
-- deposits takes it back.
create table manual_journal (
  journal_id bigint primary key references ledger_journal,
  reason text not null check (length(reason) between 1 and 1000),
  made_by text not null check (length(made_by) between 1 and 100),
  approved_by text not null check (length(approved_by) between 1 and 100 and lower(approved_by) <> lower(made_by))
);

create trigger manual_journal_append_only before update or delete or truncate on manual_journal
  for each statement execute function refuse_change();
grant select, insert on manual_journal to depositd_daemon;

alter table ledger_journal add constraint ledger_journal_manual_check
  check (kind <> 'manual' or num_nonnulls(deposit_id, transfer) = 0);

-- No journal by hand without two people and a reason; by hand is taken back only what was booked by hand; and what takes
-- a journal back is about the same payment and deposit.
create function check_manual_journal() returns trigger language plpgsql as $$
declare
  original constant public.ledger_journal := (select j from public.ledger_journal j where j.id = new.reverses);
begin
  if (new.kind = 'manual' or coalesce(original.kind = 'manual', false))
    <> exists (select from public.manual_journal where journal_id = new.id)
  then
    raise exception 'journal %: what is booked by hand, and nothing else, has a reason and two people', new.id;
  end if;
  if new.kind = 'reversal' and (new.deposit_id, new.transfer) is distinct from (original.deposit_id, original.transfer) then
    raise exception 'journal % is about something else than journal %, which it takes back', new.id, new.reverses;
  end if;
  return null;
end
$$;

create constraint trigger ledger_journal_by_hand after insert on ledger_journal
  deferrable initially deferred for each row when (new.kind in ('manual', 'reversal'))
  execute function check_manual_journal();

-- A reason is written with its journal, never to one that stands.
create function check_manual_reason() returns trigger language plpgsql as $$
begin
  if exists (
    select from added join public.ledger_journal journal on journal.id = added.journal_id
    where journal.kind not in ('manual', 'reversal') or journal.xmin <> pg_current_xact_id()::xid
  ) then
    raise exception 'manual_journal: the journal is not booked by hand, or was booked before';
  end if;
  return null;
end
$$;

create trigger manual_journal_about after insert on manual_journal
  referencing new table as added for each statement execute function check_manual_reason();

-- How accounts are called in other books, as the settings say; the first that fits an account holds. A copy of the
-- settings and no record: it is written anew whenever they change.
create table account_label (
  place integer primary key,
  pattern text not null,
  code text,
  name text,
  check (num_nonnulls(code, name) > 0)
);
grant select on account_label to depositd_daemon;

-- In a pattern, * stands for any text.
create function fits_pattern(account text, pattern text) returns boolean language sql immutable parallel safe
  return account like replace(regexp_replace(pattern, '([\\%_])', '\\\1', 'g'), '*', '%');

create or replace function ledger_account_code(account text) returns text language sql stable
  return (
    select label.code from account_label label where fits_pattern(account, label.pattern) order by label.place limit 1
  );

create view accounting.accounts as
  select a.id as account, split_part(a.id, ':', 1) as class,
    case when a.id = 'equity:conversion' then 'none'
      when split_part(a.id, ':', 1) in ('assets', 'expenses') then 'debit' else 'credit' end as normal,
    l.code, l.name
  from (select distinct id from ledger_account) a
    left join lateral (
      select code, name from account_label where fits_pattern(a.id, pattern) order by place limit 1
    ) l on true;

comment on view accounting.accounts is 'One row per account of the books, with the code and the name that the settings give it.';
comment on column accounting.accounts.account is 'Account, for example assets:in_transit:base.';
comment on column accounting.accounts.class is 'assets, liabilities, equity, income or expenses.';
comment on column accounting.accounts.normal is 'The side on which its balance usually is: debit or credit; none for equity:conversion.';
comment on column accounting.accounts.code is 'Code of the account in other books, where the settings give one.';
comment on column accounting.accounts.name is 'Name of the account in other books, where the settings give one.';

create view accounting.manual_journals as
  select j.id as journal_id, j.posting_key, j.kind, m.reason, m.made_by, m.approved_by, j.reverses,
    r.id as reversed_by, j.event_at, j.recorded_at, j.period
  from manual_journal m
    join ledger_journal j on j.id = m.journal_id
    left join ledger_journal r on r.reverses = j.id;

comment on view accounting.manual_journals is 'One row per journal that people booked by hand, and per reversal of one.';
comment on column accounting.manual_journals.journal_id is 'Number of the journal.';
comment on column accounting.manual_journals.posting_key is 'What was booked: manual/ and its reference. Unique, so that nothing is booked twice.';
comment on column accounting.manual_journals.kind is 'manual or reversal.';
comment on column accounting.manual_journals.reason is 'Why it was booked.';
comment on column accounting.manual_journals.made_by is 'Who booked it.';
comment on column accounting.manual_journals.approved_by is 'Who agreed; never the same as who booked it.';
comment on column accounting.manual_journals.reverses is 'The journal that this one takes back.';
comment on column accounting.manual_journals.reversed_by is 'The journal that takes this one back.';
comment on column accounting.manual_journals.event_at is 'The date that it is booked for.';
comment on column accounting.manual_journals.recorded_at is 'When it was written.';
comment on column accounting.manual_journals.period is 'First day of the month in whose books it stands.';

grant select on accounting.accounts, accounting.manual_journals to depositd_accountant, depositd_daemon;
