-- An account holds one asset: the pair is the key, so a transfer between assets cannot be written.
create table ledger_account (
  id text not null check (id ~ '^(assets|liabilities|equity|expenses|income):'),
  asset text not null references asset,
  created_at timestamptz not null default now(),
  primary key (id, asset)
);

create table ledger_journal (
  id bigint generated always as identity primary key,
  -- What is booked, once and for all: `deposit/{transfer}#1`, `settlement/{transfer}#1`, `reversal/…`.
  posting_key text not null unique,
  kind text not null check (kind in ('deposit', 'settlement', 'reversal')),
  deposit_id bigint not null references deposit,
  -- The payment it is about: `network/transaction/index`.
  transfer text not null,
  reverses bigint unique references ledger_journal,
  event_at timestamptz not null,
  recorded_at timestamptz not null default now(),
  check ((kind = 'reversal') = (reverses is not null))
);

create index ledger_journal_deposit_id on ledger_journal (deposit_id);
create index ledger_journal_transfer on ledger_journal (transfer);
create index ledger_journal_event_at on ledger_journal (event_at);

-- A transfer names both sides and one amount, so an unbalanced one cannot be written.
create table ledger_transfer (
  journal_id bigint not null references ledger_journal,
  leg smallint not null check (leg > 0),
  debit text not null,
  credit text not null check (credit <> debit),
  asset text not null,
  amount numeric(78, 0) not null check (amount > 0),
  primary key (journal_id, leg),
  foreign key (debit, asset) references ledger_account (id, asset),
  foreign key (credit, asset) references ledger_account (id, asset)
);

create index ledger_transfer_debit on ledger_transfer (debit, asset);
create index ledger_transfer_credit on ledger_transfer (credit, asset);

create view ledger_entry as
  select journal_id, leg, debit as account, asset, amount from ledger_transfer
  union all
  select journal_id, leg, credit, asset, -amount from ledger_transfer;

create view ledger_balance as
  select account, asset, sum(amount) as balance from ledger_entry group by account, asset;

-- A reversal mirrors what it reverses: same legs, same amounts, sides swapped; and it is not reversed itself.
create function check_reversal() returns trigger language plpgsql as $$
begin
  if new.reverses is null then
    return null;
  end if;
  if exists (select 1 from ledger_journal where id = new.reverses and kind = 'reversal') then
    raise exception 'journal % is a reversal and cannot be reversed', new.reverses;
  end if;
  if exists (
    (select leg, debit, credit, asset, amount from ledger_transfer where journal_id = new.reverses
      except select leg, credit, debit, asset, amount from ledger_transfer where journal_id = new.id)
    union all
    (select leg, credit, debit, asset, amount from ledger_transfer where journal_id = new.id
      except select leg, debit, credit, asset, amount from ledger_transfer where journal_id = new.reverses)
  ) then
    raise exception 'journal % does not mirror journal %, which it reverses', new.id, new.reverses;
  end if;
  return null;
end
$$;

create constraint trigger ledger_journal_reversal after insert on ledger_journal
  deferrable initially deferred for each row when (new.reverses is not null) execute function check_reversal();

create trigger ledger_account_append_only before update or delete or truncate on ledger_account
  for each statement execute function refuse_change();
create trigger ledger_journal_append_only before update or delete or truncate on ledger_journal
  for each statement execute function refuse_change();
create trigger ledger_transfer_append_only before update or delete or truncate on ledger_transfer
  for each statement execute function refuse_change();

-- A journal is whole when its transaction commits: nobody adds a leg to it later.
create function refuse_late_transfer() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from added join ledger_journal journal on journal.id = added.journal_id
    where journal.xmin <> pg_current_xact_id()::xid
  ) then
    raise exception 'ledger_transfer: the journal is already booked; post a new one';
  end if;
  return null;
end
$$;

create trigger ledger_transfer_late after insert on ledger_transfer
  referencing new table as added for each statement execute function refuse_late_transfer();
