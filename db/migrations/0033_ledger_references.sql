-- A foreign key is looked up for every row by itself, and locks the row that it finds: of all that booking a payment
-- costs the server, the three of a transfer were a quarter. Accounts and journals are append-only, so what was there when
-- a transfer was written stays there; and a transfer is written by one statement, which can be asked once about all of
-- its rows. What the keys held is held by the trigger that looks at the journals anyway; the keys stay as a declaration,
-- for whoever reads the schema.
create or replace function refuse_late_transfer() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  is_unknown boolean;
  is_late boolean;
  is_other boolean;
  takes_back boolean;
begin
  -- By its key, one by one: a plan is kept for long, and one that read all journals would be kept while they grow.
  select bool_or(journal.id is null), bool_or(journal.xmin <> pg_current_xact_id()::xid),
    bool_or(added.event_at <> journal.event_at or added.recorded_at <> journal.recorded_at
      or added.period <> journal.period),
    bool_or(journal.reverses is not null)
  into is_unknown, is_late, is_other, takes_back
  from added left join lateral (
    select j.id, j.xmin, j.event_at, j.recorded_at, j.period, j.reverses
    from public.ledger_journal j where j.id = added.journal_id limit 1
  ) as journal on true;
  if is_unknown then
    raise exception 'ledger_transfer: there is no such journal, which its foreign key says'
      using errcode = 'foreign_key_violation', constraint = 'ledger_transfer_journal_id_fkey1';
  elsif is_late then
    raise exception 'ledger_transfer: the journal is already booked; post a new one';
  elsif is_other then
    raise exception 'ledger_transfer: times and period are not those of the journal';
  elsif exists (
    select from (select debit as id, asset from added union select credit, asset from added) as side
    where not exists (
      select from public.ledger_account a where a.id = side.id and a.asset = side.asset
    )
  ) then
    raise exception 'ledger_transfer: there is no such account of that asset, which its foreign keys say'
      using errcode = 'foreign_key_violation', constraint = 'ledger_transfer_debit_asset_fkey1';
  elsif takes_back and exists (
    select from added
      join public.ledger_journal journal on journal.id = added.journal_id
      join public.ledger_journal original on original.id = journal.reverses
    where not exists (
      select from public.ledger_transfer t
      where t.journal_id = original.id and t.recorded_at = original.recorded_at and t.leg = added.leg
        and (t.debit, t.credit, t.asset, t.amount) = (added.credit, added.debit, added.asset, added.amount)
    )
  ) then
    raise exception 'ledger_transfer: a leg does not mirror one of the journal that its journal takes back';
  end if;
  return null;
end
$$;

alter table ledger_transfer
  alter constraint ledger_transfer_journal_id_fkey1 not enforced,
  alter constraint ledger_transfer_debit_asset_fkey1 not enforced,
  alter constraint ledger_transfer_credit_asset_fkey1 not enforced;

-- Few journals take another back; the index holds no others, and costs the others nothing.
alter table ledger_journal drop constraint ledger_journal_reverses_key;
create unique index ledger_journal_reverses_key on ledger_journal (reverses) where reverses is not null;
